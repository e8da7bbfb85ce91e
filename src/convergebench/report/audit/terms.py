"""What the audit's page means by its words. Numbers link here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from convergebench.analysis.audit.settings import BEYOND, OFTEN, images_for
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.report.audit.page import AuditPage
from convergebench.report.made import provenance as how_run

Terms = list[tuple[str, str, str]]
"""(anchor, term, meaning)."""


def glossary(page: AuditPage) -> Terms:
    """Every term of the page, in the order a reader meets them, with this audit's constants in place."""
    settings, one, many = page.given.audit.settings, page.unit.one, page.unit.many
    gaps = ", ".join(f"Δ{at}" for at in page.gaps) or "none"
    sure = f"{settings.confidence:.0%}"
    return [
        ("metric", "no-reference metric", "Scores one picture without seeing the original: a formula or a network."),
        (
            "cell",
            "image",
            "One source image under one editor of one run, all its repeats together: one cell of a heatmap.",
        ),
        (
            "scaled",
            "scaled score",
            "The score mapped from its range to 0…100, turned round where lower is better, so that higher is always "
            "better. Never clipped. Where the authors give no upper end we choose one and say so; the sign of a gap "
            "does not depend on it.",
        ),
        (
            "gap",
            "gap Δ",
            f"Scaled score at a {one} minus the one at {one} {settings.baseline}. Held here: {gaps}. Where the "
            "picture is worse by then, a right metric has a negative gap.",
        ),
        (
            "failure",
            "failure",
            f"A picture fails if any of {gaps} is not negative, on the mean over repeats. One that misses a gap, and "
            f"fails at no other, is unknown. Intervals ({sure}) take source images as units, since pictures of one "
            f"image are alike; fewer than {FEWEST_SOURCES} images have none.",
        ),
        (
            "any-run",
            "any run",
            "The stricter reading: a picture fails if any one repeat has a gap that is not negative.",
        ),
        (
            "zero",
            "gap of exactly 0",
            "The score stood still while the picture went on changing. It counts as a failure, marked °.",
        ),
        ("white", "white column", "A metric with no failure on any picture, and no score missing."),
        ("verdict", "verdict", _verdicts(settings.enough)),
        (
            "sure",
            "surely, for sure",
            f"The whole {sure} interval says so. A metric surely fails more often than another where swapping the two "
            "on whole images makes such a difference too seldom for chance (Holm over all pairs; the table pairs).",
        ),
        (
            "contradiction",
            "contradiction",
            "The picture whose score rises most above the baseline's though a full-reference metric says that it is "
            f"damaged: at least as much as the median picture at that {one}, or as the median one of its editor.",
        ),
        (
            "damage",
            "damage",
            "How far a picture is from its source, by a full-reference metric"
            f"{': ' + settings.damage if settings.damage else ''}. Where the metric's name ends in -first: from step "
            "1 of the same chain.",
        ),
        (
            "confound",
            "confound ratio",
            f"|mean gap| at the last {one} over the standard deviation of the scaled score between untouched images. "
            "Under 1, what a picture shows moves the score more than the damage does. The interval leaves each image "
            "out once; it begins at 0 where the score may as well have risen.",
        ),
        ("range", "range violation", "A raw score outside the range that its authors give for everyday pictures."),
        (
            "jumpiness",
            "jumpiness",
            "Standard deviation of what adding an object does to the scaled score; beside it the mean drop that damage "
            "alone makes. Ratio: jumpiness over |drop|.",
        ),
        (
            "filter",
            "filter risk",
            "A filter keeps pictures that score at least as well as a percentile of the untouched ones. The risk is "
            "the share of decayed pictures that it lets through. Its interval draws untouched and decayed pictures "
            f"again, whole images together, since the threshold is an estimate too. A filter takes {BEYOND} untouched "
            f"images beyond its percentile: {_needed(settings.percentiles)}.",
        ),
        (
            "rank",
            "rank correlation",
            f"Spearman's, within each chain, averaged: −1 if the score falls at every {one} (or with all damage), 0 if "
            "it does not follow, above 0 if it rises. A chain whose scores never move has none.",
        ),
        (
            "repeats",
            "determinism",
            "How far two scores of one picture lie apart, on the 0–100 scale: scored again, in "
            "another process, on another device, through another file format, at another size.",
        ),
        ("opinions", "PLCC, SRCC", "Linear and rank correlation with people's ratings; +1 is right."),
        (
            "advice",
            "recommendation",
            "filter: keep good pictures and drop decayed ones. follow a chain: tell whether "
            "one picture got worse. compare images: tell which of two different pictures is worse.",
        ),
        (
            "missing",
            "missing",
            "The metric gave no score for a picture; the table of scores has the reason. An image "
            "that misses a gap is hatched or marked *, never guessed.",
        ),
        ("not-run", "not run", "No score at all, for the reason on its card. It is neither trusted nor blamed."),
        ("noncommercial", "noncommercial", "Its code or its weights may not be used commercially."),
        ("published", "the published 23", "The metrics of the audit in the Banana100 paper; others stand beside them."),
        ("route", "served, plug-in", "Served: a vision model is asked. Plug-in: code that somebody else installs."),
        ("simulated", "simulated", "An editor that only plays a part, to have a known truth; not a model."),
        ("unit", one, f"What {many} count here: {_unit(settings.by)}"),
    ]


def _unit(by: str) -> str:
    return "every single edit." if by == "step" else "whole rounds, after which a picture should show its source again."


def _needed(percentiles: Sequence[float]) -> str:
    return ", ".join(f"{images_for(one)} for percentile {one:g}" for one in sorted(set(percentiles)))


def _verdicts(enough: int) -> str:
    return (
        "By the interval of the share of pictures that fail. Often fooled: all of it lies at "
        f"{OFTEN:.0%} or above. Seldom fooled: all of it lies under {OFTEN:.0%}. Sound: so it does, nothing fails, "
        f"nothing is missing, and there are {enough} images or more. Cannot be told: it reaches over {OFTEN:.0%}. "
        "Unproven: nothing speaks against it, but the interval reaches that far, scores are missing, or it was learned "
        f"from these editors. Too few to tell: fewer than {FEWEST_SOURCES} source images. Rewards damage: on average "
        "its score surely rises as pictures get worse."
    )


def constants(page: AuditPage) -> list[tuple[str, str]]:
    """Every setting of the audit as it was used."""
    settings = page.given.audit.settings
    fixed = [
        ("often", f"{OFTEN:g}"),
        ("fewest sources", str(FEWEST_SOURCES)),
        ("images beyond a percentile", str(BEYOND)),
    ]
    return [(one.name, _text(getattr(settings, one.name))) for one in fields(settings)] + fixed


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_text(item) for item in value) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value not in ("", None) else "not set"


def provenance(page: AuditPage) -> list[tuple[str, str]]:
    """(name, value) rows of how the audit itself was made."""
    made = page.given.made
    found = [
        (name, _text(made.get(name))) for name in ("command", "date", "version") if name in made or name == "command"
    ]
    found += [(name, _text(value)) for name, value in made.items() if name not in (*_SAID, "runs")]
    return [(name, "not recorded" if value == "not set" else value) for name, value in found] + [
        ("analysis version", str(page.given.audit.version))
    ]


_SAID = ("command", "date", "version", "title")


def runs_made(page: AuditPage) -> list[tuple[str, list[tuple[str, str]]]]:
    """Per run, how it was made."""
    told = page.given.made.get("runs") or {}
    return [
        (run, [row for row in how_run(told.get(run) or {}, analysis_version=0) if row[0] != "analysis version"])
        for run in page.given.runs
    ]
