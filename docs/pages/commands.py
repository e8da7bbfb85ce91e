"""`docs/reference/commands.md`: what `--help` says, command by command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.testing import CliRunner

from convergebench.cli.main import app

HEAD = """# Commands

`convergebench` is the long name of the same program.

| exit code | meaning |
| --- | --- |
| 0 | done; chains that failed while others finished are listed on stderr |
| 1 | no chain was finished and some failed; `cbench claims --strict`: one does not hold |
| 2 | a mistake in the command, the study file or the data, in one line on stderr |
| 3 | stopped by `--max-cost`, or no editor left; the same command continues. `cbench import`: some chains failed |
| 4 | done, but a check failed: `--fail-under` and `--no-worse-than` of `cbench run`, `--fail-over` of `cbench filter` |
| 70 | a bug in this package: one line on stderr that names a file for the bug report |
| 74 | done, but standard output could not be written |
| 130 | stopped by Ctrl-C or SIGTERM; the same command continues |
| 141 | the reader of the output closed it |
"""


def page() -> str:
    """Every command's own help."""
    parts = [HEAD]
    for words in command_words():
        parts.append(f"## {' '.join(['cbench', *words])}\n\n```text\n{help_of(words)}\n```\n")
    return "\n".join(parts)


def command_words() -> list[tuple[str, ...]]:
    """`()`, `("run",)`, `("suite", "show")` …: every command there is, in the order of the help."""
    return list(_walk(typer.main.get_command(app), ()))


def help_of(words: tuple[str, ...]) -> str:
    """The help text at eighty columns."""
    said = CliRunner().invoke(app, [*words, "--help"], prog_name="cbench", env={"COLUMNS": "80", "NO_COLOR": "1"})
    if said.exit_code != 0:
        raise RuntimeError(f"cbench {' '.join(words)} --help failed: {said.output}")
    return "\n".join(line.rstrip() for line in said.output.strip().splitlines())


def _walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, (*words, name))
