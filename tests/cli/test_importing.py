"""`cbench import` of other people's sets: what it says, what it refuses, and that nothing is left half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

from convergebench.cli.importing import import_recordings
from convergebench.cli.measuring import measure
from convergebench.conductor import begin, importing
from convergebench.conductor.analyse import report_input
from convergebench.errors import StudyError
from convergebench.report.html import write_report
from convergebench.store.frames import RunFrames
from convergebench.store.verify import problems
from tests.cli.conftest import World
from tests.datasets import sets


def test_a_set_is_known_measured_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.mse_bench(tmp_path / "mse")
    run = tmp_path / "run"
    import_recordings(tmp_path / "mse", run, editor="model_a")
    said = capsys.readouterr().out
    assert "read as mse-bench: 2 Parquet files with turn_0_image; 4 chains" in said
    assert f"2 chains, 10 edits by model_a in {run}" in said
    assert f"next    cbench measure {run} --metric replicate" in said
    measure([run], metric=["background-ssim", "sharpness"], workers=1)
    table = pl.read_parquet(run / "tables" / "measurements.parquet")
    assert table.filter(pl.col("metric") == "background-ssim")["status"].to_list() == ["ok"] * 10
    assert "model_a" in write_report(report_input(run), run / "report").read_text()
    assert problems(run) == []


def test_broken_chains_stop_the_import_until_they_are_left_out_by_name(world: World) -> None:
    folder = sets.pico(world.root / "pico", {"1_a": 2, "2_a": 2, "3_a": 2})
    (folder / "photographs" / "1_a_o.jpg").unlink()
    whole = folder / "images" / "multi-turn" / "2_a_turn2.png"
    whole.write_bytes(whole.read_bytes()[:-30])
    importing = ("import", "pico", "--run", "runs/pico")
    refused = world.cbench(*importing, ok=False)
    assert refused.stderr.count("\n") == 1
    assert "no file 1_a_o.jpg" in refused.stderr
    assert "and 1 more; nothing was imported" in refused.stderr
    assert "--skip-broken" in refused.stderr
    assert not (world.root / "runs").exists()
    said = world.cbench(*importing, "--skip-broken").stdout
    assert "left out: multi-turn.jsonl, line 1" in said
    assert "2_a_turn2.png is cut short" in said
    assert "1 chains, 2 edits by nano-banana in runs/pico" in said
    assert len((world.root / "runs/pico/left-out.txt").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"layout": "pico"}, "it looks like --as banana100"),
        ({"layout": "banana"}, "did you mean 'banana100'"),
        ({"kind": "scenery"}, "did you mean 'scene'"),
        ({"images": Path("nowhere")}, "--images nowhere is not a folder"),
        ({}, "--variant replicate"),
        ({"variant": "replicat"}, "did you mean 'replicate'"),
    ],
)
def test_mistakes_are_one_line_that_says_what_to_type(flags: dict[str, Any], message: str, tmp_path: Path) -> None:
    sets.copies(tmp_path / "copies", variant="by-hand")
    with pytest.raises(StudyError, match=message) as error:
        import_recordings(tmp_path / "copies", tmp_path / "run", **flags)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_flags_fill_in_what_a_set_leaves_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.copies(tmp_path / "copies", variant="by-hand")
    flags: dict[str, Any] = {"editor": "by-me", "kind": "object", "variant": "replicate"}
    import_recordings(tmp_path / "copies", tmp_path / "run", limit=1, **flags)
    import_recordings(tmp_path / "copies", tmp_path / "run", **flags)
    assert "2 chains, 6 edits by by-me" in capsys.readouterr().out
    chains = RunFrames(tmp_path / "run").chains()
    assert chains.select("editor", "case", "kind", "pair").rows() == [
        ("by-me", f"rice/by-hand/{run}", "object", "replicate") for run in (0, 1)
    ]


def test_chains_that_failed_are_told_and_the_command_does_not_end_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sets.copies(tmp_path / "copies")
    truly = begin.begin

    def damaged_meanwhile(*given: Any) -> Any:
        """A disk that gives other bytes once everything was looked at."""
        path = folder / "rice" / "replicate" / "run-0" / "step-002.png"
        path.write_bytes(path.read_bytes()[:-200])
        return truly(*given)

    monkeypatch.setattr(importing, "begin", damaged_meanwhile)
    with pytest.raises(typer.Exit) as ended:
        import_recordings(folder, tmp_path / "run", editor="by-me")
    assert ended.value.exit_code == 3
    said = capsys.readouterr()
    assert "1 chains, 3 edits by by-me" in said.out
    assert "1 chain failed; the same command tries again. by-me, rice/replicate/0:" in said.err


def test_names_cannot_steer_the_terminal(world: World) -> None:
    named = "\x1b[31mred\x1b[0m\nerror: something else\u202e"
    rows = [
        {"file_name": f"{image}{step}.png", "step": step, "image": name, "model": "m", "prompt": sets.COPY}
        for image, name, last in (("a", named, 0), ("b", "b", 1))
        for step in range(last + 1)
    ]
    for row in rows:
        sets.save(world.root / "set" / str(row["file_name"]), sets.png(sets.scene()))
    sets.save(world.root / "set" / "metadata.jsonl", "\n".join(map(json.dumps, rows)).encode())
    refused = world.cbench("import", "set", "--run", "run", ok=False)
    assert refused.stderr.count("\n") == 1
    assert r"chain '\u001b[31mred\u001b[0m error: something else\u202e/recorded/0'" in refused.stderr
    said = world.cbench("import", "set", "--run", "run", "--skip-broken").stdout
    assert "\x1b" not in said
    assert len((world.root / "run" / "left-out.txt").read_text().splitlines()) == 1
