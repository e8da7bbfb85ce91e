"""A small audit made by hand: drawn pictures, decayed for real, and scores whose failures are known beforehand.

The frames are filled here and not by the analysis, so that what a page must show is written down in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.audit.result import INPUTS, SCHEMAS, AuditAnalysis, AuditInput
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.report.audit.input import AuditReportInput, PictureKey
from convergebench.studies.analysis_settings import AuditSettings
from tests.report.pictures import degrade, draw, store

Row = dict[str, Any]

NAMES = list(PUBLISHED)
EDITORS = ("sim-jpeg", "sim-noise")
KINDS = ("face", "object", "scene")
WORST = {"filter": "no", "follow a chain": "with care", "compare images": "unknown"}
VERDICTS = ("rewards damage", "often fooled", "cannot be told", "unproven", "sound")


def facts(name: str) -> MetricFacts:
    """A no-reference metric on a scale of 0 to 100; the second published one is ours to use only privately."""
    known = PUBLISHED.get(name)
    better = known.better if known else "higher"
    return MetricFacts(
        name, "no-reference", better, (-1e9, 1e9), f"What {name} measures.", typical=(0.0, 100.0),
        noncommercial=known is not None and known.route == "pyiqa",
    )  # fmt: skip


def frame(name: str, rows: Sequence[Row], table: dict[str, Any] = SCHEMAS) -> pl.DataFrame:
    """Rows with the columns of the contract; what a row does not say is null."""
    columns = table[name]
    return pl.DataFrame([{key: row.get(key) for key in columns} for row in rows], schema=columns)


def gap_of(metric: int, editor: int, image: int, at: int, seed: int) -> float | None:
    """The gap of a cell: every fifth metric is always right, the first is mostly wrong, a few are 0 or missing."""
    random = np.random.default_rng([seed, metric, editor, image, at])
    if (metric + editor + 2 * image) % 17 == 5 and at > 5:
        return None
    if (metric + editor + image) % 11 == 7:
        return 0.0
    slope = (0.7, 0.2, -0.1, -0.3, -1.0)[metric % 5]
    wobble = 0.0 if metric % 5 == 4 else random.normal(0, 0.5) * at**0.5
    return float(slope * at + wobble)


def make_audit(
    folder: Path, *, editors: Sequence[str] = EDITORS, images: Sequence[str] = ("cup", "hill", "face"),
    metrics: int = 4, not_run: Sequence[str] = ("musiq", "rali"), gaps: tuple[int, ...] = (5, 10), run: str = "run-a",
    additions: bool = True, size: int = 48, seed: int = 7, names: Sequence[str] = (),
) -> AuditReportInput:  # fmt: skip
    """An audit of this number of metrics; its pictures are written into the folder."""
    chosen = list(names) or [name for name in [*NAMES, *(f"our-{n}" for n in range(40))] if name not in not_run]
    chosen = chosen[:metrics]
    last = max(gaps)
    pictures: dict[PictureKey, str] = {}
    scores, chains, gap_rows, cells, traces = [], [], [], [], []
    for e, editor in enumerate(editors):
        for i, source in enumerate(images):
            case = f"{source}/replicate/1"
            cell = {"run": run, "editor": editor, "source": source, "pair": "replicate"}
            picture = draw(KINDS[i % 3], size, seed=i)
            for at in range(last + 1):
                picture = degrade(editor, picture, at) if at else picture
                if at in (0, 1, *gaps):
                    pictures[run, editor, case, at] = store(folder, picture)
            chains.append({**cell, "case": case, "replicate": 1, "role": "copies", "simulated": True, "last": last})
            for m, metric in enumerate(chosen):
                base = 40.0 + 9 * i + m
                walked = {at: 0.0 if at <= 1 else gap_of(m, e, i, at, seed) for at in range(last + 1)}
                for at, gap in walked.items():
                    value = None if gap is None else base + gap
                    status = "ok" if value is not None else "too-small"
                    row = {**cell, "case": case, "replicate": 1, "kind": "photo", "at": at, "step": at}
                    scores.append({**row, "metric": metric, "value": value, "status": status, "detail": ""})
                    line = {**cell, "metric": metric, "at": at, "mean": value, "raw": value, "n_runs": 1}
                    traces.append({**line, "smallest": value, "largest": value})
                known = {at: walked[at] for at in gaps}
                for at, gap in known.items():
                    failed = None if gap is None else gap >= 0
                    gap_rows.append(
                        {
                            **cell, "metric": metric, "at": at, "gap": gap, "failed": failed, "failed_any": failed,
                            "zero": gap == 0, "worst_gap": gap, "base_score": base, "n_runs": 1,
                            "score": None if gap is None else base + gap, "n_missing": int(gap is None),
                        }
                    )  # fmt: skip
                wrong = sum(gap is not None and gap >= 0 for gap in known.values())
                have = sum(gap is not None for gap in known.values())
                cells.append(
                    {**cell, "metric": metric, "failures": wrong, "failures_any": wrong, "known": have,
                     "asked": len(gaps)}
                )  # fmt: skip
        if additions:
            cell = {"run": run, "editor": editor, "source": images[0], "pair": "add-fruit"}
            extra = {**cell, "case": f"{images[0]}/add-fruit/1", "replicate": 1, "role": "additions"}
            chains.append({**extra, "simulated": True, "last": last})
            for m, metric in enumerate(chosen):
                for at in range(last + 1):
                    value = 50.0 - at + 6 * (at % 3) + m
                    line = {**cell, "metric": metric, "at": at, "mean": value, "raw": value, "n_runs": 1}
                    traces.append({**line, "smallest": value, "largest": value})
    facts_of = {name: facts(name) for name in chosen} | {"lpips-first": facts("lpips-first")}
    why = {name: f"{name} needs its weights: pip install 'convergebench[iqa]'" for name in not_run}
    given = AuditInput(
        scores=frame("scores", scores, INPUTS), damage=frame("damage", [], INPUTS),
        chains=frame("chains", chains, INPUTS), facts=facts_of, not_run=why,
    )  # fmt: skip
    audit = _analysis(chosen, why, gap_rows, cells, traces, gaps, list(editors), run)
    made = {
        "command": f"cbench audit {run}",
        "date": "2026-01-02T03:04:05Z",
        "version": "0.6.0",
        "runs": {run: {"study": "replicate", "seed": 3}},
    }
    return AuditReportInput(audit, given, {run: folder}, pictures, frozenset(editors), made)


def _counts(cells: Sequence[Row], gap_rows: Sequence[Row]) -> Row:
    """What a row of counts says of these cells."""
    failed = sum(cell["failures"] > 0 for cell in cells)
    missing = sum(cell["known"] < cell["asked"] and not cell["failures"] for cell in cells)
    share = failed / (len(cells) - missing) if len(cells) > missing else None
    return {
        "n_cells": len(cells), "n_failed": failed, "n_failed_any": failed, "n_missing": missing,
        "n_zero": sum(bool(row["zero"]) for row in gap_rows), "n_sources": len({cell["source"] for cell in cells}),
        "n_editors": len({cell["editor"] for cell in cells}), "share": share,
        "low": None if share is None or len(cells) < 2 else max(0.0, share - 0.2),
        "high": None if share is None or len(cells) < 2 else min(1.0, share + 0.2),
        "white": bool(cells) and failed == 0 and missing == 0,
        "white_any": bool(cells) and failed == 0 and missing == 0,
    }  # fmt: skip


def _analysis(
    chosen: list[str], why: dict[str, str], gaps: list[Row], cells: list[Row], traces: list[Row],
    asked: tuple[int, ...], editors: list[str], run: str,
) -> AuditAnalysis:  # fmt: skip
    last = max(asked)
    found: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
    found |= {"gaps": gaps, "cells": cells, "traces": traces}
    for place, metric in enumerate([*chosen, *why]):
        known = PUBLISHED.get(metric)
        mine = [cell for cell in cells if cell["metric"] == metric]
        counted = _counts(mine, [row for row in gaps if row["metric"] == metric])
        audited = metric in chosen
        found["metrics"].append(
            {
                "metric": metric, "title": known.title if known else metric,
                "route": known.route if known else "native",
                "published": known is not None, "status": "audited" if audited else "not run",
                "why": why.get(metric, ""), "better": known.better if known else "higher", "range_low": 0.0,
                "range_high": 100.0, "range_ours": metric == "pi", **counted,
                "verdict": VERDICTS[place % 5] if audited else "not run",
                "reason": f"{counted['n_failed']} of {counted['n_cells']} images fail." if audited else "",
            }
        )  # fmt: skip
        for purpose, answer in WORST.items():
            reason = f"{purpose}: because of its failures" if audited else "it was not run"
            answer = answer if audited else "unknown"
            found["recommendations"].append({"metric": metric, "purpose": purpose, "answer": answer, "reason": reason})
        if audited:
            _numbers(found, metric, place, [row for row in gaps if row["metric"] == metric], editors, last)
    for metric in chosen:
        for editor in ["all", *editors]:
            part = [c for c in cells if c["metric"] == metric and editor in ("all", c["editor"])]
            mine = [g for g in gaps if g["metric"] == metric and editor in ("all", g["editor"])]
            found["failures"].append({"editor": editor, "metric": metric, **_counts(part, mine)})
    found["contradictions"].sort(key=lambda row: -row["gap"])
    wrong = sum(row["n_failed"] > 0 for row in found["metrics"])
    headline = (f"{wrong} of {len(chosen)} metrics call a damaged picture better.", "Not one can be used as a filter.")
    return AuditAnalysis(
        settings=AuditSettings(gaps=asked, damage="lpips-first"), version=1,
        headline=headline if chosen else (), notes=("PI has no upper end; 55 was chosen.",),
        **{name: frame(name, rows) for name, rows in found.items()},
    )  # fmt: skip


def _numbers(
    found: dict[str, list[Row]], metric: str, place: int, gaps: list[Row], editors: list[str], last: int
) -> None:
    """The frames with one row or a few per metric."""
    ends = [row["gap"] for row in gaps if row["at"] == last and row["gap"] is not None]
    mean = float(np.mean(ends)) if ends else None
    found["confound"].append(
        {
            "metric": metric, "spread": 9.0, "smallest": 40.0, "largest": 58.0, "smallest_source": "cup",
            "largest_source": "face", "at": last, "mean_gap": mean, "ratio": None if mean is None else abs(mean) / 9.0,
            "low": 0.1, "high": 2.0, "n_clean": 3, "n_cells": len(ends),
        }
    )  # fmt: skip
    found["ranges"].append(
        {"metric": metric, "range_low": 0.0, "range_high": 100.0, "n": 66, "below": place % 2, "above": 0,
         "smallest": -9.8, "largest": 71.25, "smallest_where": "sim-noise cup 10", "largest_where": "sim-jpeg face 3"}
    )  # fmt: skip
    found["content"].append(
        {"metric": metric, "editor": "all", "pair": "add-fruit", "role": "additions", "n_cells": 2, "shift": -1.0,
         "low": -2.0, "high": 0.5, "largest": 11.0, "jumpiness": 8.0, "drop": mean,
         "ratio": 8.0 / abs(mean) if mean else None}
    )  # fmt: skip
    for percentile in (5.0, 25.0, 50.0):
        for editor in ["all", *editors]:
            for at in range(1, last + 1):
                share = max(0.0, 1 - percentile / 100 - 0.02 * at * (1 + place % 5))
                found["filter_risk"].append(
                    {"metric": metric, "percentile": percentile, "threshold": 42.0, "editor": editor, "at": at, "n": 20,
                     "passed": round(20 * share), "share": share, "low": max(0.0, share - 0.1),
                     "high": min(1.0, share + 0.1), "clean_share": 1 - percentile / 100, "n_clean": 40, "needed": 40}
                )  # fmt: skip
    for editor in ["all", *editors]:
        for against, rho in (("step", -0.4 + 0.2 * (place % 5)), ("lpips-first", None if place == 1 else -0.5)):
            found["ranks"].append(
                {"metric": metric, "editor": editor, "against": against, "rho": rho, "low": None, "high": None,
                 "n_chains": 3, "n_undefined": 3 if rho is None else 0, "n_sources": 3}
            )  # fmt: skip
    for check in ("same process", "jpeg"):
        found["repeats"].append(
            {"metric": metric, "check": check, "n": 4, "largest": 0.0 if check != "jpeg" else 3.25, "median": 0.0,
             "same": 0 if check == "jpeg" else 4, "status": "ok"}
        )  # fmt: skip
    for editor in editors:
        mine = [row for row in gaps if row["editor"] == editor and row["gap"] is not None and row["gap"] > 0]
        if mine:
            worst = max(mine, key=lambda row: float(row["gap"]))
            case = f"{worst['source']}/{worst['pair']}/1"
            kept = {key: worst[key] for key in ("run", "editor", "source", "pair", "at", "gap", "metric")}
            found["contradictions"].append(
                {**kept, "case": case, "replicate": 1, "base_score": worst["base_score"], "score": worst["score"],
                 "damage_metric": "lpips-first", "damage": 0.42, "base_at": 1}
            )  # fmt: skip
