"""What a run has cost, per editor and role, with what nobody can be sure of."""

from __future__ import annotations

from pathlib import Path

from convergebench.store.frames import RunFrames
from tests.engine.parts import faults
from tests.engine.storm import PRICE, Provider, weather


def test_spending_counts_every_call_also_of_steps_that_failed(tmp_path: Path) -> None:
    provider = Provider(["slip", "cut off", "no image", "no image", "no image"])
    weather(tmp_path / "run", provider)
    faults(tmp_path / "run", "plain@1")
    frames = RunFrames(tmp_path / "run")
    rows = {row["editor"]: row for row in frames.spending().to_dicts()}
    chains = frames.chains()["dollars"].sum()
    frames.close()
    assert set(rows) == {"plain", "three", "role:judge"}
    assert sum(row["dollars"] for row in rows.values()) == provider.billed
    assert sum(row["calls"] for row in rows.values()) == len(provider.bills), "each bill is one call"
    assert sum(row["unknown_calls"] for row in rows.values()) == 2
    assert sum(row["unknown_dollars"] for row in rows.values()) == 2 * PRICE
    assert chains < provider.billed, "chains alone do not know what failed steps and questions cost"
