"""What tests of received runs share: secrets, a study, hostile roles, and ways to change a run behind its back."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from convergebench.cli.main import main
from tests.cli.received.watching import Witness

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI0123456789",
    "GITHUB_TOKEN": "ghp_0123456789abcdefghij",
    "OPENAI_API_KEY": "sk-0123456789abcdefghij",
}
STRANGE = "stranger_module"
OUTSIDE = "somewhere_else"
STUDY = """
study = "roundtrip"
editors = ["sim-tint"]
[roundtrip]
rounds = 1
[images]
suite = "{suite}"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["rmse", "ssim", "judge-happened", "self-evaluation"]
[analysis]
draws = 200
chain_draws = 50
permutations = 99
"""


class Said(NamedTuple):
    code: int
    out: str
    err: str


def typed(*words: str | Path) -> Said:
    """`cbench` in this process, with one worker: starting helpers would take longer than the work."""
    with pytest.MonkeyPatch.context() as change, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        change.setattr(os, "cpu_count", lambda: 1)
        change.setattr(sys, "argv", ["cbench", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Said(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def rewrite(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads((run / "manifest.json").read_text())
    change(content)
    (run / "manifest.json").write_text(json.dumps(content))


def served(witness: Witness, **more: Any) -> dict[str, Any]:
    return {"kind": "served", "base_url": f"{witness.address}/v1", "model": "m", "key": "AWS_SECRET_ACCESS_KEY", **more}


def with_roles(**roles: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        content["spec"]["roles"] = roles
        content["metrics"].update({"rubric-quality": "x@1", "visualquality-r1": "x@1"})

    return change


def change_database(run: Path, *statements: str) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
