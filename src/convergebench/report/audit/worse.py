"""Are the later pictures worse at all? A metric is only wrong to call them better where they are."""

from __future__ import annotations

import polars as pl

from convergebench.report.audit.page import AuditPage
from convergebench.report.wording import count

AGAINST_SOURCE = ("lpips", "ssim", "dists", "psnr")
"""Which of several measures is told, where the settings name none."""
CELL = ("run", "editor", "source", "pair")
UNKNOWN = "Whether the later picture is the worse one was not measured; copies of copies seldom get better."


def worse_sentence(page: AuditPage) -> str:
    """How many of the later pictures lie farther from their source than the one they are held against."""
    metric = _measure(page)
    if metric is None:
        return UNKNOWN
    audit = page.given.audit
    own = page.given.given.damage.filter(metric=metric).join(audit.cells.select(CELL).unique(), on=CELL, how="semi")
    before = own.filter(at=audit.settings.baseline).select("run", "editor", "case", pl.col("value").alias("before"))
    both = (
        own.filter(pl.col("at").is_in(page.gaps))
        .join(before, on=["run", "editor", "case"])
        .filter(pl.col("value").is_not_nan(), pl.col("before").is_not_nan())
    )
    if not both.height:
        return UNKNOWN
    higher = page.given.given.facts[metric].better == "higher"
    worse = pl.col("value") < pl.col("before") if higher else pl.col("value") > pl.col("before")
    number = both.filter(worse).height
    if number == both.height:
        return (
            f"Every later picture lies farther from its source than the one it is held against ({metric}: "
            f"{count(number, 'picture')}), so a gap should be negative."
        )
    return (
        f"{number} of {count(both.height, 'later picture')} lie farther from their source than the one they are held "
        f"against ({metric}); where they do, a gap should be negative. The others may be no worse, yet they count."
    )


def _measure(page: AuditPage) -> str | None:
    """A full-reference metric that compares with the source; `-first` ones compare with step 1, which is 0 away."""
    facts = page.given.given.facts
    there = [name for name in page.given.given.damage["metric"].unique(maintain_order=True) if name in facts]
    known = [name for name in there if not name.endswith("-first") and facts[name].better != "neither"]
    wanted = (page.given.audit.settings.damage.removesuffix("-first"), *AGAINST_SOURCE, *known)
    return next((name for name in wanted if name in known), None)
