"""`cbench run` from the outside: what a person types and what they get."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import World

COLUMNS = [
    "editor", "case", "source", "kind", "pair", "category", "replicate", "round", "step", "metric", "value", "status",
]  # fmt: skip


def test_a_study_runs_from_file_to_report(world: World) -> None:
    world.environment.pop("CONVERGEBENCH_PLOTS")
    said = world.cbench("run", "study.toml", "--run", "runs/one", apart=True).stdout
    assert "sim-perfect" in said
    assert "runs/one/report/index.html" in said
    run = world.root / "runs" / "one"
    assert (run / "report" / "index.html").exists()
    table = pl.read_parquet(run / "tables" / "measurements.parquet")
    assert table.columns[: len(COLUMNS)] == COLUMNS
    assert pl.read_csv(run / "tables" / "measurements.csv").columns[: len(COLUMNS)] == COLUMNS
    psnr = table.filter(pl.col("metric") == "psnr")
    assert psnr.height == 2 * 4 * 3, "two editors, four cases, three rounds"
    assert psnr.select("editor", "case", "round").is_duplicated().any() is False
    assert psnr.filter(pl.col("editor") == "sim-perfect")["value"].is_infinite().all()
    plots = run / "report" / "plots"
    assert {path.suffix for path in plots.iterdir()} == {".png", ".svg", ".pdf"}
    assert (run / "tables" / "ranking.tex").exists()
    world.cbench("report", "runs/one", "--plots", "svg")
    assert {path.suffix for path in plots.iterdir()} == {".svg"}
    assert "figures for print" in (run / "report" / "index.html").read_text(encoding="utf-8")
    world.cbench("report", "runs/one", "--plots", "none")
    assert list(plots.iterdir()) == []
    assert "figures for print" not in (run / "report" / "index.html").read_text(encoding="utf-8")
    assert "--plots jpg: use png, svg, pdf" in world.cbench("report", "runs/one", "--plots", "jpg", ok=False).stderr


def test_the_same_command_goes_on_and_growing_goes_on(world: World) -> None:
    study = ("run", "study.toml", "--run", "runs/grow", "--editor", "paid", "--no-report")
    world.cbench(*study)
    assert world.calls == 4 * 6
    world.cbench(*study)
    assert world.calls == 4 * 6
    world.cbench(*study, "--rounds", "5")
    assert world.calls == 4 * 10


def test_a_dry_run_prints_cases_calls_dollars_hours_and_does_nothing(world: World) -> None:
    said = world.cbench("run", "study.toml", "--run", "runs/dry", "--editor", "paid", "--dry-run").stdout
    assert "4 cases" in said
    assert "at most 24 calls, $0.96, about 2 min" in said
    assert not (world.root / "runs").exists()
    assert world.calls == 0


def test_max_cost_stops_before_the_call_and_says_how_to_go_on(world: World) -> None:
    stopped = world.cbench(
        "run", "study.toml", "--editor", "paid", "--run", "runs/paid", "--max-cost", "0.30", ok=False
    )
    assert stopped.returncode == 3
    assert world.calls == 7
    assert "would exceed --max-cost $0.30" in stopped.stdout
    assert "higher --max-cost" in stopped.stdout
    world.cbench("run", "study.toml", "--editor", "paid", "--run", "runs/paid", "--max-cost", "2", "--no-report")
    assert world.calls == 24


def test_reuse_answers_from_another_run(world: World) -> None:
    world.cbench("run", "study.toml", "--editor", "paid", "--run", "runs/first", "--no-report")
    world.cbench(
        "run", "study.toml", "--editor", "paid", "--run", "runs/second", "--reuse", "runs/first", "--no-report"
    )
    assert world.calls == 24


def test_ctrl_c_is_clean_and_the_same_command_goes_on(
    world: World, start: Callable[..., subprocess.Popen[str]]
) -> None:
    study = world.root / "study.toml"
    slow = 'editors = [{ name = "paid", use = "paid", seconds = 0.2 }]'
    study.write_text(study.read_text().replace('editors = ["sim-perfect", "sim-tint"]', slow))
    process = start("run", "study.toml", "--run", "runs/cut", "--no-report")
    deadline = time.monotonic() + 30
    while world.calls < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, out + err
    assert "run the same command to continue" in out
    assert "Traceback" not in err
    before = world.calls
    assert before < 24
    world.cbench("verify", "runs/cut")
    world.cbench("run", "study.toml", "--run", "runs/cut", "--no-report")
    assert world.calls == 24, "calls in flight came home, so none was paid twice"


def test_a_second_process_on_one_run_is_told_so(world: World, start: Callable[..., subprocess.Popen[str]]) -> None:
    study = world.root / "study.toml"
    slow = 'editors = [{ name = "paid", use = "paid", seconds = 0.3 }]'
    study.write_text(study.read_text().replace('editors = ["sim-perfect", "sim-tint"]', slow))
    first = start("run", "study.toml", "--run", "runs/two", "--no-report")
    deadline = time.monotonic() + 30
    while world.calls < 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    second = world.cbench("run", "study.toml", "--run", "runs/two", ok=False)
    assert second.returncode == 2
    assert f"is being written by process {first.pid}" in second.stderr
    assert "paid" in world.cbench("show", "runs/two").stdout, "looking is allowed"
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert world.calls == 24


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "study.toml", "--editor", "sim-jepg"], "unknown editor 'sim-jepg'; did you mean 'sim-jpeg'?"),
        (["run", "study.toml", "--metric", "psrn"], "unknown metric 'psrn'; did you mean 'psnr'?"),
        (["run", "study.toml", "--suite", "quik"], "quick"),
        (["run", "nothing.toml"], "no study file at nothing.toml"),
        (["show", "runs/none"], "runs/none is not a run"),
        (["measure", "runs/none"], "runs/none is not a run"),
        (["import", "nowhere", "--run", "runs/x", "--editor", "y"], "nowhere"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_type(world: World, words: list[str], said: str) -> None:
    failed = world.cbench(*words, ok=False)
    assert failed.returncode == 2
    assert said in failed.stderr
    assert failed.stderr.startswith("error: ")
    assert failed.stderr.count("\n") == 1
    assert not (world.root / "runs").exists()


def test_a_changed_image_under_the_same_name_stops_and_shows_the_difference(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    one, two = sorted((world.root / "pictures" / "scene").glob("*.png"))
    one.write_bytes(two.read_bytes())
    before = (world.root / "runs" / "one" / "manifest.json").read_bytes()
    failed = world.cbench("run", "study.toml", "--run", "runs/one", ok=False)
    assert "source scene-0, sha256" in failed.stderr
    assert (world.root / "runs" / "one" / "manifest.json").read_bytes() == before


def test_a_prompt_with_markup_in_it_is_only_text(world: World) -> None:
    pairs = world.root / "pairs.toml"
    source = Path(__file__).parents[2] / "src/convergebench/edits/data/pairs.toml"
    row = source.read_text().split("[[pair]]")[1]
    assert "forward" in row
    pairs.write_text(
        """[[pair]]
