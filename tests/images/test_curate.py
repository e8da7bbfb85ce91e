import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.errors import Prerequisite, StudyError
from convergebench.images import load_suite
from convergebench.images.curate import curate
from convergebench.images.encode import encode_png
from convergebench.images.kinds import AnnotatedBox, kind_from_boxes, kind_from_instruction, kind_from_subject
from tests.images.samples import file_bytes, picture

INSTRUCTIONS = {
    "face": ("Give the woman a hat", "Remove the man's beard"),
    "object": ("Replace the cup with a glass", "Make the cake blue"),
    "scene": ("Add clouds to the sky", "Make the street wet"),
}


def stored(seed: int, kind: str = "PNG") -> bytes:
    return file_bytes(picture(seed=seed), kind)


def inside(seed: int) -> dict[str, Any]:
    return {"bytes": stored(seed), "path": f"{seed}.png"}


def words(seed: int) -> str:
    return INSTRUCTIONS[("face", "object", "scene")[seed % 3]][seed // 3 % 2]


def magicbrush(folder: Path) -> None:
    rows = [
        {
            "img_id": str(1000 + seed),
            "turn_index": turn,
            "source_img": inside(seed if turn == 1 else 500 + seed),
            "mask_img": inside(900),
            "instruction": words(seed) if turn == 1 else "Remove the house",
            "target_img": inside(700 + seed),
        }
        for seed in range(12)
        for turn in (1, 2)
    ]
    (folder / "data").mkdir(parents=True)
    pl.DataFrame(rows[:10]).write_parquet(folder / "data" / "train-00000-of-00002.parquet")
    pl.DataFrame(rows[10:]).write_parquet(folder / "data" / "train-00001-of-00002.parquet")


def gedit_rows() -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "task_type": ("color_alter", "subject-add")[seed % 2],
                "key": f"key{seed}{language}",
                "instruction": words(seed) if language == "en" else "添加",
                "instruction_language": language,
                "input_image": inside(200 + seed),
                "input_image_raw": inside(seed),
                "Intersection_exist": True,
            }
            for seed in range(12)
            for language in ("en", "cn")
        ]
    )


def gedit_stream(folder: Path) -> None:
    folder.mkdir(parents=True)
    gedit_rows().write_ipc_stream(folder / "data-00000-of-00001.arrow")


def gedit_file(folder: Path) -> None:
    folder.mkdir(parents=True)
    gedit_rows().write_ipc(folder / "data-00000-of-00001.arrow")


def imgedit(folder: Path) -> None:
    root = folder / "Benchmark" / "singleturn"
    subjects = ("human", "animal", "architecture")
    rows = {}
    for seed in range(12):
        name = f"{subjects[seed % 3]}/{seed:09d}.jpg"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(stored(seed, "JPEG"))
        for edit in ("adjust", "remove"):
            rows[f"{seed}{edit}"] = {"id": name, "prompt": "Change it.", "edit_type": edit}
    (root / "singleturn.json").write_text(json.dumps(rows))


def imgedit_table(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"input_images": [inside(seed)], "output_images": [inside(300)], "prompt": words(seed)} for seed in range(12)
    ]
    pl.DataFrame(rows).write_parquet(folder / "part.parquet")


def i2ebench(folder: Path) -> None:
    kinds = ("human", "plant", "scenery")
    for number, dimension in enumerate(("ColorAlteration", "HazeRemoval")):
        home = folder / "EditData" / dimension
        (home / "input").mkdir(parents=True)
        (home / "gt").mkdir()
        rows = {}
        for seed in range(6):
            name = f"{seed:04d}.jpg"
            rows[str(seed)] = {"image": name, "ori_exp": "Change it", "div_exp": "Alter it", "type": kinds[seed % 3]}
            (home / "input" / name).write_bytes(stored(100 * number + seed, "JPEG"))
            if dimension == "HazeRemoval":
                (home / "gt" / name).write_bytes(stored(200 + seed, "JPEG"))
        (home / f"{dimension}.json").write_text(json.dumps(rows))
        (home / f"{dimension}_2nd.json").write_text(json.dumps(rows))


