"""A small world for the command line: a folder of images, a study, and editors that come in as plug-ins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from tests.cli.inside import run_inside

PLUGIN = '''
"""A paid, slow editor, as a third party would write one."""
import asyncio
import os

from convergebench import Capabilities, Edited, EditRequest, Limits


class Paid:
    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name = name
        self.fingerprint = f"paid@1"
        self.capabilities = Capabilities(dollars_per_call=0.04, seconds_per_call=12.0)
        self.limits = Limits(at_once=2)
        self.seconds = seconds

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(self.seconds)
        with open(os.environ["PAID_LOG"], "a") as log:
            log.write(f"{request.case} {request.index}\\n")
        return Edited(request.image, "image/png", "paid-1", dollars=0.04)
'''

STUDY = """
study = "roundtrip"
editors = ["sim-perfect", "sim-tint"]
[roundtrip]
rounds = 3
[images]
suite = "{suite}"
[edits]
pairs = ["flip-horizontal", "red-ball"]
[measure]
metrics = ["psnr", "ssim", "rmse", "gist", "happened", "undone", "returned-width"]
[analysis]
draws = 200
"""


class World:
    """Where a test's files are, and a way to run `cbench` there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "paid.log"
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(root / "plugins"), os.environ.get("PYTHONPATH", "")])),
            "PAID_LOG": str(self.log),
            "COLUMNS": "80",
            "CONVERGEBENCH_CACHE": str(root / "cache"),
        }

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "convergebench.cli.main", *words]

    def cbench(self, *words: str, ok: bool = True, apart: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; `apart`: in a process of its own, which takes seconds more."""
        done = self._apart(*words) if apart else run_inside(words, self.root, self.environment)
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def _apart(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=120
        )

    @property
    def calls(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two 48-pixel scenes, a study, and the plug-in `paid`."""
    return make_world(tmp_path)


def make_world(tmp_path: Path) -> World:
    """The same in any folder, for a fixture of its own."""
    for index in range(2):
        pixels = np.random.default_rng(index).integers(0, 256, (6, 6, 3), np.uint8).repeat(16, 0).repeat(16, 1)
        path = tmp_path / "pictures" / "scene" / f"scene-{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(pixels))
    (tmp_path / "study.toml").write_text(STUDY.format(suite="pictures"))
    plugins = tmp_path / "plugins"
    info = plugins / "paid_editor-1.0.dist-info"
    info.mkdir(parents=True)
    (plugins / "paid_editor.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paid-editor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[convergebench.editors]\npaid = paid_editor:Paid\n")
    return World(tmp_path)


@pytest.fixture
def start(world: World) -> Callable[..., subprocess.Popen[str]]:
    """Start a command without waiting for it."""

    def begin(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            world.command(*words),
            cwd=world.root,
            env=world.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return begin
