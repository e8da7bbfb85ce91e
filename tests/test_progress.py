"""The line that tells how far a command is."""

from __future__ import annotations

import pytest

from convergebench.progress import Pace, Progress, clock, duration, progress_line, remaining


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


def test_what_was_done_before_the_stage_is_watched_says_nothing_of_its_pace() -> None:
    progress = Progress(steps=1000)
    progress.steps_done = progress.steps_called = 900  # measured alongside editing
    pace = Pace(progress)
    progress.steps_done = progress.steps_called = 910
    assert pace.remaining(progress, 10.0) == pytest.approx(90.0)
    assert pace.rate(progress, 10.0) == 1.0


def test_a_stage_that_slows_down_or_stands_still_does_not_promise_its_end() -> None:
    progress = Progress(steps=1000)
    pace = Pace(progress)
    for second in range(1, 11):  # fast work first
        progress.steps_done = progress.steps_called = 95 * second
        pace.remaining(progress, float(second))
    assert pace.remaining(progress, 10.0) == pytest.approx(50 * 10 / 950)
    for second in range(11, 191, 10):  # then nothing for three minutes
        left = pace.remaining(progress, float(second))
    assert left is not None
    assert left > 600, "at 20 seconds and more per step"


def test_no_time_is_told_at_the_very_start() -> None:
    progress = Progress(steps=1000, chains=10, then="measuring and the report", then_seconds=75)
    pace = Pace(progress)
    progress.steps_done = progress.steps_called = 2
    assert progress_line("editing", progress, "steps", 1.0, pace=pace).endswith(
        "time left not known yet, then measuring and the report (about 75 s)"
    )
    progress.steps_done = progress.steps_called = 100
    assert progress_line("editing", progress, "steps", 10.0, pace=pace).endswith(
        "1:30 left, then measuring and the report (about 75 s)"
    )
    progress.steps_done = progress.steps_called = 1000
    assert progress_line("editing", progress, "steps", 100.0, pace=pace).endswith(" · 1:40 taken")


def test_slower_work_that_has_not_begun_is_not_promised_at_the_pace_of_the_faster() -> None:
    progress = Progress(steps=1000, unpaced=500)
    pace = Pace(progress)
    progress.steps_done = progress.steps_called = 250
    assert progress_line("measuring", progress, "values", 25.0, pace=pace).endswith("more than 0:25 left")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "under 1 s"),
        (0.4, "under 1 s"),
        (20, "20 s"),
        (89, "89 s"),
        (240, "4 min"),
        (5400, "1.5 h"),
        (1e7, "2,777.8 h"),
    ],
)
def test_a_forecast_is_in_words_of_its_size(seconds: float, said: str) -> None:
    assert duration(seconds) == said
