"""A run while another process writes it, one that was killed, and folders that are damaged or no runs."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convergebench.serve.view.live import planned_steps
from convergebench.store.queries.viewing import ChainState
from tests.serve.view.site import ServedView, refused

PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.editors.find import make_editor
from convergebench.studies.spec import parse_spec
from tests.restoration_run import sources
from tests.serve.view.conftest import STUDY

class Slow:
    def __init__(self):
        self.inner = make_editor("sim-tint")
    def __getattr__(self, name):
        return getattr(self.inner, name)
    async def edit(self, request):
        import asyncio
        await asyncio.sleep(0.15)
        return await self.inner.edit(request)

slow = Slow()
slow.name, slow.fingerprint = "slow", "e1:slow"
spec = parse_spec({**STUDY, "editors": [{"name": "slow", "use": "sim-tint"}], "roundtrip": {"rounds": 60}})
pictures = [replace(one, kind="scene") for one in sources(2)]
run(plan(spec, Path(sys.argv[1]), editors={"slow": slow}, sources=pictures), RunOptions(report=False, workers=1))
"""


def until(test: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = test()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def test_a_run_is_watched_while_another_process_writes_it_and_after_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with ServedView(folder) as site:
        assert site.data("/api/runs")["runs"] == []
        writer = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder / "growing")])
        try:
            until(lambda: site.client.get("/api/runs/growing/live").status_code == 200)
            first = until(lambda: (found := site.data("/api/runs/growing/live"))["steps"] > 3 and found)
            assert (first["live"], first["planned_steps"]) == (True, 240)
            assert first["statuses"] == {"open": 2}
            assert first["steps_per_minute"] > 0
            assert first["seconds_left"] > 0
            assert len(first["newest"]) > 1
            again = until(
                lambda: (
                    (found := site.data(f"/api/runs/growing/live?since={first['token']}"))["steps"] > first["steps"]
                    and found
                )
            )
            assert set(again["changed"]) <= {one["chain"] for one in again["newest"]}
            assert again["changed"]
            newest = again["newest"][0]
            assert site.client.get(f"/thumb/growing/{newest['image']}").status_code == 200
            total = site.data("/api/runs/growing/images")["total"]
            assert until(lambda: site.data("/api/runs/growing/images")["total"] > total)
            assert [one["live"] for one in site.data("/api/runs")["runs"]] == [True]
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        ended = site.data("/api/runs/growing/live")
        assert (ended["live"], ended["seconds_left"]) == (False, None)
        assert ended["steps"] >= again["steps"]
        still = site.data(f"/api/runs/growing/live?since={ended['token']}")
        assert (still["token"], still["changed"]) == (ended["token"], [])
        until(lambda: site.data("/api/runs/growing/images")["total"] == ended["steps"])
        assert site.data("/api/runs/growing")["statuses"] == {"open": 2}


def test_a_token_of_nobody_shows_every_chain_as_changed(served: ServedView) -> None:
    for token in ("", "made-up", "%00", "x" * 500):
        reply = served.client.get(f"/api/runs/small/live?since={token}")
        assert refused(reply) or len(reply.json()["changed"]) == 4


def test_failures_are_named_with_their_reason(runs: Path) -> None:
    with sqlite3.connect(runs / "small" / "run.sqlite") as database:
        database.execute(
            """update chains set status = 'refused', detail = 'no <b>such</b> edit'
               where editor = 'sim-tint' and "case" like 'picture-0%'"""
        )
    database.close()
    with ServedView(runs) as site:
        (one,) = site.data("/api/runs/small/live")["failures"]
        assert (one["editor"], one["step"], one["detail"]) == ("sim-tint", 6, "refused: no <b>such</b> edit")
        assert site.data("/api/runs")["runs"][0]["failed"] == 1


@pytest.mark.parametrize(
    ("study", "states", "planned"),
    [
        ("roundtrip", [("open", 1, 5, 3), ("finished", 5, 5, 10)], 20),
        ("replicate", [("open", 1, 5, 1), ("stopped", 0, 5, 0), ("refused", 2, 5, 2)], 12),
        ("restoration", [("open", 0, 2, 0)], None),
        ("restoration", [("open", 0, 2, 0), ("finished", 2, 2, 2)], 4),
        ("roundtrip", [], 0),
    ],
)
def test_steps_are_planned_as_the_study_counts(study: str, states: list[Any], planned: int | None) -> None:
    assert planned_steps(study, {("e", str(place)): ChainState(*one) for place, one in enumerate(states)}) == planned


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no-manifest": lambda root: (root / "manifest.json").unlink(),
    "no-journal": lambda root: (root / "run.sqlite").unlink(),
    "cut": lambda root: (root / "run.sqlite").write_bytes((root / "run.sqlite").read_bytes()[:5000]),
    "not-sqlite": lambda root: (root / "run.sqlite").write_bytes(b"x" * 9000),
    "empty-journal": lambda root: (root / "run.sqlite").write_bytes(b""),
    "odd-manifest": lambda root: (root / "manifest.json").write_text("[1, 2"),
    "empty-manifest": lambda root: (root / "manifest.json").write_text("{}"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_run_is_a_row_that_says_so_and_the_others_are_shown(runs: Path, how: str) -> None:
    shutil.copytree(runs / "small", runs / "broken")
    DAMAGE[how](runs / "broken")
    with ServedView(runs) as site:
        found = {one["name"]: one for one in site.data("/api/runs")["runs"]}
        assert found["broken"]["problem"]
        assert "\n" not in found["broken"]["problem"]
        assert found["small"]["problem"] == ""
        for path in ("", "/images", "/chains", "/curves"):
            assert refused(site.client.get(f"/api/runs/broken{path}")), path
        assert site.told == []


def test_cells_of_a_wrong_type_are_a_problem_of_that_run_alone(runs: Path) -> None:
    with sqlite3.connect(runs / "small" / "run.sqlite") as database:
        database.execute("update images set width = 'wide'")
    database.close()
    with ServedView(runs) as site:
        assert refused(site.client.get("/api/runs/small/images"))
        assert site.told == []


def test_tables_of_the_report_that_are_damaged_or_lead_elsewhere_are_left_out(runs: Path, tmp_path: Path) -> None:
    tables = runs / "small" / "tables"
    (tables / "worst.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    shutil.move(tables / "curves.parquet", tmp_path / "curves.parquet")
    (tables / "curves.parquet").symlink_to(tmp_path / "curves.parquet")
    with ServedView(runs) as site:
        assert {row["auc"] for row in site.rows("/api/runs/small/chains")} == {None}
        assert "plain mean" in site.data("/api/runs/small/curves")["note"]
