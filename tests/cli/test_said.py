"""Nothing changes quietly: what the terminal says about the score, the time and the report."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console

from convergebench.report import terminal
from convergebench.report.input import ReportInput
from convergebench.report.restoration_summary import MethodLine, RestorationSummary
from tests.cli.conftest import World


def test_a_score_without_one_of_its_metrics_says_so(world: World) -> None:
    said = world.cbench("run", "study.toml", "--editor", "sim-tint", "--run", "runs/one").stdout
    flat = " ".join(said.split())
    assert "The score is without lpips, not measured here; it changes once measured: cbench measure runs/one -m" in flat
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace("[analysis]", '[analysis]\nquality = ["ssim"]'))
    said = world.cbench("run", "study.toml", "--editor", "sim-tint", "--run", "runs/two").stdout
    assert "not measured here" not in said


def test_writing_the_report_shows_how_far_it_is(world: World) -> None:
    lines = world.cbench("run", "study.toml", "--editor", "sim-tint", "--run", "runs/one").stdout.splitlines()
    (at,) = [place for place, line in enumerate(lines) if line.startswith("reporting ")]
    assert lines[at - 1].startswith("measuring ")
    done = re.fullmatch(r"reporting (\d+)/(\d+) parts · (\d+)/(\d+) sections · .* taken", lines[at])
    assert done is not None, lines[at]
    assert (done[1], done[3]) == (done[2], done[4])


def test_a_forecast_tells_seconds_and_what_comes_after_editing(world: World) -> None:
    said = world.cbench("run", "study.toml", "--dry-run").stdout
    assert re.search(r"at most 48 calls, \$0\.00, about (under 1|\d+) s \(", said), said
    assert re.search(r"^then measuring and the report: about \d+ s on this machine$", said, re.M)
    assert " h " not in said
    assert max(len(line) for line in said.splitlines()[1:4]) <= 80


def test_a_long_name_does_not_widen_the_forecast(world: World) -> None:
    study = world.root / "study.toml"
    name = "sim-" + "long" * 14
    study.write_text(
        study.read_text().replace('["sim-perfect", "sim-tint"]', f'[{{ name = "{name}", use = "sim-tint" }}]')
    )
    lines = world.cbench("run", "study.toml", "--dry-run").stdout.splitlines()
    assert max(map(len, lines[1:3])) <= 80
    assert lines[2].startswith("sim-longlong")


def test_the_table_of_restorers_fits_and_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = (
        "method",
        "a-long-metric-psnr",
        "gain",
        "interval",
        "another-metric-lpips",
        "third-metric-piqe",
        "delivered",
    )
    cells = ("25.70", "+0.12", "0.01 to 0.23", "0.711", "56.684", "100 %")
    found = RestorationSummary(heads, (MethodLine("m" * 22, cells),), ())
    monkeypatch.setattr(terminal, "_marks", lambda given, editor: "")
    console = Console(width=80, record=True, file=StringIO())
    console.print(terminal._restoration_table(object.__new__(ReportInput), found, False, console))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()}
    assert words <= {*heads, "m" * 22, *(part for cell in cells for part in cell.split())}
    assert {"method", "a-long-metric-psnr", "delivered"} <= words
