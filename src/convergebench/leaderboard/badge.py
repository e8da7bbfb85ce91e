"""A badge for a model card: one SVG file that loads nothing, with its uncertainty in it."""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from convergebench.report.wording import interval, middle, number, rounds_interval

HEIGHT, PAD, LETTER = 20, 7, 6.6
"""Pixels; the width of a letter of 11 px Verdana or DejaVu Sans, a little more than the mean."""
LONGEST = 28


class Badge(NamedTuple):
    """The words of a badge."""

    left: str
    right: str
    title: str
    """The whole statement, for screen readers and as a tooltip."""


def make_badge(row: dict[str, Any], *, of: str, study: str, version: str, unit: str, confidence: float) -> Badge:
    """The words for one row of a ranking; `of` is `score` or `half-life`."""
    name = middle(row["editor"], LONGEST)
    level = f"{100 * confidence:.3g} %"
    if of == "half-life":
        ends = rounds_interval(row["half_life_low"], row["half_life_high"])
        said = f"{row['half_life']} {unit}"
        value, long = said, f"half-life {said}"
    else:
        ends = interval(row["low"], row["high"], 1)
        value, long = number(row["score"], 1), f"score {number(row['score'], 1)} of 100"
    sure = f" ({ends})" if ends else ""
    simulated = "simulated " if row["simulated"] else ""
    left = f"ConvergeBench {simulated}{study} {of}"
    certain = f", {level} interval {ends}" if ends else f", too few images for an interval ({row['n_sources']})"
    title = (
        f"{simulated.capitalize()}{name}: {long}{certain}; study {study}, "
        f"{row['n_cases']} cases from {row['n_sources']} images, convergebench {version}"
    )
    return Badge(left, f"{value}{sure}, n = {row['n_cases']}, v{version}", title)


def badge_svg(badge: Badge) -> str:
    """The file: no font, script or picture from elsewhere; text is dark or white on plain colours."""
    left, right = (round(len(part) * LETTER) + 2 * PAD for part in (badge.left, badge.right))
    width = left + right
    texts = (
        (left / 2, badge.left, left - 2 * PAD),
        (left + right / 2, badge.right, right - 2 * PAD),
    )
    words = "".join(
        f'<text x="{x:.1f}" y="14" textLength="{length}" lengthAdjust="spacingAndGlyphs">{escape(part)}</text>'
        for x, part, length in texts
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
        f'role="img" aria-label={quoteattr(badge.title)}><title>{escape(badge.title)}</title>'
        f'<rect width="{width}" height="{HEIGHT}" rx="3" fill="#3f3f46"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v{HEIGHT - 6}a3 3 0 0 1-3 3H{left}z" fill="#9b1c31"/>'
        '<g fill="#ffffff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{words}</g></svg>\n"
    )


def badge_markdown(badge: Badge, file: str, link: str = "") -> str:
    """The line to paste into a model card."""
    words = badge.title.replace("[", "(").replace("]", ")")
    picture = f"![{words}]({file.replace(' ', '%20')})"
    return f"[{picture}]({link})" if link else picture
