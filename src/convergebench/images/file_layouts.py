"""Data sets kept as JSON beside image files: COCO, ImgEdit's benchmark, I2EBench; and plain folders."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.images.candidates import Candidate, CandidatePool, read_bytes, read_named
from convergebench.images.folder import image_files, image_ids, kind_of, kinds_file
from convergebench.images.kinds import AnnotatedBox, kind_from_boxes, kind_from_instruction, kind_from_subject

_LATER_ROUND = re.compile(r"_\d(st|nd|rd|th)$")
_FACE_POINTS = 3


def read_coco(folder: Path) -> CandidatePool | None:
    """COCO: `annotations/instances_*.json` or `person_keypoints_*.json` beside folders of images."""
    files = sorted(folder.glob("annotations/instances_*.json")) or sorted(folder.glob("annotations/*keypoints_*.json"))
    contents = [(path, _json(path)) for path in files]
    if not contents:
        return None
    candidates = [one for path, content in contents for one in _coco_images(folder, path, content)]
    rule = "COCO boxes: a person over 15 % of the picture → face; no person and a thing over 20 % → object; else scene"
    return CandidatePool("COCO", rule, candidates)


def _coco_images(folder: Path, path: Path, content: dict[str, Any]) -> Iterable[Candidate]:
    categories = {one["id"]: one["name"] for one in content.get("categories", ())}
    licences = {one["id"]: one.get("name", "not stated") for one in content.get("licenses", ())}
    seen = _faces_seen(path)
    marks: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for mark in content.get("annotations", ()):
        if not mark.get("iscrowd"):
            marks[mark["image_id"]].append(mark)
    part = path.stem.split("_")[-1]
    for image in content["images"]:
        area = max(1, image["width"] * image["height"])
        boxes = [
            AnnotatedBox(
                categories.get(mark["category_id"], "person"),
                mark["bbox"][2] * mark["bbox"][3] / area,
                seen.get(mark["id"]),
            )
            for mark in marks[image["id"]]
        ]
        largest = max(boxes, key=lambda box: box.share, default=None)
        yield Candidate(
            id=Path(image["file_name"]).stem,
            kind=kind_from_boxes(boxes),
            group=largest.category if largest else "nothing",
            licence=licences.get(image.get("license"), "not stated"),
            source=f"COCO {part}: {image.get('flickr_url') or image['file_name']}",
            read=partial(read_named, folder, f"{part}/{image['file_name']}", f"images/{image['file_name']}"),
        )


def _faces_seen(path: Path) -> dict[int, bool]:
    """For each annotated person with key points: are nose and both eyes visible?"""
    beside = path.with_name(path.name.replace("instances_", "person_keypoints_"))
    if not beside.is_file():
        return {}
    return {
        mark["id"]: all(mark["keypoints"][3 * point + 2] == 2 for point in range(_FACE_POINTS))
        for mark in _json(beside).get("annotations", ())
        if mark.get("keypoints")
    }


def read_imgedit(folder: Path) -> CandidatePool | None:
    """ImgEdit's benchmark: `singleturn.json` or `basic_edit.json` with {key: {id, prompt, edit_type}}."""
    names = ("singleturn.json", "basic_edit.json")
    path = next((found for name in names for found in sorted(folder.rglob(name))), None)
    if path is None:
        return None
    roots = (path.parent.relative_to(folder).as_posix(), ".", "singleturn", "Benchmark/singleturn")
    candidates: dict[str, Candidate] = {}
    for row in _json(path).values():
        name = row["id"]
        candidates.setdefault(
            name,
            Candidate(
                id="-".join(Path(name).with_suffix("").parts),
                kind=kind_from_subject(Path(name).parts[0]) or kind_from_instruction(row["prompt"]),
                group=row["edit_type"],
                licence="not stated",
                source=f"ImgEdit benchmark: {name}",
                read=partial(read_named, folder, *(f"{root}/{name}" for root in roots)),
            ),
        )
    rule = "ImgEdit's subject folder where it tells, else the words of the first instruction"
    return CandidatePool("ImgEdit", rule, list(candidates.values()))


def read_i2ebench(folder: Path) -> CandidatePool | None:
    """I2EBench: `EditData/DIMENSION/DIMENSION.json` with {n: {image, ori_exp, div_exp, type}}; clean images first."""
    root = folder / "EditData" if (folder / "EditData").is_dir() else folder
    files = [path for path in sorted(root.glob("*/*.json")) if path.stem == path.parent.name]
    files = [path for path in files if not _LATER_ROUND.search(path.stem)]
    contents = [(path, content) for path in files if _is_i2ebench(content := _json(path))]
    if not contents:
        return None
    candidates = [
        Candidate(
            id=f"{path.stem}-{Path(row['image']).stem}",
            kind=kind_from_subject(str(row.get("type", ""))) or kind_from_instruction(row["ori_exp"]),
            group=path.stem,
            licence="Apache-2.0 (data set); photographs as in COCO",
            source=f"I2EBench: {path.stem}/{row['image']}",
            read=partial(read_named, path.parent, *(f"{sub}/{row['image']}" for sub in ("gt", "input", "images", "."))),
        )
        for path, content in contents
        for row in content.values()
    ]
    return CandidatePool("I2EBench", "I2EBench's own subject word, else the words of the instruction", candidates)


def read_plain_folder(folder: Path) -> CandidatePool | None:
    """Any folder of images: kind from `kinds.csv` or the names of sub-folders, which are its groups too."""
    files = image_files(folder)
    if not files:
        return None
    kinds = kinds_file(folder)
    relative = [path.relative_to(folder) for path in files]
    candidates = [
        Candidate(
            id=id,
            kind=kind_of(name, kinds)[0],
            group=name.parent.as_posix(),
            licence="not stated",
            source=f"{folder.resolve().name}/{name.as_posix()}",
            read=partial(read_bytes, path),
        )
        for path, name, id in zip(files, relative, image_ids(relative), strict=True)
    ]
    return CandidatePool(
        "folder", "kinds.csv, else the sub-folder's name (face, portrait, object, scene), else scene", candidates
    )


def _is_i2ebench(content: Any) -> bool:
    rows = list(content.values()) if isinstance(content, dict) else []
    return bool(rows) and all(isinstance(row, dict) and {"image", "ori_exp"} <= row.keys() for row in rows)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read {path} as JSON: {error}") from error