def coco(folder: Path) -> None:
    (folder / "annotations").mkdir(parents=True)
    (folder / "val2017").mkdir()
    images, marks = [], []
    for seed in range(12):
        name = f"{seed:012d}.jpg"
        (folder / "val2017" / name).write_bytes(stored(seed, "JPEG"))
        images.append({"id": seed, "file_name": name, "width": 24, "height": 16, "license": 4})
        category, side = ((1, 10), (44, 12), (44, 3))[seed % 3]
        mark = {"id": seed, "image_id": seed, "category_id": category, "bbox": [0, 0, side, side], "iscrowd": 0}
        marks.append(mark)
    categories = [{"id": 1, "name": "person"}, {"id": 44, "name": "bottle"}]
    licences = [{"id": 4, "name": "Attribution License"}]
    content = {"images": images, "annotations": marks, "categories": categories, "licenses": licences}
    (folder / "annotations" / "instances_val2017.json").write_text(json.dumps(content))


def plain(folder: Path) -> None:
    for seed in range(12):
        path = folder / ("faces", "objects", "scenes")[seed % 3] / f"{seed}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored(seed))


LAYOUTS: Mapping[str, tuple[Callable[[Path], None], str, str]] = {
    "MagicBrush": (magicbrush, "MagicBrush", "CC-BY-4.0"),
    "GEdit stream": (gedit_stream, "GEdit-Bench", "MIT"),
    "GEdit file": (gedit_file, "GEdit-Bench", "MIT"),
    "ImgEdit benchmark": (imgedit, "ImgEdit", "not stated"),
    "ImgEdit table": (imgedit_table, "ImgEdit", "not stated"),
    "I2EBench": (i2ebench, "I2EBench", "Apache-2.0 (data set); photographs as in COCO"),
    "COCO": (coco, "COCO", "Attribution License"),
    "folder": (plain, "folder", "not stated"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_a_balanced_locked_suite(name: str, tmp_path: Path) -> None:
    make, layout, licence = LAYOUTS[name]
    make(tmp_path / "source")
    path = curate(str(tmp_path / "source"), n=6, seed=3, out=tmp_path / "chosen")
    suite = load_suite(str(path))
    assert suite.counts() == {"face": 2, "object": 2, "scene": 2}
    assert {image.licence for image in suite.images} == {licence}
    assert tomllib.loads(path.read_text())["curation"]["layout"] == layout


@pytest.mark.parametrize("name", LAYOUTS)
def test_groups_of_a_kind_take_turns(name: str, tmp_path: Path) -> None:
    LAYOUTS[name][0](tmp_path / "source")
    path = curate(str(tmp_path / "source"), n=6, seed=0, out=tmp_path / "chosen")
    source = tomllib.loads(curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "all").read_text())["image"]
    there = Counter((row["kind"], row["group"]) for row in source)
    chosen = Counter((row["kind"], row["group"]) for row in tomllib.loads(path.read_text())["image"])
    for kind in ("face", "object", "scene"):
        groups = [group for one, group in there if one == kind]
        assert len([group for one, group in chosen if one == kind]) == min(2, len(groups))


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    chosen = {
        name: curate(str(tmp_path / "source"), n=6, seed=seed, out=tmp_path / name / "suite")
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    }
    assert chosen["a"].read_bytes() == chosen["b"].read_bytes()
    assert load_suite(str(chosen["a"])).sha256 != load_suite(str(chosen["c"])).sha256


def test_images_are_written_as_they_are_stored(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    path = curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")
    written = {file.read_bytes() for file in (path.parent / "images").iterdir()}
    assert written == {stored(seed) for seed in range(12)}


def test_later_turns_of_magicbrush_are_not_sources(tmp_path: Path) -> None:
    magicbrush(tmp_path / "source")
    suite = load_suite(str(curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")))
    assert {image.read() for image in suite.images} == {stored(seed) for seed in range(12)}


def test_gedit_gives_the_raw_image_once_for_both_languages(tmp_path: Path) -> None:
    gedit_stream(tmp_path / "source")
    suite = load_suite(str(curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")))
    assert {image.read() for image in suite.images} == {stored(seed) for seed in range(12)}


def test_i2ebench_gives_the_clean_image_where_there_is_one(tmp_path: Path) -> None:
    i2ebench(tmp_path / "source")
    suite = load_suite(str(curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")))
    hazy = [image for image in suite.images if image.id.startswith("HazeRemoval")]
    assert {image.read() for image in hazy} == {stored(200 + seed, "JPEG") for seed in range(6)}


def test_equal_images_are_taken_once_and_counted(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    for copy in range(5):
        (tmp_path / "source" / "faces" / f"copy{copy}.png").write_bytes(stored(0))
    path = curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")
    assert tomllib.loads(path.read_text())["curation"]["duplicates"] == 5


def test_unreadable_images_are_passed_over_and_counted(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    (tmp_path / "source" / "faces" / "0.png").write_bytes(stored(0)[:-30])
    path = curate(str(tmp_path / "source"), n=11, seed=0, out=tmp_path / "chosen")
    assert tomllib.loads(path.read_text())["curation"]["unreadable"] == 1


def test_too_few_images_says_how_many_there_are(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    with pytest.raises(StudyError, match=r"has 12 different readable images \(4 face, 4 object, 4 scene\), not 13"):
        curate(str(tmp_path / "source"), n=13, seed=0, out=tmp_path / "chosen")
    assert not (tmp_path / "chosen").exists()


def test_only_the_wanted_kinds_are_chosen(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    path = curate(str(tmp_path / "source"), n=4, seed=0, out=tmp_path / "chosen", kinds=("face",))
    assert load_suite(str(path)).counts() == {"face": 4, "object": 0, "scene": 0}


def test_another_suite_is_never_overwritten(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    curate(str(tmp_path / "source"), n=6, seed=0, out=tmp_path / "chosen")
    curate(str(tmp_path / "source"), n=6, seed=0, out=tmp_path / "chosen")
    with pytest.raises(StudyError, match="already holds another suite"):
        curate(str(tmp_path / "source"), n=6, seed=1, out=tmp_path / "chosen")


@pytest.mark.parametrize(
    ("source", "fault"),
    [("nowhere", "no folder nowhere"), ("hub:MagicBrush", "write hub:ORG/NAME"), (".", "nothing to choose from")],
)
def test_a_source_that_is_not_there_is_told(
    source: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match=fault):
        curate(source, n=1, seed=0, out=tmp_path / "chosen")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("annotations/instances_val2017.json", b'{"images": [{"id": 1}]}'),
        ("singleturn.json", b'{"1": {"prompt": "Add a hat"}}'),
        ("singleturn.json", b"[1, 2]"),
        ("data.parquet", b"PAR1 and then nothing"),
        ("annotations/instances_val2017.json", b"{"),
    ],
)
def test_a_data_set_laid_out_otherwise_is_told_in_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StudyError, match=r"looks like|as JSON|is not a readable Parquet file") as caught:
        curate(str(tmp_path), n=1, seed=0, out=tmp_path / "chosen")
    assert "\n" not in str(caught.value)


def test_kinds_csv_is_heeded_in_a_plain_folder(tmp_path: Path) -> None:
    plain(tmp_path / "source")
    (tmp_path / "source" / "kinds.csv").write_text("file,kind\nfaces/0.png,object\n")
    path = curate(str(tmp_path / "source"), n=12, seed=0, out=tmp_path / "chosen")
    assert load_suite(str(path)).counts() == {"face": 3, "object": 5, "scene": 4}


def test_bad_numbers_and_kinds_are_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="n must be 1 or more"):
        curate(str(tmp_path), n=0, seed=0, out=tmp_path)
    with pytest.raises(StudyError, match="kinds must be some of"):
        curate(str(tmp_path), n=1, seed=0, out=tmp_path, kinds=("animal",))


def test_a_hub_source_without_the_client_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(Prerequisite, match=r'pip install "convergebench\[hub\]"'):
        curate("hub:osunlp/MagicBrush", n=1, seed=0, out=tmp_path / "chosen")


def test_a_hub_source_is_read_like_a_local_copy_and_pins_its_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the network is the one part that cannot run here
    asked: dict[str, object] = {}

    def snapshot_download(name: str, **options: object) -> str:
        asked.update(options, name=name)
        return str(tmp_path / "abc123")

    magicbrush(tmp_path / "abc123")
    client = ModuleType("huggingface_hub")
    monkeypatch.setattr(client, "snapshot_download", snapshot_download, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    path = curate("hub:osunlp/MagicBrush@main#train", n=3, seed=0, out=tmp_path / "chosen")
    assert asked["name"] == "osunlp/MagicBrush"
    assert (asked["revision"], asked["allow_patterns"]) == ("main", ["*train*"])
    assert tomllib.loads(path.read_text())["curation"]["source"] == "hub:osunlp/MagicBrush@abc123#train"


@settings(max_examples=10, deadline=None)
@given(n=st.integers(1, 12), seed=st.integers(0, 1000))
def test_kinds_differ_by_at_most_one_when_there_is_enough(
    n: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pool")
    plain(folder / "source")
    counts = load_suite(str(curate(str(folder / "source"), n=n, seed=seed, out=folder / "out"))).counts()
    assert sum(counts.values()) == n
    assert max(counts.values()) - min(counts.values()) <= 1


def test_coco_kinds_follow_the_stated_shares() -> None:
    assert kind_from_boxes([AnnotatedBox("person", 0.15)]) == "face"
    assert kind_from_boxes([AnnotatedBox("person", 0.5, face_seen=False), AnnotatedBox("dog", 0.5)]) == "scene"
    assert kind_from_boxes([AnnotatedBox("dog", 0.2)]) == "object"
    assert kind_from_boxes([AnnotatedBox("dog", 0.19)]) == "scene"
    assert kind_from_boxes([]) == "scene"


def test_subject_words_and_instructions_tell_the_kind() -> None:
    assert [kind_from_subject(word) for word in ("Human", "daily_object", "scenery", "style")] == [
        "face",
        "object",
        "scene",
        None,
    ]
    for kind, instructions in INSTRUCTIONS.items():
        assert {kind_from_instruction(one) for one in instructions} == {kind}


def test_curating_a_folder_into_itself_writes_over_no_picture(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "a.png").write_bytes(stored(1))
    (tmp_path / "images" / "a.png").write_bytes(stored(2))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.png")}
    for seed in range(4):  # in some order the first comes to lie where the second is
        with suppress(StudyError):
            curate(str(tmp_path), n=1, seed=seed, out=tmp_path)
    assert {path: path.read_bytes() for path in before} == before


def test_a_manifest_that_is_no_text_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "a.png").write_bytes(stored(1))
    (tmp_path / "suite.toml").write_bytes(b"\xff")
    with pytest.raises(StudyError, match="already holds another suite"):
        curate(str(tmp_path / "from"), n=1, seed=0, out=tmp_path)


@pytest.mark.parametrize("way", ["above", "absolute", "link"])
def test_a_data_set_does_not_name_files_outside_its_folder(way: str, tmp_path: Path) -> None:
    """A stranger's table must not bring a private picture into a suite that is sent to a provider."""
    private = tmp_path / "private.png"
    private.write_bytes(encode_png(np.full((8, 8, 3), 7, np.uint8)))
    folder = tmp_path / "set"
    (folder / "annotations").mkdir(parents=True)
    name = {"above": "../../private.png", "absolute": str(private), "link": "a.png"}[way]
    if way == "link":
        (folder / "val").mkdir()
        (folder / "val" / "a.png").symlink_to(private)
    image = {"id": 1, "file_name": name, "width": 8, "height": 8}
    (folder / "annotations" / "instances_val.json").write_text(json.dumps({"images": [image]}))
    with pytest.raises(StudyError, match="1 unreadable"):
        curate(str(folder), n=1, seed=0, out=tmp_path / "out")
    cell = {"bytes": None, "path": name}
    row = {"img_id": ["1"], "turn_index": [1], "instruction": ["add a hat"], "source_img": [cell]}
    shape = {"source_img": pl.Struct({"bytes": pl.Binary, "path": pl.String})}
    (tmp_path / "hub" / "val").mkdir(parents=True)
    pl.DataFrame(row, schema_overrides=shape).write_parquet(tmp_path / "hub" / "part.parquet")
    if way == "link":
        (tmp_path / "hub" / "a.png").symlink_to(private)
    with pytest.raises(StudyError, match="1 unreadable"):
        curate(str(tmp_path / "hub"), n=1, seed=0, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
