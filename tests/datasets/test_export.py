"""A data set says what its run says, picture by picture, and is there as a whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from convergebench.cli import exporting
from convergebench.datasets.checksums import file_sha256
from convergebench.datasets.export import Exported, ExportOptions, ExportProgress, export
from convergebench.datasets.fields import steps_table
from convergebench.datasets.patches import PatchPlan
from convergebench.datasets.splits import read_splits
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from tests.datasets.small_run import ADDRESSES, KEY, LICENCES, PICTURES, SIZE, STEPS, TOLD
from tests.store.older import make_older

FOLDER = ExportOptions("imagefolder", include_restricted=True)


def records(out: Path, table: str = "data", split: str = "train") -> dict[str, dict[str, Any]]:
    lines = (out / table / split / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


@pytest.fixture(scope="module")
def made(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Everything, with patches, as a folder of pictures."""
    options = replace(FOLDER, patches=PatchPlan(16, 3), licence="CC-BY-4.0", name="Three pictures")
    return export(small_run, tmp_path_factory.mktemp("made") / "set", options)


def test_every_picture_of_every_chain_is_a_record_step_0_too(small_run: Path, made: Exported) -> None:
    found = records(made.out)
    assert len(found) == PICTURES == made.tally.pictures
    steps = RunFrames(small_run).steps().filter(status="ok")
    assert found.keys() == {f"{row['editor']}/{row['case']}/{row['index']}" for row in steps.iter_rows(named=True)}
    for row in steps.iter_rows(named=True):
        record = found[f"{row['editor']}/{row['case']}/{row['index']}"]
        picture = (made.out / "data" / "train" / record["file_name"]).read_bytes()
        assert picture == (small_run / row["image"]).read_bytes(), "as received"
        assert hashlib.sha256(picture).hexdigest() == record["sha256"]
        assert len(picture) == record["file_bytes"]


def test_a_record_tells_what_was_asked_of_whom_and_what_it_took(small_run: Path, made: Exported) -> None:
    record = records(made.out)["reluctant/v1.5/free/rotate/0/2"]
    manifest = read_manifest(small_run / "manifest.json")
    expected = {
        "chain_id": "reluctant/v1.5/free/rotate/0",
        "image_name": "free",
        "variant": "rotate",
        "family": "multi-step",
        "run_index": 0,
        "step_index": 2,
        "parent_step": 1,
        "independent": False,
        "operation": "rotate-90",
        "prompt": manifest.pairs["rotate"]["instructions"][0],
        "seed": None,
        "temperature": None,
        "resolution_requested": None,
        "session": "fresh",
        "width": SIZE[0],
        "height": SIZE[1],
        "mime": "image/png",
        "editor": "reluctant/v1.5",
        "editor_fingerprint": "reluctant@1",
        "model_id": "reluctant-1.5-0815",
        "cost": 0.04,
        "attempts": 1,
        "reasoning_summary": TOLD,
        "status": "ok",
        "chain_status": "finished",
        "kind": "scene",
        "origin": "drawn",
        "source_address": ADDRESSES["free"],
        "source_licence": "CC0-1.0",
        "simulated": False,
        "manifest_sha256": file_sha256(small_run / "manifest.json"),
        "run_name": "three",
    }
    assert {name: record[name] for name in expected} == expected
    assert record["started"] >= manifest.created
    assert record["seconds"] > 0
    commit = (manifest.sessions[0]["git"] or {}).get("commit")
    assert (record["git_commit"] or "").removesuffix("+") == (commit or "")
    seeded = records(made.out)["sim-jpeg/free/rotate/0/2"]
    assert isinstance(seeded["seed"], int)
    assert seeded["simulated"] is True


