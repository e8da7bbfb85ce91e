"""Ctrl-C, SIGTERM and SIGKILL: one line, the right exit code, nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import World

Start = Callable[..., subprocess.Popen[str]]

SLOW = '''
import asyncio, time
from convergebench.metrics.base import metric
from paid_editor import Paid


@metric("slow", kind="full-reference", better="lower", range=(0.0, 1.0))
def slow(item):
    """Takes its time."""
    time.sleep(30)
    return 0.0


class Stuck(Paid):
    """Hangs in a thread, which nobody can cancel."""

    def __init__(self, name):
        super().__init__(name)
        self.fingerprint = "stuck@1"

    async def edit(self, request):
        with open("begun", "w"):
            await asyncio.to_thread(time.sleep, 30)


class Blocking(Stuck):
    """Hangs without giving way to anything else."""

    async def edit(self, request):
        open("begun", "w").close()
        time.sleep(30)
'''


@pytest.fixture
def slow_world(world: World) -> World:
    """The world with a metric that takes half a minute and an editor that hangs."""
    (world.root / "plugins" / "slow_parts.py").write_text(SLOW)
    points = world.root / "plugins" / "paid_editor-1.0.dist-info" / "entry_points.txt"
    points.write_text(
        points.read_text()
        + "stuck = slow_parts:Stuck\nblocking = slow_parts:Blocking\n[convergebench.metrics]\nslow = slow_parts:slow\n"
    )
    return world


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120  # a busy machine starts processes slowly
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def uses_memory(process: int) -> bool:
    """Whether a worker has loaded what it measures with."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) > 10_000


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see other processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_measuring_that_is_stopped_leaves_no_process_behind(
    slow_world: World, start: Start, number: signal.Signals
) -> None:
    slow_world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    process = start("measure", "runs/one", "--metric", "slow", "--workers", "2")
    wait_until(lambda: sum(map(uses_memory, children(process.pid))) == 2)
    time.sleep(1.0)
    workers = children(process.pid)
    begun = time.monotonic()
    for target in [process.pid, *workers] if number == signal.SIGINT else [process.pid]:  # as a terminal would
        os.kill(target, number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10
    assert "Traceback" not in out + err
    if number == signal.SIGKILL:
        assert process.returncode == -9
    else:
        assert process.returncode == 130
        assert err == "stopped; run the same command to continue\n"
    wait_until(lambda: not any(map(alive, workers)))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see other processes")
def test_a_worker_that_is_killed_is_told_in_one_line(slow_world: World, start: Start) -> None:
    slow_world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    process = start("measure", "runs/one", "--metric", "slow", "--workers", "2")
    wait_until(lambda: sum(map(uses_memory, children(process.pid))) == 2)
    os.kill(next(filter(uses_memory, children(process.pid))), signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.startswith("error: a measuring process was killed")
    assert "--workers 1" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("editor", ["stuck", "blocking"])
def test_the_second_ctrl_c_leaves_at_once_though_an_editor_hangs(slow_world: World, start: Start, editor: str) -> None:
    process = start("run", "study.toml", "--run", "runs/stuck", "--editor", editor, "--no-report")
    wait_until((slow_world.root / "begun").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "the first lets calls in flight come home"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "calls in flight unfinished; run the same command to continue" in out
    assert err == ""
