"""Flags that several commands have, checked alike."""

from __future__ import annotations

MOST_WORKERS = 1024
"""Processes for measuring; more than this is a slip of the keyboard."""
PLOTS = ("png", "svg", "pdf")
ALL_PLOTS = ",".join(PLOTS)
PLOTS_HELP = "File formats of the plots: png, svg, pdf, several separated by commas, or none."


def plot_kinds(text: str) -> str:
    """`--plots`: checked where it is typed; `kinds_of` takes it apart."""
    from convergebench.errors import StudyError

    for kind in kinds_of(text):
        if kind not in PLOTS:
            raise StudyError(f"--plots {text}: use png, svg, pdf, several separated by commas, or none")
    return text


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of files that `--plots` asks for."""
    return () if text.strip() == "none" else tuple(dict.fromkeys(word.strip() for word in text.split(",")))


def dollars(value: float | None) -> float | None:
    """`--max-cost`: a number; NaN would never be exceeded, and who wants no limit leaves the flag out."""
    from math import isfinite

    from convergebench.errors import StudyError

    if value is not None and not isfinite(value):
        raise StudyError(f"--max-cost {value}: give a number of dollars, such as 5, or leave it out for no limit")
    return value
