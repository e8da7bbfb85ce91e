"""Recorded chains, ratings and labels that others wrote: JSON lines, CSV, JSON, tar and zip files."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from convergebench.conductor.factory_ratings_sheet import read_ratings
from convergebench.conductor.factory_sample import JudgedEdit
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import ImportChoices, choose_chains, prepare_recordings
from convergebench.failures.label_sheet import read_label_sheet
from convergebench.images.curate import curate
from convergebench.images.folder import read_folder
from convergebench.measuring.opinions import read_opinions
from convergebench.sheets import csv_line
from tests.datasets import sets
from tests.datasets.test_hostile_metadata import ROWS
from tests.fuzz.pictures import picture
from tests.fuzz.target import FuzzTarget, as_folder, of_file

PICTURES = {f"{step}.png": picture("PNG", side=10 + step) for step in range(3)}
BESIDE = {f"images/{name}": data for name, data in PICTURES.items()} | PICTURES
COCO = {
    "images": [{"id": 1, "file_name": "0.png", "width": 12, "height": 12, "license": 1}],
    "annotations": [{"id": 5, "image_id": 1, "category_id": 2, "bbox": [0, 0, 6, 6], "iscrowd": 0}],
    "categories": [{"id": 2, "name": "dog"}],
    "licenses": [{"id": 1, "name": "CC-BY"}],
}
IMGEDIT = {"1": {"id": "animal/0.png", "prompt": "add a hat", "edit_type": "add"}}
I2E = {"1": {"image": "0.png", "ori_exp": "add a hat", "type": "animal"}}
EDIT = JudgedEdit("e", "c", 1, "s", "k", True, "add a hat", "i1:00", "a.png", "b.png")
RATING = """run,editor,case,position,image,question,value,rater,made
r,e,c,1,i1:00,seamlessness,0.5,Anna,2026-01-01T00:00:00Z
"""
LABEL = "editor,case,mode,present,step,last,x,y,width,height,by,note\ne,c,colour-cast,yes,1,2,0,0,0.5,1,Anna,odd\n"


@cache
def _files(make: Callable[[Path], Path]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = make(Path(name))
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _set(make: Callable[[Path], Path], table: str, data: bytes) -> None:
    _chains(table, data, beside=_files(make))


def _chains(name: str, data: bytes, *, beside: Mapping[str, bytes] = BESIDE) -> None:
    """Read as `cbench import` reads it, pictures included."""
    with as_folder({**beside, name: data}) as folder:
        _, _, found = read_chains(folder)
        chosen = choose_chains(found.chains, ImportChoices())
        prepare_recordings(chosen, faults=found.faults)


def _curate(name: str, data: bytes, *, beside: str = "") -> None:
    with as_folder({f"set/{name}": data, f"set/{beside}0.png": PICTURES["0.png"]}) as folder:
        curate(str(folder / "set"), n=1, seed=0, out=folder / "out")


def _kinds(data: bytes) -> None:
    with as_folder({"kinds.csv": data, "0.png": PICTURES["0.png"]}) as folder:
        read_folder(folder)


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


@cache
def _tar() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for number, row in enumerate(ROWS):
            for name, data in (
                (f"{number}.json", json.dumps(row).encode()),
                (f"{number}.png", PICTURES[f"{number}.png"]),
            ):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return target.getvalue()


def _sheet() -> bytes:
    return (csv_line(ROWS[0]) + "".join(csv_line(row.values()) for row in ROWS)).encode()


def _labels(data: bytes) -> None:
    read = partial(read_label_sheet, chains={("e", "c"): 3}, modes=["colour-cast"], made="now")
    of_file(lambda path: read(path, level_of=lambda mode: "image"), ".csv")(data)


def _opinions(data: bytes) -> None:
    with as_folder({"mos.csv": data, "0.png": PICTURES["0.png"]}) as folder:
        read_opinions(folder / "mos.csv")


TARGETS = {
    "chains-jsonl": FuzzTarget(partial(_chains, "metadata.jsonl"), lambda: (_lines(ROWS),)),
    "chains-csv": FuzzTarget(partial(_chains, "metadata.csv"), lambda: (_sheet(),)),
    "chains-tar": FuzzTarget(partial(_chains, "part-000.tar", beside={}), lambda: (_tar(),)),
    "chains-edival": FuzzTarget(
        partial(_set, sets.edival, "oai_instruction_generation_output.csv"), lambda: (sets.edival_table().encode(),)
    ),
    "chains-pico": FuzzTarget(
        partial(_set, sets.pico, "jsonl/multi-turn.jsonl"), lambda: (_lines([sets.pico_row("102_attemptA", 2)]),)
    ),
    "coco": FuzzTarget(
        partial(_curate, "annotations/instances_val.json", beside="val/"), lambda: (json.dumps(COCO).encode(),)
    ),
    "imgedit": FuzzTarget(
        partial(_curate, "singleturn.json", beside="animal/"), lambda: (json.dumps(IMGEDIT).encode(),)
    ),
    "i2ebench": FuzzTarget(partial(_curate, "Hat/Hat.json", beside="Hat/input/"), lambda: (json.dumps(I2E).encode(),)),
    "kinds": FuzzTarget(_kinds, lambda: (b"file,kind,title\n0.png,scene,a hill\n",)),
    "labels": FuzzTarget(_labels, lambda: (LABEL.encode(),)),
    "factory-ratings": FuzzTarget(
        of_file(lambda path: read_ratings(path, "r", [EDIT]), ".csv"), lambda: (RATING.encode(),)
    ),
    "opinions": FuzzTarget(_opinions, lambda: (b"image,mos\n0.png,3.5\n",)),
}
