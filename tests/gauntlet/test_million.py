"""The simulation of many chains, small: it ends, it is no faster than its workers allow, and it counts everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.million import line, opened, real, simulated
from benchmarks.million_world import CALLS, WORLD


@pytest.mark.parametrize("busy", [0.0, 0.2])
def test_every_chain_ends_and_no_worker_does_two_calls_at_once(busy: float) -> None:
    """Many replies that ask to wait: the virtual clock must not stand still."""
    found = simulated(120, 20, busy=busy)
    assert sum(found["statuses"].values()) == 120
    assert found["stopped"] is None
    assert found["virtual_hours"] >= found["ideal_hours"] > 0
    assert found["scored"] <= found["calls"]
    assert found["scored_hours"] >= found["virtual_hours"] / 2


def test_the_real_store_has_the_same_chains(tmp_path: Path) -> None:
    found = real(60, 20, tmp_path)
    assert sum(found["statuses"].values()) == 60
    assert found["journal_bytes"] > 60 * CALLS * 100
    assert found["commits"] > 0


def test_opening_makes_no_call() -> None:
    assert opened(50)["chains"] == 50


def test_the_line_goes_through_its_points() -> None:
    points = [{"chains": 10, "cpu_s": 1.0}, {"chains": 30, "cpu_s": 3.0}]
    assert line(points, "cpu_s", 100) == pytest.approx(10.0)


def test_every_figure_of_the_world_names_its_source() -> None:
    for table in WORLD.values():
        figures = [name for name, value in table.items() if isinstance(value, int | float)]
        sources = [name for name in table if name.endswith("source")]
        assert len(sources) >= len(figures) - 1
        assert all(table[name] for name in sources)
