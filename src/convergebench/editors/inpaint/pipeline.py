"""Carries out a task on pixels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from convergebench.editors.inpaint import wearing
from convergebench.editors.inpaint.blending import blended, standing, with_contact_shadow
from convergebench.editors.inpaint.cutouts import Cutout, CutoutOrigin, load_cutout, origins
from convergebench.editors.inpaint.finding import FoundThing, find_thing, main_face, main_object, part_of_face
from convergebench.editors.inpaint.placing import Spot, choose_spot
from convergebench.editors.inpaint.recolouring import recoloured
from convergebench.editors.inpaint.removing import removed
from convergebench.editors.inpaint.task import EditTask
from convergebench.editors.inpaint.things import THINGS, KnownThing
from convergebench.editors.instructions.vocabulary import COLOURS, Colour
from convergebench.edits.geometry import Geometry
from convergebench.errors import Refused
from convergebench.images.frame import Pixels
from convergebench.vision.objects import detect_objects

TURNS: dict[Geometry, int] = {"rotate-90": -1, "rotate-180": 2, "rotate-270": 1}
SOFT = 1.2
"""Blur of the edge of a recoloured object, in pixels."""


class CarriedOut(NamedTuple):
    """The new picture, and what was found and used, for the record."""

    pixels: Pixels
    facts: dict[str, object]


def carry_out(image: Pixels, task: EditTask, seed: int) -> CarriedOut:
    """The picture after the task; `Refused` with the reason if it cannot be done."""
    random = np.random.default_rng(seed)
    match task.step:
        case "turn":
            return CarriedOut(_turned(image, task.turn), {"turn": task.turn})
        case "copy":
            return CarriedOut(image, {})
        case "remove":
            return _remove(image, task)
        case "recolour":
            return _recolour(image, task)
        case "replace":
            return _replace(image, task, random)
        case "add":
            return _add(image, task, random, None)


def _turned(image: Pixels, turn: Geometry | None) -> Pixels:
    if turn in TURNS:
        return np.ascontiguousarray(np.rot90(image, TURNS[turn]))
    return np.ascontiguousarray(image[:, ::-1] if turn == "flip-horizontal" else image[::-1])


def _remove(image: Pixels, task: EditTask) -> CarriedOut:
    found = find_thing(image, task.thing, task.colour, task.place)
    worn = THINGS[task.thing].part is not None
    return CarriedOut(removed(image, found.mask, shadow=not worn), _facts(found))


def _recolour(image: Pixels, task: EditTask) -> CarriedOut:
    import cv2

    if task.colour is None:
        raise Refused("the instruction names no colour", reason="not-understood")
    if task.thing and task.thing in THINGS:
        found = find_thing(image, task.thing, None, task.place)
        mask, facts = found.mask, _facts(found)
    elif task.part in (None, "main"):
        main = main_object(image)
        mask, facts = main.mask, _facts(main)
    else:
        mask, facts = part_of_face(image, str(task.part)), {"part": task.part}
    amount = np.asarray(cv2.GaussianBlur(mask.astype(np.float32), (0, 0), SOFT), np.float32)
    return CarriedOut(recoloured(image, amount, task.colour), facts)


def _replace(image: Pixels, task: EditTask, random: np.random.Generator) -> CarriedOut:
    cutout = _cutout(task, random)  # first: nothing is removed if there is nothing to put there
    old = find_thing(image, task.old, task.old_colour, task.place)
    worn = THINGS[task.old].part is not None
    cleared = removed(image, old.mask, shadow=not worn)
    thing = THINGS[task.thing]
    spot = None
    if thing.part is None and not worn:
        # in the place of the old object, as high as fits
        height = float(np.clip(old.box.height, thing.shares[0] * image.shape[0], 0.9 * image.shape[0]))
        spot = Spot((old.box.left + old.box.right) / 2, float(old.box.bottom), height)
    done = _add(cleared, replace(task, old=""), random, spot, cutout)
    return CarriedOut(done.pixels, {**_facts(old), **done.facts})


def _add(
    image: Pixels, task: EditTask, random: np.random.Generator, spot: Spot | None, cutout: Cutout | None = None
) -> CarriedOut:
    cutout = cutout or _cutout(task, random)
    thing = THINGS[task.thing]
    facts: dict[str, object] = {"cutout": cutout.origin.name}
    if thing.part is not None:
        return CarriedOut(_put_on(image, cutout, thing), facts)
    objects = detect_objects(image) if spot is None else []
    chosen = spot or choose_spot(image, objects, cutout, thing, task.place, random)
    if thing.where == "ground" and not cutout.origin.bottom_edge and random.random() < 0.5:
        cutout = replace(cutout, pixels=cutout.pixels[:, ::-1], alpha=cutout.alpha[:, ::-1])
    layer = standing(cutout, *chosen, image.shape)
    grounded = image if thing.where == "air" or cutout.origin.bottom_edge else with_contact_shadow(image, layer)
    facts |= {"middle": round(chosen.middle), "base": round(chosen.base), "height": round(chosen.height)}
    return CarriedOut(blended(grounded, layer), facts)


def _put_on(image: Pixels, cutout: Cutout, thing: KnownThing) -> Pixels:
    face = main_face(image)
    if thing.where == "eyes":
        return wearing.put_on_eyes(image, face, cutout)
    return (
        wearing.put_on_head(image, face, cutout) if thing.where == "head" else wearing.put_on_ears(image, face, cutout)
    )


def _cutout(task: EditTask, random: np.random.Generator) -> Cutout:
    """One of the cut-outs of this kind, in the colour that is asked for."""
    kind = "hat" if task.thing == "cap" else task.thing
    known = [one for one in origins() if one.thing == kind]
    if not known:
        raise Refused(f"inpaint has no cut-out of a {task.thing} that it could add", reason="no-cutout")
    wanted = _asked_for(known, task)
    origin = wanted[int(random.integers(len(wanted)))]
    cutout = load_cutout(origin)
    if task.colour is None or COLOURS.get(origin.colour) == task.colour or _is_material(task, origin):
        return cutout
    return replace(cutout, pixels=_painted(cutout, task.colour))


def _asked_for(known: list[CutoutOrigin], task: EditTask) -> list[CutoutOrigin]:
    called = [one for one in known if one.called and one.called in task.words.split()]
    coloured = [one for one in known if task.colour is not None and COLOURS.get(one.colour) == task.colour]
    return called or coloured or known


def _is_material(task: EditTask, origin: CutoutOrigin) -> bool:
    """`wooden` names a colour, too; an object that is made of wood keeps its own."""
    return bool(origin.called) and origin.called in task.words.split()


def _painted(cutout: Cutout, colour: Colour) -> Pixels:
    return recoloured(cutout.pixels, np.ones(cutout.alpha.shape, np.float32), colour)


def _facts(found: FoundThing) -> dict[str, object]:
    return {"found": found.how, "at": list(found.box)}
