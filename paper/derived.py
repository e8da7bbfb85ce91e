"""Tables that are computed from the committed ones: shares and errors that a page writes into one cell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paper.tables import Cell, Row, Table, TableError

GOOD = frozenset({"settles", "returns", "cycles"})


def with_derived(tables: Mapping[str, Table]) -> dict[str, Table]:
    """All tables, and those that follow from them."""
    return {**tables, "settling_shares": settling_shares(tables["settling"]), "align_errors": align_errors(tables)}


def _cell(value: float) -> Cell:
    return Cell(f"{value:g}", round(value, 6))


def settling_shares(table: Table) -> Table:
    """chain, truth, rounds, and the share (%) of right verdicts, of `settles`, of `drifts` and of `too early`."""
    rows: list[Row] = []
    for row in table.rows:
        for column in table.columns[2:]:
            shares = {found[1]: float(found[2]) for found in re.finditer(r"([a-z ]+?) (\d+)%(?:, )?", row[column].text)}
            if not shares or abs(sum(shares.values()) - 100) > 2:
                raise TableError(f"{table.name}: '{row[column].text}' is not a list of shares")
            rows.append(
                {
                    **{"chain": row["chain"], "truth": row["truth"], "rounds": _cell(float(column[1:]))},
                    "right": _cell(shares.get(row["truth"].text, 0.0)),
                    **{
                        name.replace(" ", "_"): _cell(shares.get(name, 0.0))
                        for name in ("settles", "drifts", "too early")
                    },
                }
            )
    return Table(
        "settling_shares",
        table.page,
        ("chain", "truth", "rounds", "right", "settles", "drifts", "too_early"),
        tuple(rows),
    )


def align_errors(tables: Mapping[str, Table]) -> Table:
    """change, degradation, round, and how far the two rules are from the true SSIM; `crop`: 1 where a step crops."""
    table = tables["alignment"]
    rows: list[Row] = []
    for row in table.rows:
        for column in ("round1", "round10"):
            true, auto, fit = (float(part) for part in row[column].text.split(","))
            crop = row["change"].text.startswith("crops")
            rows.append(
                {
                    **{"change": row["change"], "degradation": row["degradation"], "round": _cell(float(column[5:]))},
                    **{"crop": _cell(float(crop)), "auto": _cell(abs(auto - true)), "fit": _cell(abs(fit - true))},
                }
            )
    return Table("align_errors", table.page, ("change", "degradation", "round", "crop", "auto", "fit"), tuple(rows))