id = "sly"
category = "scene_objects"
reversibility = "preserving"
kinds = ["scene"]
forward_operation = "add"
backward_operation = "remove"

[[pair.wordings]]
forward = "add <script>alert(1)</script> a red ball"
backward = "remove [bold]the[/bold] red ball & more"
"""
    )
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace('["flip-horizontal", "red-ball"]', '["pairs.toml"]'))
    world.cbench("run", "study.toml", "--run", "runs/sly")
    pages = "".join(path.read_text() for path in (world.root / "runs/sly/report").rglob("*.html"))
    assert "<script>alert(1)" not in pages
    data = "".join(path.read_text() for path in (world.root / "runs/sly/report").rglob("*.js"))
    assert "</script>" not in data


def test_show_prints_the_ranking_as_json_too(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    shown = json.loads(world.cbench("show", "runs/one", "--json").stdout)
    assert [row["editor"] for row in shown["ranking"]] == ["sim-perfect", "sim-tint"]


def test_measuring_can_be_added_later(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    world.cbench("measure", "runs/one", "--metric", "gmsd")
    table = pl.read_parquet(world.root / "runs/one/tables/measurements.parquet")
    assert table.filter(pl.col("metric") == "gmsd").height == 24


@pytest.mark.parametrize("shelf", ["editors", "metrics", "suites", "pairs", "studies"])
def test_every_shelf_can_be_listed(world: World, shelf: str) -> None:
    rows = json.loads(world.cbench("list", shelf, "--json").stdout)
    assert rows
    if shelf == "editors":
        assert "paid" in [row["editor"] for row in rows], "a plug-in comes in by the same door"


def test_an_editor_of_the_study_keeps_its_settings_by_whichever_name_it_is_called(world: World) -> None:
    study = world.root / "study.toml"
    own = '{ name = "gemini-3-pro-image", use = "gemini-3-pro-image", settings = { resolution = "4K" } }'
    study.write_text(re.sub(r"editors = .*", f"editors = [{own}]", study.read_text(), count=1))
    by_id = world.cbench("run", "study.toml", "--editor", "gemini-3-pro-image", "--dry-run").stdout
    assert world.cbench("run", "study.toml", "--editor", "Nano Banana Pro", "--dry-run").stdout == by_id
    assert world.cbench("run", "study.toml", "--dry-run").stdout == by_id


def test_why_a_chain_failed_is_said_without_looking_for_it(world: World) -> None:
    (world.root / "odd.py").write_text(ODD)
    words = ("run", "study.toml", "--run", "runs/odd", "--no-report", "--editor", "odd:Odd")
    done = world.cbench(*words, ok=False)
    assert done.returncode == 1, "nothing came of it"
    why, end = done.stderr.splitlines()
    assert why.startswith("4 chains failed; the same command tries again. odd:Odd, scene-0/")
    assert why.endswith(": the editor gave raw as dict, which should be str | None")
    reason = "the editor gave raw as dict, which should be str | None"
    assert end == f"error: {reason} (no chain was finished: 4 of 4 failed)"
    assert world.cbench(*words, "--editor", "sim-perfect").stderr.startswith("4 chains failed"), "something came of it"


ODD = """
from convergebench import Capabilities, Edited, Limits


class Odd:
    def __init__(self, name):
        self.name, self.fingerprint = name, "odd@1"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        return Edited(request.image, request.mime, "odd", raw={})
"""
