"""A study on a real cluster of several raylets: the same run as on one machine, whatever happens to the machines."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.types import Capabilities, Edited, EditRequest, Limits
from tests.backends.cluster_runs import RayCluster, entries, own, same, study
from tests.backends.conftest import WORKER_KEY
from tests.engine.parts import query

DRIVER_KEY = "sk-of-the-command-2718281828459045"


class ServerEditor:
    """Calls a server, to the engine: it has an account."""

    name, fingerprint = "server", "server@1"
    capabilities = Capabilities(dollars_per_call=0.01)
    limits = Limits(at_once=4, per_minute=1200, account="test")

    def __init__(self) -> None:
        self.begun: list[float] = []
        self.pids: set[int] = set()

    async def edit(self, request: EditRequest) -> Edited:
        self.begun.append(time.monotonic())
        self.pids.add(os.getpid())
        await asyncio.sleep(0.01)
        pixels = decode(request.image).pixels
        return Edited(encode_png(pixels - (pixels > 0)), "image/png", "server", 0.01)


def test_a_run_on_a_cluster_equals_one_on_this_machine(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", DRIVER_KEY)
    logs = {name: tmp_path / f"{name}.log" for name in ("here", "there")}
    ray: dict[str, Any] = {"backend": "ray", "address": cluster.address}
    options: dict[str, Any]
    for name, options in (("here", {}), ("there", ray)):
        entry = own(resources={"cpus": 0.5}, log=str(logs[name]))
        study(tmp_path / name, "sim-noise", "paste-back(sim-blur)", entry, workers=2, **options)
    same(tmp_path / "here", tmp_path / "there")
    assert {one["pid"] for one in entries(logs["here"])} == {os.getpid()}
    assert os.getpid() not in {one["pid"] for one in entries(logs["there"])}
    assert query(tmp_path / "there", "select distinct outcome from attempts") == [("ok",)]
    sessions = Path(tempfile.gettempdir()) / "ray" / "session_latest" / "logs"
    assert list(sessions.glob("*")), "Ray writes its logs elsewhere: this test looks into none"
    for path in sessions.rglob("*"):
        assert not path.is_file() or DRIVER_KEY.encode() not in path.read_bytes(), path


def test_chains_go_on_elsewhere_when_a_machine_and_a_worker_die(cluster: RayCluster, tmp_path: Path) -> None:
    log, calm, struck = tmp_path / "log", tmp_path / "calm", tmp_path / "struck"
    study(calm, own(), count=6, metrics=("rmse",), workers=1)

    def strike() -> None:
        while len({one["pid"] for one in entries(log)}) < 3:
            time.sleep(0.05)
        cluster.kill()
        fatal.touch()
        go.touch()

    fatal, go = tmp_path / "fatal", tmp_path / "go"
    striking = threading.Thread(target=strike)
    striking.start()
    entry = own(resources={"cpus": 1}, dollars=0.5, at_once=2, log=str(log), go=str(go), fatal=str(fatal))
    outcome = study(
        struck, entry, count=6, metrics=("rmse",), workers=1, backend="ray", address=cluster.address, max_cost=50.0
    )
    striking.join()
    cluster.add()
    assert outcome.statuses == {"finished": 6}
    assert not fatal.exists(), "no worker ended itself"
    same_but_price = "select id, parent, instruction, seed, status, image from steps order by id"
    assert query(struck, same_but_price) == query(calm, same_but_price)
    assert query(struck, "select * from measurements order by 1") == query(
        calm, "select * from measurements order by 1"
    )
    lost = query(struck, "select error, dollars, settled from attempts where outcome = 'transient'")
    assert 2 <= len(lost) <= 2 * 3, "calls in flight on what died, and no others"
    assert all("was lost" in error and (dollars, settled) == (0.5, 0) for error, dollars, settled in lost)
    answered = query(struck, "select count(*) from attempts where outcome = 'ok'")[0][0]
    assert answered == 6 * 2 * 2, "no step was answered twice"
    assert answered + len(lost) >= len(entries(log)), "every call that was made is on record"


def test_rate_limits_and_keys_are_those_of_the_command_and_each_machine_keeps_its_own(
    cluster: RayCluster, tmp_path: Path
) -> None:
    log, root, server = tmp_path / "log", tmp_path / "run", ServerEditor()
    paced = own(resources={"cpus": 0.5}, per_minute=120, at_once=2, log=str(log))
    failing = own("blabbing", resources={"cpus": 0.5})
    study(
        root,
        paced,
        failing,
        {"name": "server", "use": "sim-perfect"},
        objects={"server": server},
        count=3,
        rounds=1,
        metrics=("rmse",),
        backend="ray",
        address=cluster.address,
    )
    begun = sorted(one["time"] for one in entries(log))
    assert len(begun) == len(server.begun) == 6
    assert begun[-1] - begun[0] >= 5 * 0.5 - 1.2, "a call every half a second over all machines, and some delay"
    assert server.begun[-1] - server.begun[0] >= 5 * 0.05 - 0.02
    assert server.pids == {os.getpid()}, "servers are called where the keys and the limits are"

    errors = [error for (error,) in query(root, "select distinct error from attempts where editor = 'blabbing'")]
    # on a busy machine a worker may also be lost on the way
    told = [error for error in errors if "was lost" not in error]
    assert told, errors
    assert all("the server said no to" in error for error in told), errors
    for path in root.rglob("*"):
        assert not path.is_file() or WORKER_KEY.encode() not in path.read_bytes(), path
