"""Carry out what a page tells its reader to type, in a folder of its own, with real commands on a tiny suite."""

from __future__ import annotations

import linecache
import os
import runpy
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convergebench import registry
from convergebench.cli.main import main
from convergebench.editors.models import table
from tests.docs.accounts import FOLLOWED, NOT_RUN
from tests.docs.blocks import ROOT, Block, Typed, agrees, blocks, lines, typed
from tests.docs.tiny import make_chains, make_pictures, make_studies, tiny


class Reader:
    """Somebody who does what the page says."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._monkeypatch, self._capsys = root, monkeypatch, capsys
        monkeypatch.chdir(root)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(os, "cpu_count", lambda: 1)  # one process: starting helpers would take longer than the work
        self.instead: dict[str, str] = {}
        """Words of a page → what stands for them here: the address of a server."""
        self.before: dict[str, Callable[[], object]] = {}
        """How a command begins → what a page's reader has done by then: answered questions, fetched a set."""
        self.names: dict[str, Any] = {"__name__": "page"}
        """What Python blocks that are in no file share."""
        forget_plugins()
        make_pictures(root)
        make_chains(root)
        make_studies(root)

    def page(self, name: str) -> int:
        """Do everything that a page says, except what `NOT_RUN` lists; returns how many commands were run."""
        assert name in FOLLOWED, f"{name} is followed by a test that tests/docs/accounts.py does not name"
        return self.follow(blocks(ROOT / name))

    def follow(self, page: list[Block]) -> int:
        """Write the files, type the commands; returns how many were really run."""
        count = 0
        for block in page:
            if block.file is not None:
                path = self.root / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._here(tiny(block.text)) + "\n", encoding="utf-8")
            elif block.language in ("console", "sh"):
                count += self._block(block)
            elif block.language == "python":
                self._exec(block)
            else:
                assert block.language in ("text", ""), f"a block of {block.language} needs a file: {block.text[:60]}"
        return count

    def _block(self, block: Block) -> int:
        commands = list(typed(block.text)) if block.language == "console" else list(lines(block.text))
        told = [command for command in commands if command.text not in NOT_RUN]
        for command in told:
            self._type(command, exit_code=block.exit if command is commands[-1] else 0)
        return len(told)

    def _exec(self, block: Block) -> None:
        file, text = f"<block {len(linecache.cache)}>", tiny(block.text)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), self.names)

    def _type(self, command: Typed, *, exit_code: int) -> None:
        for begin, prepare in self.before.items():
            if command.text.startswith(begin):
                prepare()
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
