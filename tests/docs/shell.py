"""Carry out what a page tells its reader to type, in a folder of its own, with real commands on a tiny suite."""

from __future__ import annotations

import os
import re
import runpy
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from convergebench import registry
from convergebench.cli.main import main
from convergebench.editors.models import table
from convergebench.images.encode import encode_png
from tests.docs.blocks import ROOT, Block, Typed, agrees, typed

PICTURES = ("face/anna", "object/cup", "scene/room", "scene/street")
CHAINS = ("scene_01_chair_add_remove", "portrait_02_hat_add_remove")


class Reader:
    """Somebody who does what the page says."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._monkeypatch, self._capsys = root, monkeypatch, capsys
        monkeypatch.chdir(root)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(os, "cpu_count", lambda: 1)  # one process: starting helpers would take longer than the work
        self.instead: dict[str, str] = {}
        """Words of a page → what stands for them here: the address of a server."""
        forget_plugins()
        make_pictures(root)
        make_chains(root)
        make_studies(root)

    def follow(self, page: list[Block]) -> int:
        """Write the files, type the commands; returns how many were really run."""
        count = 0
        for block in page:
            if block.file is not None:
                path = self.root / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._here(_tiny(block.text)) + "\n", encoding="utf-8")
            elif block.language == "console":
                commands = list(typed(block.text))
                for place, command in enumerate(commands):
                    self._type(command, exit_code=block.exit if place == len(commands) - 1 else 0)
                    count += 1
            else:
                assert block.language == "text", f"a block of {block.language} needs a file: {block.text[:60]}"
        return count

    def _type(self, command: Typed, *, exit_code: int) -> None:
        program, *words = command.words
        self._capsys.readouterr()
        programs = {"cbench": self._cbench, "pip": self._pip, "python": self._python, "export": self._export}
        code = programs[program](words)
        said = "".join(self._capsys.readouterr())
        assert code == exit_code, f"{' '.join(command.words)}\n{said}"
        assert agrees(command.shown, said), f"{' '.join(command.words)}\nshown: {command.shown}\nsaid:\n{said}"

    def _here(self, text: str) -> str:
        for word, here in self.instead.items():
            text = text.replace(word, here)
        return text

    def _export(self, words: list[str]) -> int:
        for word in words:
            self._monkeypatch.setenv(*word.split("=", 1))
        return 0

    def _cbench(self, words: list[str]) -> int:
        self._monkeypatch.setattr(sys, "argv", ["cbench", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    def _python(self, words: list[str]) -> int:
        runpy.run_path(words[0], run_name="__main__")
        return 0

    def _pip(self, words: list[str]) -> int:
        """What `pip install -e FOLDER` leaves behind: the folder on the path, and its entry points."""
        assert words[:2] == ["install", "-e"], words
        folder = self.root / words[2]
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        lines = []
        for group, names in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in names.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        self._monkeypatch.syspath_prepend(str(folder))
        forget_plugins()
        return 0


def forget_plugins() -> None:
    """What is installed is looked up once; a page that installs something wants it looked up anew."""
    registry._plugins.cache_clear()
    table.models.cache_clear()
    table._names.cache_clear()


def _tiny(text: str) -> str:
    """Pages speak of the suite `quick`; here a folder with a few small pictures stands in for it."""
    return text.replace('suite = "quick"', 'suite = "my-pictures"').replace(
        'load_suite("quick")', 'load_suite("my-pictures")'
    )


def make_pictures(root: Path) -> None:
    for seed, name in enumerate(PICTURES):
        path = root / "my-pictures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(seed))


def make_chains(root: Path) -> None:
    """Two recorded chains of two rounds."""
    for seed, name in enumerate(CHAINS):
        folder = root / "published" / name
        folder.mkdir(parents=True)
        for step, file in enumerate(("I0_source", "I1_forward", "I1_backward", "I2_forward", "I2_backward")):
            (folder / f"{file}.png").write_bytes(picture(seed, worn=step))


def make_studies(root: Path) -> None:
    """The published study files, on the small pictures, with fewer rounds, pairs and editors."""
    (root / "studies").mkdir()
    text = _tiny((ROOT / "studies" / "demo.toml").read_text(encoding="utf-8"))
    content = tomllib.loads(text)
    text = text.replace(f"rounds = {content['roundtrip']['rounds']}", "rounds = 2")
    text = text.replace('pairs = ["hat", "red-ball"]', 'pairs = ["flip-horizontal", "red-ball"]')
    assert "flip-horizontal" in text
    text, replaced = re.subn(r"^editors = \[.*?^\]$", 'editors = ["sim-perfect", "sim-jpeg"]', text, flags=re.M | re.S)
    assert replaced == 1
    (root / "studies" / "demo.toml").write_text(text.replace("[analysis]", "[analysis]\ndraws = 200"), encoding="utf-8")


def picture(seed: int, *, worn: int = 0) -> bytes:
    """64 pixels of soft patches; `worn` steps of noise on top."""
    patches = np.random.default_rng(seed).integers(40, 216, (8, 8, 3)).repeat(8, 0).repeat(8, 1)
    noise = np.random.default_rng(100 + worn).normal(0, 4 * worn, patches.shape)
    return encode_png(np.clip(patches + noise, 0, 255).astype(np.uint8))
