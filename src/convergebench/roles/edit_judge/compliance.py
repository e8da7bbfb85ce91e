"""Instruction compliance: whether a change of the expected kind is where a type of edit would have it, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from convergebench.edits.taxonomy import taxonomy
from convergebench.metrics._region import Mask
from convergebench.roles.edit_judge import levels
from convergebench.roles.edit_judge.evidence import EditEvidence
from convergebench.roles.edit_judge.framing import find_inside
from convergebench.roles.edit_judge.subjects import (
    face_area,
    main_object,
    named_object,
    person_area,
    readable,
    text_area,
)
from convergebench.roles.edit_judge.wording import asked_direction, asked_place, mentions

WRONG = 0.15
"""What is left of the compliance if the change is on the wrong side, of the wrong kind or in the wrong direction."""
OFF_SIDE = 0.08
"""How far beyond the middle the change may lie on the side that was not named, as a share of the picture's side."""
STYLES = frozenset({"art-style", "cartoon-or-sketch", "modern-or-historical"})
WORN_BY_PERSONS = frozenset({"accessories", "clothing"})
NOT_ON_HEADS = ("watch", "bracelet", "ring", "bag", "backpack", "belt", "scarf", "tie", "glove", "shoe", "brooch")
"""Beginnings of words for accessories that are not worn on the head."""
ON_EXISTING = frozenset({"remove-object", "replace-object", "change-attribute", "relocate-object", "reshape-object"})
SMALL_CHANGES = frozenset({"expression", "pose", "age-or-gender"})
DRAWN_ANEW = 4.0
"""Colour change (ΔE) of a pixel of a person who was drawn anew."""
RIGHT = 1.0
"""Least change in the direction that was asked for, in units of L*, chroma or b*."""


class EditQuestion(NamedTuple):
    """What was asked for, as the study tells it."""

    edit_type: str
    scope: str
    operation: str
    instruction: str


class Verdict(NamedTuple):
    """A value from 0 to 1, and the measurement behind it in a few words."""

    value: float
    why: str


