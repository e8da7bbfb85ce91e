"""`cbench demo`: says what it needs before it does anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from convergebench.cli import demo
from convergebench.studies.shipped import shipped_studies
from tests.cli.in_process import cbench

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


def test_it_needs_what_make_demo_sets_up() -> None:
    (extras,) = re.findall(r"\.demo:.*\n\t\$\(PIP\) -e '\.(\[[\w,]+\])'", MAKEFILE)
    (weights,) = re.findall(r"^demo:.*\n\t\$\(BIN\)/cbench weights fetch (.+)$", MAKEFILE, re.M)
    assert f"convergebench{extras}" == demo.EXTRAS
    assert tuple(weights.split()) == demo.WEIGHTS
    assert {"demo", "demo-light"} <= shipped_studies().keys()


def test_without_the_packages_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "MODULES", ("torch_that_nobody_has",))
    done = cbench("demo")
    assert done.code == 2
    assert done.err == (
        'error: the demo needs torch_that_nobody_has: pip install "convergebench[learned,restorers,vision]" '
        "(or without them: cbench demo --light)\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_light_one_runs_the_light_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    small = shipped_studies()["demo-light"].read_text(encoding="utf-8")
    small = small.replace("limit = 8", "limit = 1").replace("rounds = 3", "rounds = 1")
    assert small.count("= 1\n") == 2
    (tmp_path / "demo-light").write_text(small)  # a file of that name wins
    done = cbench("demo", "--light", "--run", "runs/tried")
    assert done.code == 0, done.err
    assert (tmp_path / "runs" / "tried" / "report" / "index.html").is_file()
