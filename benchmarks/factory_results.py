"""The tables of a factory run for the results page.

    cbench run studies/factory-embedded.toml --run runs/factory-embedded
    python -m benchmarks.factory_results runs/factory-embedded --into docs/results/factory.md

Reads the tables that `cbench report` writes. With `--into`, they replace what stands between the page's marks. Where
the editor tells the fault that it made (`sim-studio-clumsy` does), the judge's verdicts are counted by fault.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.marks import put_into
from convergebench.edits.taxonomy import taxonomy
from convergebench.store.frames import RunFrames

THRESHOLDS = ("0.5", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A share with its interval; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.0%}" + ("" if low is None or high is None else f" ({low:.0%}–{high:.0%})")


def funnel(tables: Path) -> str:
    """How many get through each stage."""
    rows = pl.read_parquet(tables / "funnel.parquet")
    return table(
        ("", "stage", "n", "share", ""),
        [
            (row["track"], row["stage"], row["n"], "" if row["aside"] else percent(row["share"]), row["what"])
            for row in rows.iter_rows(named=True)
        ],
    )


def success(tables: Path) -> str:
    """By category, then by type where the paper has a rate: per edit (up to three attempts) and per attempt."""
    rows = pl.read_parquet(tables / "success_by_type.parquet").filter(pl.col("turns") == "all")
    by = {(row["group"], row["unit"]): row for row in rows.iter_rows(named=True)}
    groups = [group for group in dict.fromkeys(rows["group"]) if group == "all" or group.startswith("category:")]
    groups += [
        f"type:{one}" for one in taxonomy() if (row := by.get((f"type:{one}", "edit"))) and row["paper"] is not None
    ]
    lines = []
    for group in groups:
        edit, attempt = by[group, "edit"], by[group, "attempt"]
        name = group.removeprefix("category:")
        name = f"`{name.removeprefix('type:')}`" if group.startswith("type:") else name
        shares = [f"{percent(one['share'], one['low'], one['high'])} of {one['n']}" for one in (edit, attempt)]
        lines.append((name, *shares, percent(edit["paper"])))
    return table(("", "accepted, per edit", "accepted, per attempt", "the paper"), lines)


def sweep(tables: Path) -> str:
    """How the accepted set moves with the threshold, and without each criterion."""
    rows = pl.read_parquet(tables / "sweeps.parquet")
    kept = rows.filter(
        (pl.col("sweep") == "threshold") & pl.col("choice").is_in(THRESHOLDS)
        | (pl.col("sweep") == "weights") & pl.col("choice").str.starts_with("without")
        | (pl.col("choice") == "equal")
        | (pl.col("sweep") == "compliance") & (pl.col("choice") != "at least 0")
    )
    return table(
        ("rule", "accepted", "unknown", "kept", "gained", "lost", "overlap"),
        [
            (
                f"{row['sweep']} {row['choice']}" if row["sweep"] in ("threshold", "compliance") else row["choice"],
                percent(row["share"]),
                *(row[name] for name in ("unknown", "kept", "gained", "lost")),
                f"{row['jaccard']:.2f}",
            )
            for row in kept.iter_rows(named=True)
        ],
    )


def faults(run: Path) -> str:
    """What the judge accepted, by the fault that the editor says it made."""
    frames = RunFrames(run)
    used = {row[0]: json.loads(row[1] or "{}") for row in frames.steps().select("id", "used").iter_rows()}
    decided = frames.decisions().filter(pl.col("decision") == "attempt")["facts"]
    frames.close()
    tried: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    refused = 0
    for text in decided:
        facts = json.loads(text)
        if "state" not in facts:
            refused += 1
            continue
        fault = used[facts["state"]].get("fault") or "none"
        tried[fault] += 1
        accepted[fault] += facts["accepted"]
    order = sorted(tried, key=lambda fault: (fault != "none", -tried[fault]))
    lines = [(fault, tried[fault], accepted[fault], percent(accepted[fault] / tried[fault])) for fault in order]
    made = table(("fault made", "attempts", "accepted", "share"), lines)
    return f"{made}\n\n{refused} attempts were refused by the editor and not judged."


def data(tables: Path) -> str:
    """Subsets beside the paper's shares, separability, pairwise judgements, noise."""
    rows = [
        (row["subset"], row["n"], percent(row["share"]), percent(row["paper_share"]))
        for row in _of(tables, "composition")
    ]
    lines = [table(("subset", "rows", "share", "the paper"), rows), ""]
    for row in _of(tables, "separability"):
        told = row["note"] or f"{percent(row['accuracy'], row['low'], row['high'])} of {row['n_pairs']} pairs"
        lines.append(f"- Reward model on stored measurements, cross-validated by source image (50% is chance): {told}.")
    for row in _of(tables, "judge_pairs"):
        agrees = percent(row["agrees"], row["agrees_low"], row["agrees_high"])
        lines.append(f"- Pairwise, both orders: the accepted edit wins in {agrees} of {row['n_pairs']} pairs; "
                     f"the same winner in both orders in {percent(row['consistent'])}.")  # fmt: skip
    noise = _of(tables, "judge_noise")
    lines.append(
        "- Judge noise: each edit was judged once."
        if not noise
        else f"- Judge noise: SD {noise[0]['sd']:.3f} within an edit."
    )
    return "\n".join(lines)


def _of(tables: Path, name: str) -> list[dict[str, Any]]:
    return pl.read_parquet(tables / f"{name}.parquet").to_dicts()


def main() -> None:
    """Print, or put into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a finished factory run with its report")
    parser.add_argument("--into", type=Path, help="a page to put the tables into")
    given = parser.parse_args()
    tables = given.run / "tables"
    parts = {"funnel": funnel(tables), "success": success(tables), "faults": faults(given.run), "sweep": sweep(tables),
             "data": data(tables)}  # fmt: skip
    for name, text in parts.items():
        if given.into:
            put_into(given.into, f"factory-{name}", text)
        else:
            sys.stdout.write(f"## {name}\n\n{text}\n\n")


if __name__ == "__main__":
    main()
