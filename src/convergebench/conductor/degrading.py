"""Write degraded copies of a suite's pictures: PNG files, a manifest that studies read, a sheet to look at."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.conductor.observer import Observer
from convergebench.conductor.sources import LEAVE_OUT, choose
from convergebench.datasets.atomic import whole_folder
from convergebench.degradations import load_degradation
from convergebench.degradations.base import Degradation
from convergebench.degradations.pictures import degraded_facts, spoilt
from convergebench.errors import Prerequisite, StudyError
from convergebench.ids import canonical
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.export import file_name, image_table, write_once
from convergebench.images.folder import slug
from convergebench.images.frame import Pixels
from convergebench.images.manifest import read_manifest
from convergebench.images.suite import load_suite, not_here
from convergebench.progress import Progress
from convergebench.registry import names
from convergebench.report.degraded_sheet import MOST_SHOWN, DegradedRow, degraded_sheet, shown
from convergebench.types import SourceImage

MANIFEST, SHEET, RECIPE = "suite.toml", "sheet.html", "recipe.json"
OF_SCENES = ("mixed",)
"""Copies that stay in the set of their picture's kind; those of others are in a set named after the degradation."""


@dataclass(frozen=True, slots=True)
class DegradeOptions:
    """What the command is told."""

    degradations: tuple[str, ...] = ("all",)
    severity: float = 1.0
    seed: int = 0
    limit: int = 0
    partial: bool = False
    """Whether pictures that are not on this machine are left out."""


class DegradedSet(NamedTuple):
    """What a folder of degraded copies holds."""

    clean: int
    copies: int
    written: bool
    """False: it was there already."""
    manifest: str = MANIFEST
    sheet: str = SHEET


def degrade(name_or_path: str, out: Path, options: DegradeOptions, observer: Observer | None = None) -> DegradedSet:
    """Write the copies into the new folder `out`; what an interrupted command has made is used."""
    observer = observer or Observer()
    spoils = _chosen(options.degradations)
    images = _clean_images(name_or_path, options, observer)
    _require_own_names(images, spoils)
    recipe = _recipe(name_or_path, images, spoils, options)
    total = len(images) * len(spoils)
    if _is_there(out, recipe):
        return DegradedSet(len(images), total, written=False)
    progress = Progress(steps=total, chains=len(images))
    with (
        whole_folder(out, canonical(recipe)) as folder,
        observer.watch("degrading", progress, unit="copies", of="pictures"),
    ):
        name = slug(out.resolve().name)
        tables = [f"name = {canonical(name)}\n"]
        rows: list[DegradedRow] = []
        for image in images:
            made = []
            for one in _make(image, spoils, folder=folder, options=options):
                made.append(one)
                progress.steps_done += bool(one[0].clean)
                progress.steps_called += bool(one[0].clean)
            tables += [image_table(one, path) for one, path, _ in made]
            if len(rows) < MOST_SHOWN:
                rows.append(DegradedRow(image, [shown(one, path, pixels) for one, path, pixels in made]))
            progress.chains_done += 1
        how = f"severity {options.severity:g} (1 is typical), seed {options.seed}"
        write_once(folder / SHEET, degraded_sheet(name, rows, spoils, how=how, total=len(images)).encode())
        write_once(folder / MANIFEST, "\n".join(tables).encode())
        write_once(folder / RECIPE, (json.dumps(recipe, indent=1, ensure_ascii=False) + "\n").encode())
    return DegradedSet(len(images), total, written=True)


def _chosen(asked: Sequence[str]) -> list[Degradation]:
    every = [name for one in asked for name in (names("degradations") if one == "all" else [one])]
    return [load_degradation(name) for name in dict.fromkeys(every)]


def _clean_images(name_or_path: str, options: DegradeOptions, observer: Observer) -> list[SourceImage]:
    suite = load_suite(name_or_path, partial=True)
    clean = [image for image in suite.listed if not image.clean and not image.degradation]
    if not clean:
        raise StudyError(f"all images of '{suite.name}' are already degraded; name a suite of clean images")
    chosen = choose(clean, (), options.limit)
    ids = {image.id for image in chosen}
    missing = [one for one in suite.missing if one.id in ids]
    lost = {one.id for one in missing}
    left = [image for image in chosen if image.id not in lost]
    if missing:
        lack = not_here(suite, missing, name_or_path)
        if not left or not options.partial:
            raise Prerequisite(f"{lack}{LEAVE_OUT.partition(' (')[0] if left else ''}")
        observer.note(f"left out: {lack}")
    return left


def _require_own_names(images: Sequence[SourceImage], spoils: Sequence[Degradation]) -> None:
    """`StudyError` if a copy would have the name of another clean picture."""
    taken = {image.id for image in images} & {f"{image.id}.{spoil.name}" for image in images for spoil in spoils}
    if taken:
        raise StudyError(
            f"the picture '{min(taken)}' has the name of a degraded copy of another image; rename its file"
        )


def _recipe(
    name_or_path: str, images: Sequence[SourceImage], spoils: Sequence[Degradation], options: DegradeOptions
) -> dict[str, Any]:
    """All that decides what the copies look like, apart from the versions of libraries."""
    return {
        "from": name_or_path,
        "degradations": [spoil.fingerprint for spoil in spoils],
        "severity": options.severity,
        "seed": options.seed,
        "clean": {image.id: image.sha256 for image in images},
    }


def _is_there(out: Path, recipe: dict[str, Any]) -> bool:
    """Whether `out` is a whole folder of this recipe; `StudyError` if it is one of another."""
    try:
        found = json.loads((out / RECIPE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if found != recipe:
        raise StudyError(f"--out {out} holds degraded copies made with another recipe ({RECIPE}); name a new folder")
    read_manifest(out / MANIFEST)  # a copy that was changed since is named there
    return True


def _make(
    image: SourceImage, spoils: Sequence[Degradation], *, folder: Path, options: DegradeOptions
) -> Iterator[tuple[SourceImage, str, Pixels]]:
    """The clean picture and its copies as they are described, where their files are, and their pixels."""
    clean = decode(image.read(), what=f"image '{image.id}'").pixels
    (folder / "images").mkdir(exist_ok=True)

    def copy(spoil: Degradation | None) -> tuple[SourceImage, str, Pixels]:
        facts = image
        if spoil is not None:
            kind = image.kind if spoil.name in OF_SCENES else spoil.name
            facts = degraded_facts(image, spoil.name, kind=kind, severity=options.severity, seed=options.seed)
        path = file_name(facts.id, "image/png")
        file = folder / path
        if file.is_file():  # made before an interruption, and written whole
            data = file.read_bytes()
            pixels = decode(data, what=path).pixels
        else:
            pixels = clean
            if spoil is not None:
                pixels = spoilt(image, clean, spoil, severity=options.severity, seed=options.seed)
            data = encode_png(pixels, compression=3)
            write_once(file, data)
        height, width = pixels.shape[:2]
        return replace(facts, sha256=hashlib.sha256(data).hexdigest(), width=width, height=height), path, pixels

    with ThreadPoolExecutor() as pool:
        yield from pool.map(copy, [None, *spoils])
