"""The line that tells how far a command is."""

from __future__ import annotations

import pytest

from convergebench.progress import Progress, clock, progress_line, remaining


def test_a_new_one_has_done_nothing() -> None:
    assert (
        progress_line("editing", Progress(), "steps", 0.0)
        == "editing   0/0 steps · 0/0 chains · 0.0 steps/s · 0:00 taken"
    )


def test_a_line_has_the_pace_of_the_calls_the_cost_and_the_time_left() -> None:
    progress = Progress(chains=260, steps=5200)
    progress.steps_done, progress.steps_called, progress.chains_done = 1200, 200, 50
    progress.dollars, progress.retries, progress.failures = 1.5, 3, 1
    assert remaining(progress, 50.0) == pytest.approx(1000.0), "what the journal answered says nothing of the pace"
    assert progress_line("editing", progress, "steps", 50.0) == (
        "editing   1,200/5,200 steps · 50/260 chains · 4.0 steps/s · $1.5000 · 16:40 left · 3 retries · 1 failures"
    )


@pytest.mark.parametrize(("done", "called"), [(10, 10), (4, 0)])
def test_nothing_is_left_or_nobody_knows(done: int, called: int) -> None:
    progress = Progress(steps=10)
    progress.steps_done, progress.steps_called = done, called
    assert remaining(progress, 5.0) is None
    assert progress_line("measuring", progress, "values", 5.0).endswith("0:05 taken")


def test_chains_are_counted_by_how_they_ended() -> None:
    progress = Progress()
    for status in ("finished", "refused", "finished"):
        progress.chain_ended(status)
    assert progress.chains_done == 3
    assert progress.statuses == {"finished": 2, "refused": 1}


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (750, "12:30"), (3599, "59:59"), (11100, "3:05:00")],
)
def test_a_time_is_shown_as_on_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown
