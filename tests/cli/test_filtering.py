"""`cbench filter`: images that pass, images that do not, and those of which the metric knows nothing."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
from PIL import Image

from convergebench.conductor.filtering import FilterOptions, choose_limit, filter_folder
from convergebench.errors import StudyError
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame
from convergebench.measuring.files import find_images
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.no_reference import decay_reading
from convergebench.metrics.no_reference.decay_rates import decay_rates
from tests.cli.in_process import Done, cbench
from tests.metrics.pictures import box_blur, jpeg, measured, photograph

MINE = """
import numpy as np
from pathlib import Path

def brightness(image):
    return float(np.asarray(image).mean())

def darkness(image):
    return 255 - brightness(image)

def removing(image):
    Path("gone", "grey-100.png").unlink(missing_ok=True)
    return 0.0

def endless(image):
    return float("inf")

brightness.better, brightness.range = "higher", (0, 255)
darkness.better, darkness.range = "lower", (0, 255)
removing.better, removing.range = "lower", (0, 1)
endless.better, endless.range = "lower", (0, float("inf"))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `grey` with three pictures of known brightness, and `mine.py`, which measures it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(MINE)
    for level in (50, 100, 150):
        grey(tmp_path / "grey" / f"grey-{level}.png", level)
    return tmp_path


def grey(path: Path, level: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(np.full((16, 16, 3), level, np.uint8)))
    return path


def filtered(folder: str | Path, *words: object, least: float = 100) -> list[dict[str, str]]:
    """The table of a folder by brightness."""
    done = cbench("filter", folder, "-m", "mine.py:brightness", "--min", least, "--out", "table.csv", *words)
    assert done.code == 0, done.err
    return rows_of(Path("table.csv"))


def rows_of(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts(rows: list[dict[str, str]]) -> dict[str, str]:
    return {Path(row["path"]).name: row["verdict"] for row in rows}


def refused(*words: object) -> str:
    done = cbench("filter", *words)
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    return done.err


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


# the limit


def test_the_limit_itself_passes_in_either_direction(here: Path) -> None:
    rows = filtered("grey")
    assert verdicts(rows) == {"grey-50.png": "refused", "grey-100.png": "passed", "grey-150.png": "passed"}
    assert [row["value"] for row in rows] == ["100.0", "150.0", "50.0"]
    assert cbench("filter", "grey", "-m", "mine.py:darkness", "--max", 155, "--out", "dark.csv").code == 0
    assert verdicts(rows_of(here / "dark.csv")) == verdicts(rows)


def test_the_wrong_direction_is_answered_with_the_right_flag(here: Path) -> None:
    assert refused("grey", "--min", 5) == "error: lower values of decay are better: type --max 5, not --min\n"
    said = refused("grey", "-m", "mine.py:brightness", "--max", 99.5)
    assert said == "error: higher values of brightness are better: type --min 99.5, not --max\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max", 1, "--min", 2), "give one of --max and --min, not both"),
        (("--max", 1, "--false-alarms", 0.1), "give one of --max and --false-alarms, not both"),
        (("--max", "nan"), "--max nan: give a number, such as --max 20"),
        (("--false-alarms", 5), "--false-alarms 5: give a share between 0 and 1, such as 0.05"),
        (("--false-alarms", 0), "--false-alarms 0: give a share between 0 and 1, such as 0.05"),
        (("-m", "piqe"), "piqe has no tested limits; type --max X (lower values are better)"),
        (("-m", "piqe", "--false-alarms", 0.1), "piqe has no tested limits; type --max X"),
        (("-m", "ssim", "--max", 1), "ssim does not rate an image by itself; filter with a no-reference metric"),
        (("-m", "classical", "--max", 1), "'classical' is a set of 5 metrics; name one"),
        (("-m", "rubric-quality", "--min", 1), "rubric-quality asks a rater; filter with a no-reference metric"),
        (("-m", "decy"), "unknown metric 'decy'; did you mean 'decay'?"),
    ],
)
def test_what_cannot_decide_is_refused_before_the_work(here: Path, words: tuple[object, ...], said: str) -> None:
    assert said in refused("grey", *words)


def test_a_metric_without_a_better_end_cannot_sort() -> None:
    facts = MetricFacts("hue", "no-reference", "neither", (0, 1), "Which colour.")
    with pytest.raises(StudyError, match=r"hue has no better end.*cbench list metrics"):
        choose_limit(facts, FilterOptions("hue", highest=0.5))


# decay, with the error rates of its test


def test_a_share_that_no_limit_kept_is_answered_with_the_best_one() -> None:
    rows = tuple(row for row in decay_rates().limits if row.false_alarms.share > 0.02)
    few = replace(decay_rates(), limits=rows)
    said = rf"the fewest, {re.escape(rows[-1].false_alarms.words)}, has --max "
    with (
        mock.patch("convergebench.conductor.filtering.decay_rates", return_value=few),
        pytest.raises(StudyError, match=said),
    ):
        choose_limit(load_metric("decay").facts, FilterOptions(false_alarms=0.01))


@pytest.fixture
def photos(here: Path) -> Path:
    """An untouched photograph, and the same ruined."""
    picture = photograph("coffee", 320, 256)
    (here / "photos").mkdir()
    (here / "photos" / "clean.png").write_bytes(encode_png(picture))
    (here / "photos" / "ruined.png").write_bytes(encode_png(ruined()))
    return here / "photos"


def ruined() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    picture = photograph("coffee", 320, 256)
    for _ in range(8):
        picture = jpeg(box_blur(picture, 3), 60)
    return picture


def test_decay_sorts_by_its_value(photos: Path) -> None:
    low, high = measured("decay", photograph("coffee", 320, 256), None), measured("decay", ruined(), None)
    assert low < high
    assert cbench("filter", photos, "--max", (low + high) / 2, "-o", "t.csv").code == 0
    clean, worn = rows_of(Path("t.csv"))
    assert (clean["verdict"], worn["verdict"]) == ("passed", "refused")
    assert (float(clean["value"]), float(worn["value"])) == (low, high)
    assert float(worn["remakings_low"]) <= float(worn["remakings"]) <= float(worn["remakings_high"])


def test_without_a_limit_the_one_of_the_test_is_taken_and_told(photos: Path) -> None:
    row = decay_rates().strictest(0.05)
    assert row is not None
    done = cbench("filter", photos)
    assert f"limit     decay ≤ {row.limit:g}, the strictest limit that refused at most 5 % of untouched" in done.out
    assert row.words in done.out.splitlines()[-1]
    assert done.out.splitlines()[-1].endswith("Read docs/results/decay.md.")
    stricter = decay_rates().strictest(0.2)
    assert stricter is not None
    assert (
        f"decay ≤ {stricter.limit:g}, the strictest limit that refused at most 20 %"
        in cbench("filter", photos, "--false-alarms", 0.2).out
    )


def test_a_limit_outside_the_test_is_said_to_be_untested(photos: Path) -> None:
    last = cbench("filter", photos, "--max", 1e6).out.splitlines()[-1]
    assert last.startswith("Not tested at this limit")
    last = cbench("filter", photos, "-m", "piqe", "--max", 30).out.splitlines()[-1]
    assert last == "Error rates of piqe at this limit are unknown: only those of decay were tested."


def test_a_picture_unlike_those_of_the_test_is_unknown_and_never_passes(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = decay_reading.read_decay

    def strange(frame: Frame) -> decay_reading.DecayReading:
        found = real(frame)
        flat = np.array_equal(frame.pixels, ruined())
        return found._replace(remakings=None, low=None, high=None) if flat else found

    monkeypatch.setattr(decay_reading, "read_decay", strange)
    lists = ("--keep", "keep.txt", "--drop", "drop.txt", "--copy-to", "copies", "--out", "t.csv")
    done = cbench("filter", photos, "--max", 1000, *lists, "--fail-over", 0)
    assert done.code == 0
    assert "passed    1 of 2 images (50.0 %)" in done.out
    assert "unknown   1, unlike the pictures of the test: neither passed nor refused" in done.out
    assert "passed    --fail-over 0: 0.0 % refused or without a value (1 unknown not counted)" in done.out
    row = rows_of(Path("t.csv"))[1]
    assert (row["verdict"], row["remakings"], row["status"]) == ("unknown", "", "ok")
    assert row["value"]
    assert Path("keep.txt").read_text() == f"{photos / 'clean.png'}\n"
    assert Path("drop.txt").read_text() == ""
    assert [path.name for path in Path("copies").iterdir()] == ["clean.png"]
    (photos / "clean.png").unlink()
    done = cbench("filter", photos, "--max", 1000, "--fail-over", 0.9)
    assert done.code == 4, "nothing was judged, so nothing may pass for judged"
    assert "every image is unknown, so nothing was judged" in done.out


# files of every kind


def test_what_cannot_be_measured_is_a_row_with_its_reason(photos: Path) -> None:
    clean = (photos / "clean.png").read_bytes()
    for name, data in {
        "cut.png": clean[: len(clean) // 2],
        "empty.jpg": b"",
        "text.png": b"not an image",
        "flipped.png": clean[:300] + b"\xff" * 50 + clean[350:],
        "notes.txt": b"a caption",
    }.items():
        (photos / name).write_bytes(data)
    picture = Image.open(photos / "clean.png")
    picture.crop((0, 0, 1, 1)).save(photos / "one.png")
    picture.save(photos / "moving.gif", save_all=True, append_images=[picture.rotate(90)])
    picture.convert("RGBA").save(photos / "opaque.png")
    glass = picture.convert("RGBA")
    glass.putalpha(100)
    glass.save(photos / "glass.png")
    picture.convert("CMYK").save(photos / "ink.jpg")
    Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) * 257).save(photos / "deep.png")
    Image.new("RGB", (80, 80), "red").save(photos / "plain.png")
    done = cbench("filter", photos, "--max", 1000, "-o", "t.csv", "--drop", "drop.txt")
    assert done.code == 0
    found = {Path(row["path"]).name: row["status"] for row in rows_of(Path("t.csv"))}
    assert found == {
        "clean.png": "ok", "cut.png": "unreadable", "deep.png": "ok", "empty.jpg": "unreadable",
        "flipped.png": "unreadable", "glass.png": "unreadable", "ink.jpg": "ok", "moving.gif": "unreadable",
        "one.png": "too-small", "opaque.png": "ok", "plain.png": "featureless", "ruined.png": "ok",
        "text.png": "unreadable",
    }  # fmt: skip
    assert "no value  8 (1 featureless, 1 too-small, 6 unreadable)" in done.out
    assert "skipped   1 file of other kinds" in done.out
    assert len(Path("drop.txt").read_text().splitlines()) == 8
    why = {Path(row["path"]).name: row["detail"] for row in rows_of(Path("t.csv"))}
    assert "2 frames" in why["moving.gif"]
    assert "transparent pixels" in why["glass.png"]
    assert why["one.png"].startswith("1×1")


def test_the_same_picture_twice_is_two_rows(here: Path) -> None:
    grey(here / "grey" / "deep" / "again.png", 150)
    assert verdicts(filtered("grey"))["again.png"] == "passed"
    assert len(rows_of(here / "table.csv")) == 4


def test_folders_below_are_left_out_on_request(here: Path) -> None:
    grey(here / "grey" / "deep" / "more.png", 150)
    assert "more.png" not in verdicts(filtered("grey", "--flat"))
    (here / "top").mkdir()
    grey(here / "top" / "deep" / "more.png", 150)
    assert "leave out --flat" in refused("top", "--flat")


def test_links_to_files_are_followed_and_links_to_folders_are_not(here: Path) -> None:
    outside = grey(here / "outside" / "far.png", 150)
    (here / "grey" / "link.png").symlink_to(outside)
    (here / "grey" / "lost.png").symlink_to(here / "nowhere.png")
    (here / "grey" / "folder").symlink_to(here / "outside")
    rows = filtered("grey", "--copy-to", "copies")
    assert [row["path"] for row in rows] == [str(path) for path in find_images([Path("grey")])]
    assert verdicts(rows)["link.png"] == "passed"
    assert not (here / "copies" / "link.png").is_symlink()


def test_the_order_is_that_of_measuring(here: Path) -> None:
    for name in ("a/b.png", "a.png", "a-b.png", "a/b/c.png", "B.PNG"):
        grey(here / "grey" / name, 1)
    assert [row["path"] for row in filtered("grey")] == [str(path) for path in find_images([Path("grey")])]


def test_several_processes_give_the_same_table(here: Path) -> None:
    for level in range(20):
        grey(here / "grey" / f"more-{level}.png", 90 + level)
    alone = filtered("grey", "--workers", 1)
    assert filtered("grey", "--workers", 2) == alone
    assert list(verdicts(alone).values()).count("passed") == 2 + 10


# names


def test_names_are_safe_in_tables_and_in_lists(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("=1+1.png", "-rf.png", "fünf 五.png", "a,b.png", "two\nlines.png"):
        grey(here / "grey" / name, 150)
    grey(here / "grey" / os.fsdecode(b"latin-\xe9.png"), 150)
    monkeypatch.chdir(here / "grey")
    (here / "grey" / "mine.py").write_text(MINE)
    paths = [row["path"] for row in filtered(".", "--keep", "keep.txt")]
    assert {"'=1+1.png", "'-rf.png", "fünf 五.png", "a,b.png", "two\nlines.png", "latin-\\udce9.png"} <= set(paths)
    lines = Path("keep.txt").read_bytes().splitlines()
    assert {b"=1+1.png", b"./-rf.png", "fünf 五.png".encode(), b"a,b.png", b"latin-\xe9.png"} <= set(lines)
    assert all(Path(os.fsdecode(line)).is_file() for line in lines)
    assert len(lines) == len([row for row in rows_of(Path("table.csv")) if row["verdict"] == "passed"]) - 1
    done = cbench("filter", ".", "-m", "mine.py:brightness", "--min", 1, "--drop", "d.txt", "--keep", "k.txt")
    assert "note      1 with a line break in the name is in no list" in done.out


def test_the_three_kinds_of_tables_have_the_same_rows(here: Path) -> None:
    (here / "grey" / "text.png").write_bytes(b"no")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "-o", name).code == 0
    lines = [json.loads(line) for line in (here / "t.jsonl").read_text().splitlines()]
    assert lines == pl.read_parquet(here / "t.parquet").to_dicts()
    assert [[str(cell) if cell is not None else "" for cell in line.values()] for line in lines] == [
        list(row.values()) for row in rows_of(here / "t.csv")
    ]


def test_an_endless_value_is_no_number_in_json(here: Path) -> None:
    assert cbench("filter", "grey", "-m", "mine.py:endless", "--max", 1, "-o", "t.jsonl").code == 0
    first = json.loads((here / "t.jsonl").read_text().splitlines()[0])
    assert (first["value"], first["status"], first["verdict"]) == (None, "infinite", "refused")


# what is written, and what is not


def test_copies_and_links_keep_their_places(here: Path) -> None:
    grey(here / "grey" / "deep" / "more.png", 200)
    filtered("grey", "--copy-to", "copies")
    found = sorted(str(path.relative_to("copies")) for path in Path("copies").rglob("*.png"))
    assert found == ["deep/more.png", "grey-100.png", "grey-150.png"]
    assert Path("copies/deep/more.png").read_bytes() == Path("grey/deep/more.png").read_bytes()
    filtered("grey", "--link-to", "links")
    assert Path("links/deep/more.png").readlink() == (here / "grey" / "deep" / "more.png").resolve()
    assert sorted(path.name for path in Path("links").rglob("*.png")) == sorted(Path(name).name for name in found)


def test_nothing_is_written_over_pictures(here: Path) -> None:
    assert "is inside grey, which would be filtered again" in refused("grey", "--copy-to", "grey/good")
    assert "is inside grey" in refused("grey", "--copy-to", "grey")
    assert "is inside grey" in refused("grey", "--link-to", "copies/../grey/good")
    (here / "copies").mkdir()
    (here / "copies" / "mine.png").write_bytes(b"precious")
    assert "--copy-to copies is not empty; name a new folder" in refused("grey", "--copy-to", "copies")
    assert "--link-to mine.py is a file; name a new folder" in refused("grey", "--link-to", "mine.py")
    assert "give --copy-to or --link-to, not both" in refused("grey", "--copy-to", "a", "--link-to", "b")
    assert (here / "copies" / "mine.png").read_bytes() == b"precious"
    assert "ends in .csv, .jsonl or .parquet" in refused("grey", "--out", "grey/grey-50.png")
    assert "ends in .txt" in refused("grey", "--keep", "grey/grey-50.png")
    assert "is named twice" in refused("grey", "--keep", "list.txt", "--drop", "./list.txt")
    assert "name a file in a folder that is there" in refused("grey", "--out", "nowhere/t.csv")


def test_folders_without_images_are_refused(here: Path) -> None:
    (here / "empty").mkdir()
    assert "no image in empty (looked for .png" in refused("empty")
    assert refused("nowhere") == "error: there is no folder nowhere\n"
    assert "is a file; name a folder of images" in refused("grey/grey-50.png")
    (here / "grey" / "run.sqlite").touch()
    assert "grey is a run" in refused("grey")


def test_a_picture_that_goes_away_while_it_is_copied_is_a_row(here: Path) -> None:
    for level in (50, 100):
        grey(here / "gone" / f"grey-{level}.png", level)
    words = ("--copy-to", "copies", "-o", "t.csv", "--keep", "k.txt", "--drop", "d.txt", "--workers", 1)
    # it is measured before it goes: the last of its lot removes it
    grey(here / "gone" / "grey-200.png", 200)
    done = cbench("filter", "gone", "-m", "mine.py:removing", "--max", 1, *words)
    assert done.code == 0, done.err
    rows = {Path(row["path"]).name: row for row in rows_of(here / "t.csv")}
    assert (rows["grey-100.png"]["verdict"], rows["grey-100.png"]["status"]) == ("no-value", "unreadable")
    assert sorted(path.name for path in Path("copies").iterdir()) == ["grey-200.png", "grey-50.png"]
    assert Path("d.txt").read_text() == "gone/grey-100.png\n"


def test_an_error_on_the_way_leaves_nothing_behind(here: Path) -> None:
    (here / "mine.py").write_text(
        "def broken(image):\n    return 1 / 0\nbroken.better, broken.range = 'lower', (0, 1)\n"
    )
    words = ("--copy-to", "copies", "-o", "t.parquet", "--keep", "k.txt", "--drop", "d.txt")
    done = cbench("filter", "grey", "-m", "mine.py:broken", "--max", 1, *words)
    assert done.code == 2
    assert "metric 'broken' failed on grey/grey-100.png: ZeroDivisionError" in done.err
    assert sorted(path.name for path in here.iterdir() if path.name != "__pycache__") == ["grey", "mine.py"]


def test_an_old_table_stays_until_the_new_one_is_whole(here: Path) -> None:
    filtered("grey")
    before = (here / "table.csv").read_bytes()
    (here / "mine.py").write_text(
        "def broken(image):\n    return 1 / 0\nbroken.better, broken.range = 'lower', (0, 1)\n"
    )
    assert cbench("filter", "grey", "-m", "mine.py:broken", "--max", 1, "-o", "table.csv").code == 2
    assert (here / "table.csv").read_bytes() == before
    (here / "opened").hardlink_to(here / "table.csv")
    (here / "mine.py").write_text(MINE)
    filtered("grey", least=1)
    assert (here / "opened").read_bytes() == before, "who has the old table open reads it to its end"
    assert (here / "table.csv").read_bytes() != before


SLOW = """
import time
from pathlib import Path

def slow(image):
    with open("begun", "a") as file:
        file.write("x")
    time.sleep(0.2)
    return 0.0

slow.better, slow.range = "lower", (0, 1)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_nothing_half_written(here: Path, workers: int) -> None:
    (here / "mine.py").write_text(SLOW)
    for level in range(100):
        grey(here / "grey" / f"more-{level}.png", level)
    words = ["--copy-to", "copies", "-o", "t.csv", "--keep", "k.txt", "--workers", str(workers)]
    command = [sys.executable, "-m", "convergebench.cli.main", "filter", "grey", "-m", "mine.py:slow", "--max", "1"]
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (here / "begun").exists() and (here / "begun").stat().st_size > 20)
    assert leftovers(here), "the work has begun"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "stopped; run the same command to continue\n")
    assert sorted(path.name for path in here.iterdir() if path.name != "__pycache__") == ["begun", "grey", "mine.py"]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120  # a busy machine starts processes slowly
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


# for programs


def summary(done: Done) -> dict[str, object]:
    found: dict[str, object] = json.loads(done.out)
    return found


def test_the_summary_is_for_programs_too(here: Path) -> None:
    (here / "grey" / "text.png").write_bytes(b"no")
    (here / "grey" / "notes.txt").touch()
    done = cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--json", "--keep", "k.txt")
    assert done.code == 0
    found = summary(done)
    assert {key: found[key] for key in ("images", "passed", "refused", "unknown", "no_value", "other_files")} == {
        "images": 4, "passed": 2, "refused": 1, "unknown": 0, "no_value": {"unreadable": 1}, "other_files": 1,
    }  # fmt: skip
    assert (found["metric"], found["min"], found["refused_share"], found["rates"]) == ("brightness", 100, 0.5, None)
    assert found["files"] == {"out": None, "keep": "k.txt", "drop": None, "copy_to": None, "link_to": None}


def test_the_rates_of_the_limit_are_in_the_summary(photos: Path) -> None:
    row = decay_rates().limits[3]
    found = summary(cbench("filter", photos, "--max", row.limit, "--json"))
    rates = found["rates"]
    assert isinstance(rates, dict)
    assert rates["false_alarms"]["share"] == row.false_alarms.share
    assert found["page"] == "docs/results/decay.md"


@pytest.mark.parametrize(("share", "code"), [(0.32, 4), (0.34, 0), (1, 0)])
def test_too_many_refused_images_end_with_exit_code_4(here: Path, share: float, code: int) -> None:
    done = cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--fail-over", share)
    assert done.code == code
    assert f"{'failed' if code else 'passed'}    --fail-over {share:g}: 33.3 % refused or without a value" in done.out
    done = cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--fail-over", share, "--json")
    assert (done.code, summary(done)["exit_code"]) == (code, code)


def test_exactly_the_allowed_share_is_allowed(here: Path) -> None:
    (here / "grey" / "grey-50.png").rename(here / "grey" / "dark.png")
    grey(here / "grey" / "light.png", 200)
    assert cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--fail-over", 0.25).code == 0
    assert cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--fail-over", 0.24).code == 4


def test_unreadable_images_count_against_the_share(here: Path) -> None:
    for path in (here / "grey").iterdir():
        path.write_bytes(b"no")
    assert cbench("filter", "grey", "-m", "mine.py:brightness", "--min", 100, "--fail-over", 0.9).code == 4


def test_the_conductor_does_it_without_a_terminal(photos: Path) -> None:
    done = filter_folder(photos, FilterOptions("piqe", highest=1000))
    assert (done.images, done.verdicts["passed"]) == (2, 2)
    with pytest.raises(StudyError, match="there is no folder"):
        filter_folder(photos / "nowhere")
