"""How often the measuring judge, detector and inspector are wrong, on pictures whose truth is known.

python -m benchmarks.factory_judge [judge|studio|detector|inspector] [--limit N] [--half test|development] [--json FILE]

`judge`: edits are planted into photographs, good ones and spoilt ones (`benchmarks/planted/_edits.py`), and judged with
the weights and the threshold of the study. `studio`: the same for edits by `sim-studio-clumsy`, which says what went
wrong, with instructions by the template writer. `detector`: faces and writing on the suite `builtin`, by what its
manifest says. `inspector`: sessions of sound edits, and copies through editors that wear a picture. Levels were chosen
on the half `development` of the photographs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.failures import rate
from benchmarks.planted._edits import MAKES, Photograph, PlantedEdit, any_turn, faults
from benchmarks.planted._pictures import Picture, pictures
from convergebench.editors.find import make_editor
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import Refused
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.roles.content_detector import MeasuringDetector
from convergebench.roles.measuring import MeasuringJudge
from convergebench.roles.quality_inspector import MeasuringInspector
from convergebench.roles.template_writer import TemplateWriter
from convergebench.rubrics.rubric import load_rubric, question
from convergebench.studies.dealing import PEOPLE
from convergebench.studies.factory_table import CRITERIA, FactoryTable
from convergebench.types import EditRequest

LONGEST = 320
OTHERS = 6
GOOD = "good"
TURNS = 3
"""Each photograph has every third type, beginning one further on."""


@dataclass(frozen=True)
class Judged:
    """One edit whose truth is known."""

    picture: str
    edit_type: str
    make: str
    """`good`, or the name of its fault."""
    score: float
    criteria: tuple[float, ...]
    seconds: float
    why: str = ""

    @property
    def scope(self) -> str:
        """Of its type."""
        return taxonomy()[self.edit_type].scope

    @property
    def accepted(self) -> bool:
        """As the study decides."""
        return self.score > FactoryTable().threshold


def photograph(picture: Picture, others: list[Pixels]) -> Photograph:
    """The picture at the size of the benchmark, with what is known of its person and its main object."""
    from convergebench.vision.faces import find_faces
    from convergebench.vision.masks import object_mask, person_mask
    from convergebench.vision.objects import PixelBox

    pixels = reduced(picture.pixels)
    height, width = pixels.shape[:2]
    faces = find_faces(pixels) if picture.image.kind == "face" else []
    eyes = mouth = None
    person: NDArray[np.bool_] | None = None
    if faces:
        eyes = np.stack([faces[0].left_eye.mean(0), faces[0].right_eye.mean(0)])
        mouth = faces[0].mouth[[0, 10]]
        person = person_mask(pixels)
    return Photograph(pixels, others, person, eyes, mouth, object_mask(pixels, PixelBox(0, 0, width, height)))


def reduced(pixels: Pixels, longest: int = LONGEST) -> Pixels:
    """So that the longer side has this many pixels."""
    factor = min(1.0, longest / max(pixels.shape[:2]))
    size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def planted(limit: int, half: str, seed: int) -> Iterator[tuple[str, PlantedEdit, Photograph, np.random.Generator]]:
    """Edits of the photographs of a half."""
    chosen = pictures(max(limit, OTHERS), half)
    for number, picture in enumerate(chosen[:limit]):
        others = [reduced(one.pixels) for one in chosen[:OTHERS] if one.name != picture.name]
        photo = photograph(picture, others)
        for make in MAKES[number % TURNS :: TURNS]:
            chance = np.random.default_rng([seed, number, MAKES.index(make)])
            edit = make(photo, chance)
            if edit is not None:
                yield picture.name, edit, photo, chance


def judge(picture: str, edit: PlantedEdit, make: str, pixels: Pixels) -> Judged:
    """One edit, as the study asks about it."""
    one = taxonomy()[edit.edit_type]
    facts = {"edit_type": one.id, "scope": one.scope, "operation": one.operation, "instruction": edit.instruction}
    asked = question(load_rubric("judge-edit"), {"instruction": edit.instruction}, **facts)
    images = _png(pixels), _png(edit.before)
    begun = time.perf_counter()
    value = asyncio.run(_judge().ask(images, asked)).value
    seconds = time.perf_counter() - begun
    score = FactoryTable().weights.score(value)
    return Judged(picture, one.id, make, score, tuple(value[name] for name in CRITERIA), seconds, value["reason"])


def _png(pixels: Pixels) -> bytes:
    return encode_png(np.ascontiguousarray(pixels), compression=1)


@lru_cache(1)
def _judge() -> MeasuringJudge:
    return MeasuringJudge()


def area_under_curve(good: Sequence[float], bad: Sequence[float]) -> float | None:
    """Probability that a good edit scores higher than a bad one; ties count half."""
    if not good or not bad:
        return None
    better = np.subtract.outer(good, bad)
    return float(((better > 0) + 0.5 * (better == 0)).mean())


def tables(found: Sequence[Judged]) -> str:
    """Markdown: by fault, by scope and by type."""
    good = [one for one in found if one.make == GOOD]
    bad = [one for one in found if one.make != GOOD]
    lines = ["| fault | edits | accepted at 0.7 | AUC against good | mean score |", "|---|---|---|---|---|"]
    lines.append(f"| none (good) | {len(good)} | {rate(_accepted(good), len(good))} | | {_mean(good)} |")
    for name in ["all", *dict.fromkeys(one.make for one in bad)]:
        own = [one for one in bad if name in ("all", one.make)]
        area = area_under_curve([one.score for one in good], [one.score for one in own])
        lines.append(f"| {name} | {len(own)} | {rate(_accepted(own), len(own))} | {area:.3f} | {_mean(own)} |")
    for part in ("scope", "edit_type"):
        lines += ["", f"| {part} | good | rejected | faulty | accepted | AUC |", "|---|---|---|---|---|---|"]
        for name in dict.fromkeys(str(getattr(one, part)) for one in found):
            own, spoilt = ([one for one in rows if getattr(one, part) == name] for rows in (good, bad))
            area = area_under_curve([one.score for one in own], [one.score for one in spoilt])
            cells = [name, str(len(own)), rate(len(own) - _accepted(own), len(own)), str(len(spoilt))]
            cells += [rate(_accepted(spoilt), len(spoilt)), "–" if area is None else f"{area:.3f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _accepted(rows: Iterable[Judged]) -> int:
    return sum(one.accepted for one in rows)


def _mean(rows: Sequence[Judged]) -> str:
    return f"{np.mean([one.score for one in rows]):.2f}" if rows else "–"


def judged(limit: int, half: str, seed: int) -> list[Judged]:
    """Every planted edit and every fault of it."""
    found = []
    for name, edit, photo, chance in planted(limit, half, seed):
        found.append(judge(name, edit, GOOD, edit.after))
        found += [judge(name, edit, fault, pixels) for fault, pixels in faults(edit, photo, chance).items()]
    return found


def studio(limit: int, half: str, seed: int) -> list[Judged]:
    """Edits by the simulated studio, sound ones and spoilt ones; what it refuses is left out."""
    found = []
    for number, picture in enumerate(pictures(limit, half)):
        source = _png(reduced(picture.pixels))
        shown = asyncio.run(MeasuringDetector().ask((source,), question(load_rubric("find-content"), {}))).value
        for place, one in enumerate(taxonomy().values()):
            if (place + number) % TURNS or (one.needs and not shown[one.needs]):
                continue
            for draw in range(2):
                made = asyncio.run(_by_studio(source, one.id, seed=1000 * seed + 10 * number + draw))
                if made is not None:
                    instruction, edited, fault = made
                    before, after = (decode(data, what="studio").pixels for data in (source, edited))
                    found.append(judge(picture.name, PlantedEdit(one.id, instruction, before, after), fault, after))
    return found


async def _by_studio(source: bytes, edit_type: str, *, seed: int) -> tuple[str, bytes, str] | None:
    asked = question(load_rubric("write-instruction"), {"edit_type": edit_type}, edit_type=edit_type)
    written = await TemplateWriter().ask((source,), asked)
    instruction = written.value["prompts"][0]
    editor = make_editor("sim-studio-clumsy", faults=0.5)
    try:
        edited = await editor.edit(EditRequest(source, "image/png", instruction, seed=seed))
    except Refused:
        return None
    return instruction, edited.image, str((edited.used or {}).get("fault") or GOOD)


class Content(NamedTuple):
    """What the detector found in a picture, and what its manifest says."""

    picture: str
    person: bool
    person_found: bool
    text: bool
    text_found: bool


def detected() -> list[Content]:
    """Every picture of the suite `builtin`, reduced to 1024 pixels."""
    found = []
    for image in load_suite("builtin", partial=True).images:
        small = _png(reduced(decode(image.read(), what=image.id).pixels, 1024))
        asked = question(load_rubric("find-content"), {})
        value = asyncio.run(MeasuringDetector().ask((small,), asked)).value
        held = set(image.holds or ())
        # persons in the distance are listed too; only portraits are known to show a face
        person = image.kind == "face"
        if person or not held & PEOPLE:
            found.append(Content(image.id, person, value["person"] > 0.5, "text" in held, value["text"] > 0.5))
    return found


def detector_table(found: Sequence[Content]) -> str:
    """Markdown: how often a person and writing are found, and how often where there is none."""
    lines = ["| content | shown | found | not shown | found all the same |", "|---|---|---|---|---|"]
    for name in ("person", "text"):
        shown = [getattr(one, f"{name}_found") for one in found if getattr(one, name)]
        absent = [getattr(one, f"{name}_found") for one in found if not getattr(one, name)]
        cells = [name, str(len(shown)), rate(sum(shown), len(shown)), str(len(absent)), rate(sum(absent), len(absent))]
        lines.append(f"| {' | '.join(cells)} |")
    wrong = [f"{one.picture} ({name})" for one in found for name in ("person", "text") if _is_wrong(one, name)]
    return "\n".join([*lines, "", f"wrong: {', '.join(wrong) or 'none'}"])


def _is_wrong(one: Content, name: str) -> bool:
    return bool(getattr(one, name) != getattr(one, f"{name}_found"))


WEARING = ("sim-jpeg", "sim-resize", "sim-noise", "sim-tint", "sim-blur", "sim-scatter", "sim-wrinkle", "sim-simplify")
COPIES = 30


class Inspected(NamedTuple):
    """The quality of a picture after edits whose soundness is known."""

    picture: str
    by: str
    worn: bool
    quality: float
    damage: tuple[str, ...]

    @property
    def stopped(self) -> bool:
        """As the study decides."""
        return self.quality < FactoryTable().least_quality


def inspected(limit: int, half: str, seed: int) -> list[Inspected]:
    """Single sound edits and sound sessions of three turns; and thirty copies through editors that wear."""
    found = []
    for name, edit, _, _ in planted(limit, half, seed):
        if edit.before.shape == edit.after.shape:
            found.append(_inspect(name, edit.edit_type, edit.after, edit.before, f"1. {edit.instruction}"))
    for number, picture in enumerate(pictures(limit, half)):
        source = reduced(picture.pixels)
        for session in range(2):
            chance = np.random.default_rng([seed, number, session])
            after, history = source, ""
            for turn in range(3):
                edit = any_turn(after, chance)
                after, history = edit.after, f"{history}{turn + 1}. {edit.instruction}\n"
            found.append(_inspect(picture.name, "session of three", after, source, history))
            by = WEARING[(2 * number + session) % len(WEARING)]
            worn = _copied(after, by)
            found.append(_inspect(picture.name, "session, worn", worn, source, history)._replace(worn=True))
        for by in WEARING:
            found.append(_inspect(picture.name, by, _copied(source, by), source))
    return found


def _inspect(picture: str, by: str, after: Pixels, before: Pixels, history: str = "") -> Inspected:
    """Copies have no history of edits, and all of them are worn."""
    worn = not history
    asked = question(load_rubric("inspect-quality"), {"history": history or "1. Create an exact copy of this image."})
    value = asyncio.run(MeasuringInspector().ask((_png(after), _png(before)), asked)).value
    return Inspected(picture, by, worn, value["quality"], tuple(value["damage"]))


def _copied(pixels: Pixels, by: str) -> Pixels:
    async def copies(data: bytes) -> bytes:
        editor = make_editor(by, by)
        for number in range(COPIES):
            words = "Create an exact copy of this image."
            data = (await editor.edit(EditRequest(data, "image/png", words, seed=number))).image
        return data

    return decode(asyncio.run(copies(_png(pixels))), what=by).pixels


def inspector_table(found: Sequence[Inspected]) -> str:
    """Markdown: how many are stopped, by edit or editor."""
    lines = ["| after | truth | pictures | stopped | mean quality |", "|---|---|---|---|---|"]
    for worn in (False, True):
        own = [one for one in found if one.worn is worn]
        for by in ["all", *dict.fromkeys(one.by for one in own)]:
            rows = [one for one in own if by in ("all", one.by)]
            stopped = rate(sum(one.stopped for one in rows), len(rows))
            quality = np.mean([one.quality for one in rows])
            lines.append(f"| {by} | {'worn' if worn else 'sound'} | {len(rows)} | {stopped} | {quality:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("role", nargs="?", choices=("judge", "studio", "detector", "inspector"), default="judge")
    parser.add_argument("--limit", type=int, default=12, help="photographs [default: 12]")
    parser.add_argument("--half", choices=("test", "development"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every reading there")
    arguments = parser.parse_args()
    limit, half, seed = arguments.limit, arguments.half, arguments.seed
    begun = time.perf_counter()
    found: Sequence[Any]
    if arguments.role == "detector":
        found = detected()
        text = detector_table(found)
    elif arguments.role == "inspector":
        found = inspected(limit, half, seed)
        text = inspector_table(found)
    else:
        found = (judged if arguments.role == "judge" else studio)(limit, half, seed)
        seconds = [one.seconds for one in found]
        text = f"median {np.median(seconds):.2f} s, longest {max(seconds):.2f} s an edit\n\n{tables(found)}"
    if arguments.json is not None:
        rows = [one._asdict() if hasattr(one, "_asdict") else asdict(one) for one in found]
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    sys.stdout.write(f"{arguments.role}: {len(found)} readings, half `{half}`, seed {seed}, ")
    sys.stdout.write(f"{time.perf_counter() - begun:.0f} s\n\n{text}\n")


if __name__ == "__main__":
    main()
