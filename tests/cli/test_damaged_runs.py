"""Damaged runs: whatever is broken, every command says in one line what it is and what to type, and verify answers."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from convergebench.cli import mishaps
from convergebench.errors import StudyError
from convergebench.store import recover as recovering
from convergebench.store.connection import connect
from convergebench.store.verify import problems
from tests.cli.damage import Damage, damaged_copy, damages, make_run
from tests.cli.in_process import Done, cbench

COMMANDS: dict[str, Sequence[str]] = {
    "verify": (),
    "show": (),
    "measure": ("--workers", "1", "--metric", "psnr"),
    "export": ("--as", "imagefolder", "--out", "OUT"),
    "examine": ("--workers", "1"),
    "run": (),
    "recover": ("--out", "OUT"),
}
SAMPLE = 20
"""Damages of the default suite, drawn evenly from all of them."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("made"))


def typed(command: str, run: Path, out: Path, study: Path) -> Done:
    if command == "run":
        return cbench("run", study, "--run", run, "--no-report")
    return cbench(command, run, *(str(out) if word == "OUT" else word for word in COMMANDS[command]))


def require_one_line(done: Done, what: str) -> None:
    """Success, or one line about the damage; only a list of our own may follow it."""
    assert done.code in (0, 2), f"{what}: {done}"
    if done.code == 2:
        first, *others = done.err.splitlines()
        assert first.startswith("error: "), f"{what}: {done.err}"
        assert all(line.startswith("  ") for line in others), f"{what}: {done.err}"
    assert "Traceback" not in done.err, f"{what}: {done.err}"


def require_answered(name: str, damage: Damage, small: Path, folder: Path, commands: Sequence[str]) -> None:
    for command in commands:
        run = damaged_copy(small, folder / "run", damage)
        before = _content(run)
        done = typed(command, run, folder / "out", small.parent / "study.toml")
        require_one_line(done, f"{name}, {command}")
        if command == "recover":
            assert _content(run) == before, f"{name}: recover changed the old run"
            if (folder / "out").exists():
                assert problems(folder / "out") == [], name
        shutil.rmtree(run)
        shutil.rmtree(folder / "out", ignore_errors=True)


def _content(run: Path) -> dict[str, bytes]:
    """What a run holds; SQLite's index of its log is made by reading and says nothing."""
    files = (path for path in run.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in files if path.stat().st_size}


def test_no_damage_ends_in_a_traceback(small: Path, tmp_path: Path) -> None:
    every = list(damages(small))
    assert len(every) > 1000
    draw = random.Random(14)
    for index, (name, damage) in enumerate(draw.sample(every, SAMPLE)):
        commands = ["recover", ["verify", "show", "measure", "export", "examine", "run"][index % 6]]
        require_answered(name, damage, small, tmp_path, commands)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_no_damage_ends_in_a_traceback_in_full(small: Path, tmp_path: Path, part: int) -> None:
    for name, damage in list(damages(small))[part::40]:
        require_answered(name, damage, small, tmp_path, list(COMMANDS))


def test_verify_goes_on_after_each_fault_and_lists_them_all(small: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)
    image = next((run / "images").rglob("*.png"))
    image.write_bytes(b"cut")
    (run / "manifest.json").write_bytes(b"\xff\xfe")
    data = bytearray((run / "run.sqlite").read_bytes())
    data[100:] = bytes(len(data) - 100)
    (run / "run.sqlite").write_bytes(data)
    done = cbench("verify", run)
    assert done.code == 2
    assert "manifest.json is not a manifest" in done.err
    assert "database" in done.err or "run.sqlite" in done.err
    assert f"{image.relative_to(run)} has changed since it was stored" in done.err
    assert f"cbench recover {run}" in done.err.splitlines()[0]