def compliance(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """How far what was asked for can be seen."""
    rule = _RULES.get(asked.edit_type) or _SCOPES.get(asked.scope) or _anything
    return rule(seen, asked)


def edit_question(edit_type: str, scope: str, operation: str, instruction: str) -> EditQuestion:
    """With what the taxonomy knows of the type, where the question does not say it."""
    known = taxonomy().get(edit_type)
    if known is not None:
        scope, operation = scope or known.scope, operation or known.operation
    return EditQuestion(edit_type, scope, operation, instruction)


# ---- one thing


def _object(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    if seen.place is None:
        return Verdict(0.0, "no place changed more than the whole picture did")
    small = asked.edit_type in WORN_BY_PERSONS or asked.edit_type == "add-text" or asked.scope == "text"
    size = (levels.SMALL_SIZE if small else levels.SIZE)(seen.share)
    value = levels.STRENGTH(seen.strength) * levels.TOLD_APART(seen.told_apart) * size
    value *= levels.TOO_LARGE(seen.share) * levels.COMPACT(seen.compactness) * levels.NO_FILTER(seen.unexplained)
    why = f"{seen.share:.1%} of the picture changed by ΔE {seen.strength:.1f}, the rest less ({seen.told_apart:.2f})"
    # a thing that is moved leaves one side for another
    if asked.edit_type != "relocate-object" and not _on_named_side(seen.place, asked.instruction):
        return Verdict(value * WRONG, f"{why}; it is not on the side that was named")
    if asked.edit_type in ON_EXISTING and value > 0:
        return _of_existing(seen, asked, Verdict(value, why))
    return Verdict(value, why)


def _of_existing(seen: EditEvidence, asked: EditQuestion, found: Verdict) -> Verdict:
    """A change of something that was there: it is where that is, and no new thing in front of it."""
    assert seen.place is not None
    value, why = found
    named = named_object(seen.before, asked.instruction)
    if named is not None:
        share = _share_on(seen, named)
        # a thing that was moved is in two places
        on_it = float(share > 0) if asked.edit_type == "relocate-object" else levels.ON_PLACE(share)
        if asked.edit_type in ("remove-object", "replace-object"):
            on_it *= levels.COVERED(float(seen.place[named].mean()))
        value *= WRONG + (1 - WRONG) * on_it
        why = f"{why}; {share:.0%} of the change is where the named thing is"
    if asked.edit_type == "change-attribute":
        kept = float(seen.similarity[seen.place].mean())
        return Verdict(value * levels.SAME_SHAPE(kept), f"{why}; similarity of its shape {kept:.2f}")
    if asked.edit_type == "replace-object":
        return Verdict(value, why)
    if asked.edit_type == "remove-object":
        why = f"{why}; it stands out from its surroundings by ΔE {seen.standing_out:+.1f}"
        return Verdict(value * levels.FILLED(seen.standing_out), why)
    return Verdict(value * levels.FOREIGN(seen.foreign), f"{why}; {seen.foreign:.0%} of it in colours that are new")


def _worn(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    found = _object(seen, asked)
    if seen.place is None:
        return found
    area = person_area(seen.before) | _below(face_area(seen.before))
    if asked.edit_type == "accessories" and not mentions(asked.instruction, *NOT_ON_HEADS):
        area = face_area(seen.before)
    share = _share_on(seen, area)
    factor = WRONG + (1 - WRONG) * levels.ON_PLACE(share)
    return Verdict(found.value * factor, f"{found.why}; {share:.0%} of the change is on a person")


def _new_text(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    found = _object(seen, asked)
    if found.value == 0 or seen.place is None:
        return found
    read = readable(seen.after, seen.place)
    if read and read != readable(seen.before, seen.place):
        return Verdict(found.value, f"{found.why}; new writing can be read there")
    return Verdict(found.value * WRONG, f"{found.why}; nothing can be read there")


def _text(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    area = text_area(seen.before)
    if not area.any():
        found = _object(seen, asked)
        return Verdict(found.value * WRONG, f"{found.why}; no writing was found in the input")
    on_text, elsewhere = _inside_and_outside(seen, area)
    value = levels.WRITING(on_text) * levels.Ramp(-0.2, 0.3)(_told_apart(on_text, elsewhere))
    why = f"the writing changed by ΔE {on_text:.1f}, the rest by {elsewhere:.1f}"
    if asked.edit_type != "restyle-text" and readable(seen.after, area) == readable(seen.before, area):
        return Verdict(value * WRONG, f"{why}; it reads as before")
    return Verdict(value, why)


# ---- a person, the background


def _person(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    small = asked.edit_type in SMALL_CHANGES
    area = (face_area if small else person_area)(seen.before)
    if asked.edit_type == "pose":
        area = person_area(seen.before)
    if not area.any():
        found = _object(seen, asked)
        return Verdict(found.value * WRONG, f"{found.why}; no person was found in the input")
    on_person, elsewhere = _inside_and_outside(seen, area)
    told_apart = levels.Ramp(-0.5, 0.1)(_told_apart(on_person, elsewhere))
    redrawn = seen.redrawn_in(area)
    why = f"the person changed by ΔE {on_person:.1f}, the rest by {elsewhere:.1f}; {redrawn:.1f} is no filter"
    if small:  # another expression is another shape
        return Verdict(levels.FACE(min(on_person, redrawn)) * told_apart, why)
    value = levels.PERSON(on_person) * told_apart * levels.REDRAWN_PERSON(redrawn)
    if asked.edit_type != "caricature":  # which moves outlines alone
        changed = float((seen.change[area] > DRAWN_ANEW).mean())
        value *= levels.DRAWN_SHARE(changed)
        why = f"{why}; {changed:.0%} of the person"
    return Verdict(value, why)


def _background(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    thing = main_object(seen.before, asked.instruction)
    around = seen.change[~thing]
    behind = float(around.mean()) if around.size else 0.0
    on_thing = float(seen.change[thing].mean()) if thing.any() else 0.0
    value = levels.BACKGROUND(behind) * levels.Ramp(1.2, 0.7)(on_thing / max(behind, 1e-6))
    return Verdict(value, f"the background changed by ΔE {behind:.1f}, the main object by {on_thing:.1f}")


# ---- the whole picture


def _tone(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    direction = asked_direction(asked.instruction).get("b", 0)
    shift = seen.shift["b"]
    towards = shift * direction if direction else abs(shift)
    why = f"colours moved by {shift:+.1f} towards yellow, in {seen.reach:.0%} of the picture"
    return Verdict(levels.TONE(towards) * levels.REACH(seen.reach), why)


def _film(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    grain = levels.GRAIN(seen.grain)
    look = levels.MOOD(float(seen.change.mean())) * _hue(seen) * levels.REACH(seen.reach)
    why = f"noise rose by {seen.grain:+.1f} levels, colours moved by ΔE {seen.change.mean():.1f}"
    wants_grain = mentions(asked.instruction, "grain")
    wants_look = mentions(asked.instruction, "vintage", "retro", "faded", "sepia", "filter", "analog", "polaroid")
    if wants_grain and not wants_look:
        return Verdict(grain, why)
    if wants_look and not wants_grain:
        return Verdict(look, why)
    return Verdict(max(grain, look), why)


def _mood(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    moved = float(seen.change.mean())
    wanted = asked_direction(asked.instruction)
    right = [seen.shift[name] * sign > RIGHT for name, sign in wanted.items()]
    factor = 1.0 if not right else WRONG + (1 - WRONG) * min(1.0, 2 * sum(right) / len(right))
    factor *= levels.REACH(seen.reach)
    if asked.edit_type == "change-season":  # which is never a matter of brightness alone
        factor *= _hue(seen)
    return Verdict(levels.MOOD(moved) * factor, f"colours moved by ΔE {moved:.1f}, in {seen.reach:.0%} of the picture")


def _style(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    moved = float(seen.change.mean())
    value = max(levels.STYLE(seen.style), levels.MOOD(moved / 1.5))
    # a blurred picture has no style, neither has one under a filter; but an old photograph may be one in sepia
    value *= levels.SHARPNESS(seen.crispness) * levels.REACH(seen.reach)
    drawn = levels.REDRAWN(seen.redrawn)
    value *= max(drawn, _hue(seen)) if asked.edit_type == "modern-or-historical" else drawn
    why = f"texture changed by {seen.style:.2f}, of which {seen.redrawn:.2f} is no filter; colours by ΔE {moved:.1f}"
    return Verdict(value, why)


# ---- the framing


def _zoom(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    found = find_inside(seen.edited, seen.source)
    value = levels.ZOOMED(found.magnification) * levels.FOUND(found.score)
    return Verdict(value, f"a part of the input, {found.magnification:.2f} times as large (match {found.score:.2f})")


def _extended(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    found = find_inside(seen.source, seen.edited)
    grown = 1 / max(1e-6, (found.right - found.left) * (found.bottom - found.top))
    value = levels.ZOOMED(grown) * levels.FOUND(found.score)
    return Verdict(value, f"the input lies in a picture {grown:.2f} times its area (match {found.score:.2f})")


def _anything(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """For questions that do not name the type: the best of one thing and the whole picture."""
    return max(_object(seen, asked), _mood(seen, asked), _style(seen, asked), key=lambda one: one.value)


def _hue(seen: EditEvidence) -> float:
    """How far the colours themselves changed, and not their brightness alone."""
    return levels.HUE(max(abs(seen.shift["b"]), abs(seen.shift["chroma"])))


def _inside_and_outside(seen: EditEvidence, area: Mask) -> tuple[float, float]:
    """Root mean square of the colour change: of a face that smiles, only a part changes."""
    parts = seen.change[area], seen.change[~area]
    inside, outside = (float(np.sqrt(np.square(part).mean())) if part.size else 0.0 for part in parts)
    return inside, outside


def _told_apart(inside: float, outside: float) -> float:
    return (inside - outside) / (inside + outside) if inside + outside > 0 else 0.0


def _share_on(seen: EditEvidence, area: Mask) -> float:
    if seen.place is None:
        return 0.0
    weight = np.where(seen.place, seen.change, 0)
    total = float(weight.sum())
    return float(weight[area].sum()) / total if total > 0 else 0.0


def _below(heads: Mask) -> Mask:
    """Everything under the heads, a little wider than they are."""
    return np.asarray(np.maximum.accumulate(heads, axis=0))


def _on_named_side(place: Mask, instruction: str) -> bool:
    named = asked_place(instruction)
    rows, columns = np.nonzero(place)
    across, down = float(columns.mean()) / place.shape[1] - 0.5, float(rows.mean()) / place.shape[0] - 0.5
    return bool(across * named.across >= -OFF_SIDE and down * named.down >= -OFF_SIDE)


_RULES: Mapping[str, Callable[[EditEvidence, EditQuestion], Verdict]] = {
    "color-tone": _tone,
    "film-grain": _film,
    **dict.fromkeys(("change-season", "change-weather", "change-lighting"), _mood),
    **dict.fromkeys(STYLES, _style),
    **dict.fromkeys(WORN_BY_PERSONS, _worn),
    "add-text": _new_text,
    "zoom-in": _zoom,
    "outpaint": _extended,
}
_SCOPES: Mapping[str, Callable[[EditEvidence, EditQuestion], Verdict]] = {
    "whole": _mood,
    "object": _object,
    "text": _text,
    "person": _person,
    "background": _background,
}
