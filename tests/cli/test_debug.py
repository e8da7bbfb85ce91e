"""`--debug`, before or after the command: where foreign code failed, without keys; without it, one line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import convergebench
from tests.cli.conftest import World

SECRET = "sk-0123456789-do-not-tell"
BROKEN = """
import os

def broken(image, instruction):
    raise ValueError("sent " + os.environ["BROKEN_API_KEY"])
"""


def failed(world: World, *words: str) -> subprocess.CompletedProcess[str]:
    (world.root / "mine.py").write_text(BROKEN)
    run = ("run", "study.toml", "--editor", "mine.py:broken", "--rounds", "1", "--no-report", "--workers", "1")
    typed = [*filter(None, words[:1]), *run, *words[1:], "--run", "broken"]
    here = str(Path(convergebench.__file__).parents[1])
    done = subprocess.run(
        world.command(*typed),
        cwd=world.root,
        env={**world.environment, "BROKEN_API_KEY": SECRET, "PYTHONPATH": here},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert "ValueError: sent …" in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("place", ["before", "after", "nowhere"])
def test_a_traceback_is_shown_when_it_is_asked_for(world: World, place: str) -> None:
    words = {"before": ("--debug",), "after": ("--no-report", "--debug"), "nowhere": ("--no-report",)}[place]
    done = failed(world, *words) if place == "before" else failed(world, "", *words)
    assert ("mine.py" in done.stderr and "in broken" in done.stderr) == (place != "nowhere")
    assert ("Traceback" in done.stderr) == (place != "nowhere")
