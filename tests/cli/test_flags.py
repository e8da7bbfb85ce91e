"""Flags that nobody meant are told in one line before anything is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from convergebench.cli.main import app
from convergebench.errors import ConvergeBenchError
from convergebench.images.encode import encode_png
from convergebench.texts import one_line

STUDY = """
editors = ["sim-perfect"]
[roundtrip]
rounds = 1
[images]
suite = "SUITE"
[edits]
pairs = ["red-ball"]
[measure]
metrics = ["psnr"]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("flags")
    (root / "suite").mkdir()
    (root / "suite" / "a.png").write_bytes(encode_png(np.zeros((32, 32, 3), np.uint8)))
    (root / "study.toml").write_text(STUDY.replace("SUITE", str(root / "suite")), encoding="utf-8")
    return root / "study.toml"


@pytest.mark.parametrize(
    "flags",
    [
        ("--max-cost", "nan"),
        ("--max-cost", "inf"),
        ("--max-cost", "-1"),
        ("--workers", "1000000000"),
        ("--workers", "0"),
        ("--rounds", "1000000000"),
        ("--rounds", "0"),
        ("--limit", "0"),
        ("--limit", str(2**63)),
        ("--align", "x"),
        ("--metric", "x"),
        ("--metric", "\udcff"),
        ("--editor", "\udcff"),
        ("--editor", ""),
        ("--suite", "\udcff"),
        ("--suite", "y" * 5000),
        ("--run", "\udcff"),
        ("--run", "y" * 5000),
    ],
)
@pytest.mark.parametrize("dry", [("--dry-run",), ()])
def test_a_flag_that_makes_no_sense_ends_the_command_before_it_begins(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, str], dry: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", str(study), "--no-report", *flags, *dry])
    assert done.exit_code != 0
    assert isinstance(done.exception, ConvergeBenchError | SystemExit | OSError), done.exception
    if isinstance(done.exception, ConvergeBenchError):
        assert one_line(str(done.exception)).count("\n") == 0
    assert list(tmp_path.rglob("run.sqlite")) == []


def test_a_study_file_whose_name_is_no_text_is_told(study: Path, tmp_path: Path) -> None:
    odd = tmp_path / "\udcff.toml"
    odd.write_bytes(study.read_bytes())
    done = CliRunner().invoke(app, ["run", str(odd), "--dry-run"])
    assert "not valid Unicode" in str(done.exception)


def test_a_metric_that_is_named_twice_is_one(study: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(study), "--metric", "psnr", "--metric", "psnr", "--dry-run"])
    assert done.exit_code == 0
    assert "1 metrics" in done.stdout


@pytest.mark.parametrize("command", ["measure", "audit"])
def test_the_limit_of_other_commands_is_a_number_too(tmp_path: Path, command: str) -> None:
    assert CliRunner().invoke(app, [command, str(tmp_path), "--max-cost", "nan"]).exit_code == 2
    done = CliRunner().invoke(app, [command, str(tmp_path), "--max-cost", "inf"])
    assert "--max-cost inf" in str(done.exception)


@pytest.mark.parametrize(
    ("table", "said"),
    [("seed = -1", "analysis.seed"), ('quality = ["psnr"]', "it has no area"), ('level = "x"', "ssim has noticeable")],
)
@pytest.mark.parametrize("dry", [("--dry-run",), ()])
def test_a_constant_of_the_analysis_is_told_before_the_first_call(
    study: Path, tmp_path: Path, table: str, said: str, dry: tuple[str, ...]
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(study.read_text(encoding="utf-8") + f"[analysis]\n{table}\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(path), "--run", str(tmp_path / "run"), *dry])
    assert said in str(done.exception)
    assert not (tmp_path / "run").exists()
