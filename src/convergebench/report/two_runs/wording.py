"""The finding of a comparison in one sentence with its uncertainty, and what to know beside it."""

from __future__ import annotations

from convergebench.report.input import Row
from convergebench.report.two_runs.input import TwoRunsInput, pair_name
from convergebench.report.wording import count, interval, number, p_value


def signed(value: float | None, digits: int = 1) -> str:
    """`+3.1`, `−0.4`, `0.0`, or a dash."""
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def ordered(given: TwoRunsInput) -> list[Row]:
    """The pairs of editors, the surest change first, then the largest."""
    rows = given.change.editors.to_dicts()
    return sorted(rows, key=lambda row: (row["p_holm"], -abs(row["change"] or 0.0)))


def is_sure(row: Row, given: TwoRunsInput) -> bool:
    """Whether a change is significant after Holm's correction."""
    return row["change"] is not None and bool(row["p_holm"] < 1 - given.settings.confidence)


def too_few(row: Row, given: TwoRunsInput) -> bool:
    """Whether no outcome at all could have been significant with so many images."""
    return row["smallest_p"] is not None and not row["smallest_p"] < 1 - given.settings.confidence


def finding(given: TwoRunsInput) -> str:
    """The finding: the surest change, and how many other editors changed."""
    rows = ordered(given)
    scored = [row for row in rows if row["change"] is not None]
    if not scored:
        return "The score cannot be compared: no metric of it was measured in both runs."
    return _sentence(scored[0], given) + _others(scored, given)


def _sentence(row: Row, given: TwoRunsInput) -> str:
    name, change = pair_name(row), row["change"]
    basis = f"{count(row['n_cases'], 'case')} from {count(row['n_sources'], 'image')}"
    ends = interval(row["low"], row["high"], 1)
    percent = f"{100 * given.settings.confidence:.3g}%"
    scores = f"{number(row['score_first'], 1)} to {number(row['score_second'], 1)}"
    if abs(change) < 1e-9:
        return f"{name} has the same score in both runs, {number(row['score_first'], 1)}, on {basis}."
    way = "better" if change > 0 else "worse"
    if is_sure(row, given):
        verb = "rose" if change > 0 else "fell"
        return f"{name} got {way}: its score {verb} from {scores} ({signed(change)}; {percent}: {ends}) on {basis}."
    if too_few(row, given):
        least = f"with {count(row['n_sources'], 'image')} no result could have a p below {row['smallest_p']:.3g}"
        return f"{name} looks {way}, from {scores} ({signed(change)}) on {basis}, but that may be chance: {least}."
    shown = f"; {percent}: {ends}" if ends else ""
    return f"No sure change of {name}: its score went from {scores} ({signed(change)}{shown}) on {basis}."


def _others(rows: list[Row], given: TwoRunsInput) -> str:
    if len(rows) < 2:
        return ""
    sure = sum(is_sure(row, given) for row in rows)
    return f" {sure} of {len(rows)} editors changed significantly."


def notes(given: TwoRunsInput) -> list[str]:
    """What to know about each pair of editors, a sentence each."""
    found = []
    for row in ordered(given):
        name = pair_name(row)
        if given.same_model(row):
            found.append(f"{name} has the same fingerprint in both runs: only chance, or the provider, can differ.")
        if row["by_image"]:
            found.append(f"{name}: too few images for an interval; change image by image: {row['by_image']}.")
        if row["change"] is not None and not is_sure(row, given) and row["needed"]:
            found.append(f"{name}: a change of this size would take about {count(row['needed'], 'image')} to show.")
        lone = [
            f"{count(row[f'n_only_{side}'], 'chain')} only in {run}"
            for side, run in zip(("first", "second"), given.names, strict=True)
            if row[f"n_only_{side}"]
        ]
        if lone:
            found.append(f"{name}: left out, {' and '.join(lone)}.")
    return found


def test_text(row: Row) -> str:
    """`0.031`, the p after Holm's correction."""
    return p_value(row["p_holm"])