def test_settings_that_were_sent_are_told_apart_from_those_that_were_not(small_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(small_run, tmp_path / "run")
    with sqlite3.connect(copy / "run.sqlite") as database:
        settings = json.dumps({"seed": 7, "temperature": 0.4, "resolution": "2K", "session": "single"})
        database.execute("update steps set settings = ?", (settings,))
    database.close()
    record = records(export(copy, tmp_path / "set", FOLDER).out)["sim-jpeg/free/replicate/0/1"]
    assert (record["temperature"], record["resolution_requested"], record["session"]) == (0.4, "2K", "single")


def test_measurements_are_those_of_the_run(small_run: Path, made: Exported) -> None:
    found = records(made.out)
    values = RunFrames(small_run).measurements("auto").filter(status="ok")
    assert values.height > 100
    for row in values.iter_rows(named=True):
        first = "_first" if row["role"] == "first" else ""
        name = row["metric"].replace("-", "_") + first
        record = found[f"{row['editor']}/{row['case']}/{row['step']}"]
        if row["value"] == float("inf"):
            assert f"{name}: infinite" in record["without_value"]
            assert record["measurements"][name] is None
        else:
            assert record["measurements"][name] == row["value"]
    with (made.out / "tables" / "measurements.csv").open(encoding="utf-8") as file:
        long = list(csv.DictReader(file))
    assert len(long) == RunFrames(small_run).measurements("auto").height == made.tally.rows["measurements"]
    assert "inf" in {row["value"] for row in long}


def test_a_step_without_a_picture_is_told_beside_the_pictures(made: Exported) -> None:
    (line,) = (made.out / "tables" / "without_image.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    assert record["id"] == "reluctant/v1.5/shared/rotate/0/3"
    assert (record["status"], record["detail"], record["sha256"]) == ("refused", "policy: no more of this", None)
    assert record["id"] not in records(made.out)


def test_a_person_overrules_a_rule_and_a_failure_lasts_as_long_as_it_was_seen(made: Exported) -> None:
    found = records(made.out)
    seen = [found[f"sim-jpeg/free/replicate/0/{step}"]["failures"] for step in range(STEPS + 1)]
    assert seen == [[], ["static"], ["static"], [], []]
    assert found["sim-jpeg/shared/replicate/0/1"]["failures"] is None, "nobody looked"
    with (made.out / "tables" / "labels.csv").open(encoding="utf-8") as file:
        shown = {(row["mode"], row["source"], row["present"]) for row in csv.DictReader(file)}
    seen_by = {("colour-cast", "rule", "true"), ("colour-cast", "person", "false"), ("static", "rule", "true")}
    assert shown == {*seen_by, ("blur", "judge", "")}, "what could not be told is an empty cell"


def test_no_key_is_in_any_file(made: Exported) -> None:
    assert all(KEY.encode() not in path.read_bytes() for path in made.out.rglob("*") if path.is_file())
    used = json.loads(records(made.out)["reluctant/v1.5/free/rotate/0/2"]["used"])
    assert used == {"api_key": "…", "max_tokens": 100, "quality": "high"}


def test_keys_of_the_environment_are_blotted_out_of_words(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "The picture is as it was.")
    record = records(export(small_run, tmp_path / "set", FOLDER).out)["reluctant/v1.5/free/rotate/0/2"]
    assert record["reasoning_summary"] == TOLD.replace("The picture is as it was.", "…")


def test_patches_of_a_chain_are_cut_at_the_same_places(made: Exported) -> None:
    found = records(made.out, "patches")
    assert len(found) == 3 * PICTURES == made.tally.patches
    places: dict[tuple[str, int], set[tuple[int, int]]] = {}
    for patch in found.values():
        assert patch["parent_sha256"] == records(made.out)[patch["parent_id"]]["sha256"]
        if patch["variant"] == "replicate":
            places.setdefault((patch["image_name"], patch["patch_index"]), set()).add((patch["x"], patch["y"]))
    assert all(len(boxes) == 1 for boxes in places.values()), "in all steps of all chains of a source"
    turned = [found[f"reluctant/v1.5/free/rotate/0/{step}#0"] for step in (0, 4)]
    assert [turned[0][side] for side in "xy"] == [turned[1][side] for side in "xy"], "four quarter turns"
    assert turned[0]["sha256"] != found["reluctant/v1.5/free/rotate/0/1#0"]["sha256"]


def test_each_record_has_a_licence_that_its_source_allows(made: Exported) -> None:
    for record in records(made.out).values():
        untouched = record["step_index"] == 0
        free = LICENCES[record["image_name"]] == "CC0-1.0"
        expected = "CC-BY-4.0" if free and not untouched else LICENCES[record["image_name"]]
        assert record["licence"] == expected
    assert any("CC BY-SA 4.0" in notice for notice in made.notices)
    assert 'license: "other"' in (made.out / "README.md").read_text(encoding="utf-8")


def test_sources_that_forbid_it_are_left_out_with_a_word(small_run: Path, tmp_path: Path) -> None:
    made = export(small_run, tmp_path / "set", ExportOptions("imagefolder"))
    assert {record["image_name"] for record in records(made.out).values()} == {"free", "shared"}
    left = 2 * 2 * (STEPS + 1)
    assert any(f"{left} images are left out" in notice and "CC-BY-NC-ND 4.0" in notice for notice in made.notices)
    assert f"{left} under CC-BY-NC-ND 4.0" in (made.out / "README.md").read_text(encoding="utf-8")


def relicensed(run: Path, copy: Path, licence: str) -> Path:
    shutil.copytree(run, copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    for source in manifest["sources"].values():
        source["licence"] = licence
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return copy


def test_if_all_sources_forbid_it_nothing_is_written(small_run: Path, tmp_path: Path) -> None:
    run = relicensed(small_run, tmp_path / "run", "CC-BY-NC-4.0")
    with pytest.raises(StudyError, match=rf"all {PICTURES} images .*CC-BY-NC-4.0.*--include-restricted"):
        export(run, tmp_path / "set", ExportOptions("parquet"))
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("source", "given", "card"),
    [
        ("CC-BY-4.0", None, "cc-by-4.0"),
        ("not stated", None, "unknown"),
        ("not stated", "MIT", "mit"),
        ("CC0-1.0", "CC-BY-4.0", "other"),  # the untouched sources stay free
        ("ask my aunt", "CC-BY-4.0", "other"),
    ],
)
def test_one_licence_for_all_is_the_card_s(
    small_run: Path, tmp_path: Path, source: str, given: str | None, card: str
) -> None:
    made = export(
        relicensed(small_run, tmp_path / "run", source), tmp_path / "set", ExportOptions("imagefolder", licence=given)
    )
    assert f'\nlicense: "{card}"\n' in (made.out / "README.md").read_text(encoding="utf-8")
    assert any("no stated licence" in notice for notice in made.notices) is (card == "unknown")
    strange = "3 source images have a licence that is not recognised (first: ask my aunt)"
    assert any(notice.startswith(strange) for notice in made.notices) is (source == "ask my aunt")


def test_a_source_is_never_in_two_splits(small_run: Path, tmp_path: Path) -> None:
    import polars as pl

    made = export(small_run, tmp_path / "set", replace(FOLDER, splits=read_splits("0.34,0.33,0.33")))
    names = [
        set(pl.read_parquet(made.out / "data" / split / "metadata.parquet")["image_name"])
        for split in ("train", "validation", "test")
    ]
    assert sorted(name for split in names for name in split) == sorted(LICENCES)


def test_photographs_can_be_a_split_of_their_own(small_run: Path, tmp_path: Path) -> None:
    made = export(small_run, tmp_path / "set", replace(FOLDER, splits=read_splits("origin")))
    assert made.tally.sources == {"drawn": {"free"}, "photograph": {"shared"}, "unknown": {"held"}}


def test_checksums_are_those_of_the_files(made: Exported) -> None:
    lines = (made.out / "checksums.sha256").read_text(encoding="utf-8").splitlines()
    listed = dict(line.split("  ")[::-1] for line in lines)
    files = {path.relative_to(made.out).as_posix(): path for path in made.out.rglob("*") if path.is_file()}
    assert listed.keys() == files.keys() - {"checksums.sha256"}
    assert all(file_sha256(files[name]) == digest for name, digest in listed.items())
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--quiet", "-c", "checksums.sha256"], cwd=made.out, check=True)


def test_the_card_tells_what_it_is_and_what_it_is_not(made: Exported) -> None:
    text = (made.out / "README.md").read_text(encoding="utf-8")
    assert "# Three pictures\n" in text
    assert "Simulated editors (`sim-jpeg`) are programs" in text
    assert "| CC BY-SA 4.0 | credit, derived works under the same licence | 1 |" in text
    assert "1 refused" in text
    assert f"The editors' calls cost ${0.04 * (made.tally.editors['reluctant/v1.5']):.2f}" in text
    for column in records(made.out)["sim-jpeg/free/replicate/0/1"]:
        assert column == "file_name" or f"| `{column}` |" in text


def test_the_same_export_is_the_same_bytes(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    sums = [
        (export(small_run, tmp_path / form / name, ExportOptions(form)).out / "checksums.sha256").read_bytes()
        for form in ("webdataset", "hf")
        for name in ("one", "two")
    ]
    assert sums[0] == sums[1]
    assert sums[2] == sums[3]


def test_a_folder_with_something_in_it_is_refused(small_run: Path, made: Exported, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is not empty; name a new folder"):
        export(small_run, made.out, FOLDER)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StudyError, match="is a file"):
        export(small_run, tmp_path / "file", FOLDER)
    (tmp_path / "empty").mkdir()
    assert export(small_run, tmp_path / "empty", FOLDER).tally.pictures == PICTURES


def test_a_link_stays_and_the_folder_one_is_in_is_refused(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "set")
    export(small_run, tmp_path / "link", FOLDER)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "set" / "README.md").exists()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(StudyError, match=r"--out \. is the folder you are in; name a new one"):
        export(small_run, Path(), FOLDER)
    export(small_run, Path("set"), FOLDER)
    assert sorted(path.name for path in tmp_path.rglob("*.part-*")) == []


def test_no_text_of_a_sheet_is_worked_out_by_a_spreadsheet(small_run: Path, tmp_path: Path) -> None:
    import polars as pl

    formula = '=HYPERLINK("http://example.org")'
    copy = shutil.copytree(small_run, tmp_path / "run")
    with sqlite3.connect(copy / "run.sqlite") as database:
        database.execute("update steps set instruction = ?", (formula,))
        database.execute("update labels set detail = ?", (formula,))
    database.close()
    made = export(copy, tmp_path / "set", replace(FOLDER, form="banana100"))
    for name, column in (("metadata.csv", "prompt"), ("tables/labels.csv", "detail")):
        with (made.out / name).open(encoding="utf-8", newline="") as file:
            cells = {row[column] for row in csv.DictReader(file)} - {""}
        assert cells == {f"'{formula}"}
    lines = (made.out / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["prompt"] for line in lines} == {None, formula}, "where no spreadsheet looks it stays"
    hub = export(copy, tmp_path / "hub", replace(FOLDER, form="hf"))
    assert set(pl.read_parquet(hub.out / "tables" / "labels.parquet")["detail"]) == {formula}


def test_two_exports_to_one_place_do_not_meet(small_run: Path, tmp_path: Path) -> None:
    def again(done: ExportProgress) -> None:
        if done.pictures == 5:
            export(small_run, tmp_path / "set", FOLDER)

    with pytest.raises(StudyError, match=r"another command is writing .*set; wait"):
        export(small_run, tmp_path / "set", FOLDER, again)


def test_a_damaged_picture_is_not_handed_on(small_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(small_run, tmp_path / "run")
    victim = next((copy / "images").rglob("*.jpg"))
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(StudyError, match="has changed since it was stored; restore this file"):
        export(copy, tmp_path / "set", FOLDER)
    assert not (tmp_path / "set").exists()


def cbench(*words: object) -> Any:
    app = typer.Typer()
    app.command()(exporting.export)
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_says_what_it_did_and_what_to_heed(small_run: Path, tmp_path: Path) -> None:
    done = cbench(small_run, "--as", "banana100", "--out", tmp_path / "set", "--patches", 16, "--patches-per-image", 1)
    assert done.exit_code == 0, done.output
    assert "38 pictures of 8 chains, 38 patches in" in done.output
    assert "note: 20 images are left out" in done.output
    assert (tmp_path / "set" / "reluctant-v1.5" / "free" / "rotate" / "run_0" / "step_004.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--as", "imgfolder"], "unknown format 'imgfolder'; did you mean 'imagefolder'?"),
        (["--as", "banana100", "--splits", "0.5,0.5"], "banana100 has no splits"),
        (["--as", "parquet", "--patches", "49"], "--patches 49 does not fit"),
        (["--as", "parquet", "--splits", "1,1"], "add up to 1"),
        (["--as", "parquet", "--licence", " "], "--licence is empty; give a value or leave it out"),
        (["--as", "parquet", "--name", ""], "--name is empty"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    small_run: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    done = cbench(small_run, *words, "--out", tmp_path / "set")
    assert isinstance(done.exception, ConvergeBenchError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not done.output
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_an_older_schema_is_exported_as_it_is(small_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(small_run, tmp_path / "run")
    make_older(copy, 1)
    record = records(export(copy, tmp_path / "set", FOLDER).out)["reluctant/v1.5/free/rotate/0/2"]
    assert (record["used"], record["failures"]) == (None, None)


def test_the_page_on_data_sets_names_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    missing = [column for column in steps_table(["ssim"]).columns if f"`{column}`" not in page]
    assert not missing


@pytest.mark.parametrize("epoch", ["99999999999999999", "9" * 500, "²", "x"])
def test_a_day_that_cannot_be_told_is_told_first(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(StudyError, match=r"SOURCE_DATE_EPOCH=.*: give seconds since 1970"):
        export(small_run, tmp_path / "set", FOLDER)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("option", ["name", "licence", "creator", "url"])
@pytest.mark.parametrize(("text", "fault"), [("", "is empty"), (" ", "is empty"), ("\udcff", "not valid Unicode")])
def test_words_that_no_file_could_hold_are_told_before_anything_is_written(
    small_run: Path, tmp_path: Path, option: str, text: str, fault: str
) -> None:
    options = replace(FOLDER, **{option: text})  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=f"--{option} .*{fault}"):
        export(small_run, tmp_path / "set", options)
    assert list(tmp_path.iterdir()) == []