def test_a_table_of_hostile_cells_is_told_by_verify(small: Path, tmp_path: Path) -> None:
    hostile = {
        "update attempts set dollars = 'much'": "table attempts",
        "update steps set settings = '{broken'": "settings is not JSON",
        "update labels set region = '[1, 2]'": "region is not four numbers",
        "update measurements set value = x'00ff'": "value is a bytes instead of a number",
        "update chains set detail = cast(x'ff' as text)": "detail is not UTF-8",
        "update attempts set dollars = -4": "dollars is -4",
        "update images set mime = 'image/none'": "mime is 'image/none', which is not one of: image/avif",
        "update labels set source = 'nobody'": "source is 'nobody', which is not one of: judge, person, rule",
    }
    for statement, said in hostile.items():
        run = tmp_path / "run"
        shutil.copytree(small, run)
        with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as connection:
            connection.execute(statement)
        done = cbench("verify", run)
        assert done.code == 2, statement
        assert said in done.err, statement
        shutil.rmtree(run)


def test_a_defect_is_one_line_with_a_file_for_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], small: Path
) -> None:
    from convergebench.conductor import reporting

    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError(f"sent {os.environ['PROVIDER_API_KEY']}")

    monkeypatch.setenv("PROVIDER_API_KEY", "sk-abcdefghijklmnopqrstuvwxyz0123456789")
    monkeypatch.setattr(reporting, "report_input", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = cbench("show", small)
    assert done.code == mishaps.DEFECT
    assert done.err.count("\n") == 1
    (log,) = tmp_path.glob("convergebench-*.log")
    assert str(log) in done.err
    assert "ZeroDivisionError" in log.read_text()
    assert "sk-abcdef" not in log.read_text() + done.err
    monkeypatch.setenv("CONVERGEBENCH_DEBUG", "1")
    with pytest.raises(ZeroDivisionError) as shown:
        cbench("show", small)
    sys.excepthook(shown.type, shown.value, shown.tb)
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told
    assert "sk-abcdef" not in told


# recover


def spent(run: Path) -> tuple[int, float]:
    with closing(connect(run / "run.sqlite", read_only=True)) as connection:
        calls, dollars = connection.execute("select count(*), sum(dollars) from attempts").fetchone()
    return calls, dollars


def test_a_sound_run_needs_no_recovery(small: Path, tmp_path: Path) -> None:
    done = cbench("recover", small, "--out", tmp_path / "new")
    assert (done.code, "nothing to recover" in done.out) == (0, True)
    assert not (tmp_path / "new").exists()


def test_a_lost_image_opens_its_step_and_those_after_it_and_the_same_command_closes_them(
    small: Path, tmp_path: Path
) -> None:
    run, new = tmp_path / "run", tmp_path / "new"
    shutil.copytree(small, run)
    with closing(connect(run / "run.sqlite", read_only=True)) as connection:
        query = """select s.id, i.file from chain_steps p join steps s on s.id = p.step join images i on i.id = s.image
                   where p.position = 2 order by p."case" limit 1"""
        step, file = connection.execute(query).fetchone()
    (run / file).unlink()
    done = cbench("recover", run, "--out", new)
    assert done.code == 0, done
    assert problems(new) == []
    assert spent(new) == spent(run), "what was paid for stays counted"
    with closing(connect(new / "run.sqlite", read_only=True)) as connection:
        assert connection.execute("select 1 from steps where id = ?", (step,)).fetchone() is None
        assert connection.execute("select count(*) from chains where status = 'open'").fetchone()[0] >= 1
    again = cbench("run", small.parent / "study.toml", "--run", new, "--no-report")
    assert again.code == 0, again
    assert problems(new) == []
    with closing(connect(new / "run.sqlite", read_only=True)) as connection:
        assert connection.execute("select distinct status from chains").fetchall() == [("finished",)]
        assert connection.execute("select count(*) from steps").fetchone() == (8,)


def test_rows_are_found_though_every_page_above_them_is_lost(small: Path, tmp_path: Path) -> None:
    run, new = tmp_path / "run", tmp_path / "new"
    shutil.copytree(small, run)
    data = bytearray((run / "run.sqlite").read_bytes())
    data[:4096] = bytes(4096)
    (run / "run.sqlite").write_bytes(data)
    assert cbench("recover", run, "--out", new).code == 0
    assert problems(new) == []
    assert spent(new) == spent(small)
    assert _counts(new) == _counts(small)


def test_a_lost_manifest_is_filled_in_by_the_same_study_and_by_no_other(small: Path, tmp_path: Path) -> None:
    run, new = tmp_path / "run", tmp_path / "new"
    shutil.copytree(small, run)
    (run / "manifest.json").unlink()
    done = cbench("recover", run, "--out", new)
    assert done.code == 0, done
    assert "fingerprint" in done.out
    assert problems(new) == []
    study = (small.parent / "study.toml").read_text(encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(study.replace('["sim-tint"]', '[{ name = "sim-tint", use = "sim-jpeg" }]'), encoding="utf-8")
    refused = cbench("run", other, "--run", new, "--no-report")
    assert refused.code == 2
    assert "not the editor that made its steps" in refused.err
    calls = spent(new)
    again = cbench("run", small.parent / "study.toml", "--run", new, "--no-report")
    assert again.code == 0, again
    assert spent(new) == calls, "nothing is paid twice"


def test_a_call_whose_amount_is_lost_counts_at_the_editors_price(small: Path, tmp_path: Path) -> None:
    run, new = tmp_path / "run", tmp_path / "new"
    shutil.copytree(small, run)
    with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as connection:
        connection.execute("update attempts set dollars = 0.04")
        calls = connection.execute("select count(*) from attempts").fetchone()[0]
        connection.execute("update attempts set dollars = 'x', error = x'ff' where step = (select min(id) from steps)")
    assert cbench("recover", run, "--out", new).code == 0
    assert problems(new) == []
    counted, dollars = spent(new)
    assert counted == calls
    assert dollars == pytest.approx(0.04 * calls)


def test_recover_writes_into_no_folder_that_holds_something(small: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)
    (run / "manifest.json").write_bytes(b"")
    for out in (run, run / "inside", small):
        done = cbench("recover", run, "--out", out)
        require_one_line(done, str(out))
        assert done.code == 2
    assert not (run / "inside").exists()


def test_a_disk_that_is_full_is_the_reason_that_is_told(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old run is damaged, which is why it is recovered; what stopped the command is something else."""
    run, new = tmp_path / "run", tmp_path / "new"
    shutil.copytree(small, run)
    (run / "manifest.json").unlink()

    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(recovering, "_write_database", full)
    done = cbench("recover", run, "--out", new)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert f"{new} could not be made: database or disk is full" in done.err
    assert "--out" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"], "nothing half-made is left"


@pytest.mark.parametrize("study", ["text", "roundtrip"])
def test_values_of_a_study_are_looked_at_though_its_kind_is_lost(small: Path, tmp_path: Path, study: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)
    content = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    content["spec"] |= {"study": study, "analysis": {**content["spec"]["analysis"], "exact_sources": {"a": 1}}}
    (run / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    done = cbench("verify", run)
    assert "spec.analysis.exact_sources" in done.err
    assert cbench("show", run).code == 2


def test_warnings_of_libraries_are_not_for_the_user(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.conductor import reporting

    def warning(*_: Any, **__: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("for developers", RuntimeWarning, stacklevel=1)
        raise StudyError("this is for the user")

    monkeypatch.setattr(reporting, "report_input", warning)
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: sys.stderr.write(f"{message}\n"))
    assert cbench("show", small).err == "error: this is for the user\n"


def _counts(run: Path) -> dict[str, int]:
    tables = ("images", "cases", "chains", "steps", "chain_steps", "attempts", "comparisons", "measurements", "labels")
    with closing(connect(run / "run.sqlite", read_only=True)) as connection:
        return {one: connection.execute(f"select count(*) from {one}").fetchone()[0] for one in tables}
