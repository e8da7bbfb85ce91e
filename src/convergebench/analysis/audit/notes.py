"""Notes on an audit: how scores were judged, which ranges are our own, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from convergebench.analysis.audit.audit_data import AuditData
from convergebench.analysis.audit.steps import AuditedSteps
from convergebench.analysis.wording import counted, listed
from convergebench.studies.analysis_settings import AuditSettings


def notes(
    frames: Mapping[str, pl.DataFrame], data: AuditData, steps: AuditedSteps, asked: AuditSettings
) -> tuple[str, ...]:
    """Every note that applies; `asked` are the settings before gaps were chosen."""
    return (
        *_definition(data, steps),
        *_steps(data, steps, asked),
        *_zeros(frames["gaps"]),
        *_missing(frames["gaps"], data),
        *_bias(frames["cells"]),
        *_bounds(frames["metrics"]),
        *_learned(frames["metrics"]),
        *_damage(data),
        *_not_run(frames["metrics"], data),
        *_simulated(data),
    )


def _definition(data: AuditData, steps: AuditedSteps) -> Iterator[str]:
    if steps.gaps:
        used, base = listed([str(gap) for gap in steps.gaps], most=20), data.settings.baseline
        yield (
            f"A picture (cell) is {_cell(data)}. It counts as noticed only if its score, with higher better, is "
            f"lower at {data.settings.by} {used} than at {base}, on the mean over repeats; failures in any single "
            "repeat are counted beside it."
        )


def _cell(data: AuditData) -> str:
    copies = data.copies
    edit = " and one edit" if copies["pair"].n_unique() > 1 else ""
    return f"one image under one editor{edit}{' of one run' if copies['run'].n_unique() > 1 else ''}"


def _steps(data: AuditData, steps: AuditedSteps, asked: AuditSettings) -> Iterator[str]:
    by, copies = data.settings.by, data.copies
    if not copies.height:
        yield "No chain repeats its source image, so there are no gaps."
        return
    if steps.longest <= data.settings.baseline:
        yield f"No chain goes beyond {by} {data.settings.baseline}, the baseline, so there are no gaps."
        return
    if steps.chosen:
        reason = f"none of {', '.join(map(str, asked.gaps))} is reached" if asked.gaps else "no gaps were asked for"
        used = listed([str(gap) for gap in steps.gaps], most=20)
        yield f"Gaps at {used} were chosen here: {reason}, and the longest chain has {counted(steps.longest, by)}."
    for some in sorted({copies.filter(pl.col("reach") < gap).height for gap in steps.gaps} - {0}):
        gaps = [gap for gap in steps.gaps if copies.filter(pl.col("reach") < gap).height == some]
        who = listed(copies.filter(pl.col("reach") < gaps[0])["editor"].unique().sort().to_list(), most=5)
        verb = "ends" if some == 1 else "end"
        unless = "" if gaps[0] == steps.gaps[0] else " unless an earlier gap fails"
        yield (
            f"{some} of {counted(copies.height, 'chain')} {verb} before {by} {gaps[0]} ({who}): what they show is "
            f"unknown{unless}, and no mean at {listed([str(gap) for gap in gaps], most=20)} has them."
        )


def _learned(metrics: pl.DataFrame) -> Iterator[str]:
    """Which metrics were trained on pictures of the audited editors."""
    for metric, editors in metrics.filter(pl.col("learned_from") != "").select("metric", "learned_from").iter_rows():
        yield (f"{metric} was trained on {editors}: its results on their images say nothing about other editors.")


def _zeros(gaps: pl.DataFrame) -> Iterator[str]:
    zeros = int(gaps["zero"].sum() or 0)
    if zeros:
        verb = "is" if zeros == 1 else "are"
        yield f"{counted(zeros, 'gap')} of {gaps.height} {verb} exactly 0; these count as failures and are marked."


def _missing(gaps: pl.DataFrame, data: AuditData) -> Iterator[str]:
    empty = int(gaps["gap"].null_count())
    if empty:
        verb = "has" if empty == 1 else "have"
        gone = f"{counted(empty, 'gap')} of {gaps.height} {verb} no value because a score is missing"
        yield f"{gone}; they never count as a success."
    if data.n_odd:
        verb = "is" if data.n_odd == 1 else "are"
        yield f"{counted(data.n_odd, 'score')} {verb} infinite or not a number and {verb} treated as missing."
    runs = data.copies["run"].unique().sort().to_list()
    have = set(data.asked.select("run", pl.col("metric").cast(pl.String)).iter_rows())
    for name in data.scales:
        without = [run for run in runs if (run, name) not in have]
        if without:
            yield f"{name} has no score in {listed(without, most=5)}; it is judged on the other runs alone."


def _bias(cells: pl.DataFrame) -> Iterator[str]:
    """Pictures that lack a gap count only if they fail, which biases the share of failures."""
    seen, failed = cells.filter(pl.col("known") > 0), pl.col("failures") > 0
    counts = seen.group_by("metric", maintain_order=True).agg(
        failed.sum().alias("failed"), (~failed & (pl.col("known") < pl.col("asked"))).sum().alias("open"), pl.len()
    )
    ranges = [
        f"{metric} ({least} to {least + more} of {count})"
        for metric, least, more, count in counts.filter(pl.col("open") > 0).iter_rows()
    ]
    if ranges:
        yield (
            "A picture that lacks some of its gaps can be told only if another fails, so shares lean towards failure; "
            f"intervals span all that may be: {listed(ranges, most=len(ranges))}."
        )


def _bounds(metrics: pl.DataFrame) -> Iterator[str]:
    for row in metrics.filter(pl.col("range_ours"), status="audited").iter_rows(named=True):
        if row["metric"] == "pi":
            yield f"pi has no upper bound; {row['range_high']:g} is ours; signs do not depend on it."
        else:
            used = f"{row['range_low']:g}…{row['range_high']:g}"
            yield f"The range {used} of {row['metric']} is ours; signs do not depend on it."


def _damage(data: AuditData) -> Iterator[str]:
    copies, name = data.copies, data.damage_metric
    if copies.height and not name:
        yield "No full-reference metric was measured, so contradictions go by the rise of the score alone."
        return
    without = copies.join(data.damage, on="chain", how="anti")
    if without.height:
        who = listed(without["editor"].unique().sort().to_list(), most=5)
        yield (
            f"{without.height} of {counted(copies.height, 'chain')} ({who}) have no value of {name}, so nothing is "
            "said of their damage."
        )


def _not_run(metrics: pl.DataFrame, data: AuditData) -> Iterator[str]:
    rest = metrics.filter(status="not run")
    for why, part in rest.group_by("why", maintain_order=True):
        yield f"Not run: {', '.join(part['metric'])} ({why[0]})."
    if data.left_out:
        yield f"No quality metric, so not audited: {', '.join(data.left_out)}."


def _simulated(data: AuditData) -> Iterator[str]:
    simulated = data.copies.filter(pl.col("simulated"))["editor"].unique().sort().to_list()
    if simulated:
        yield f"Simulated, not real editors: {listed(simulated, most=8)}."
