"""The other three criteria: seams, what was kept, and technical quality, each from 0 to 1."""

from __future__ import annotations

import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._region import Mask
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference.decay import decay
from convergebench.roles.edit_judge import levels
from convergebench.roles.edit_judge.compliance import STYLES, EditQuestion, Verdict
from convergebench.roles.edit_judge.descriptions import correlation, crispness, edges
from convergebench.roles.edit_judge.evidence import SMALLEST, EditEvidence, evidence
from convergebench.roles.edit_judge.framing import find_inside, matched
from convergebench.roles.edit_judge.seams import border_step, longest_seam, rim_share
from convergebench.roles.edit_judge.subjects import main_object, person_area, text_area
from convergebench.roles.edit_judge.wording import mentions

LEAST_ELSEWHERE = 0.02
"""Share of the picture that must be away from the change for its surroundings to be judged."""
DRAWN = frozenset(
    {"anime-person", "3d-cartoon-person", "comic-person", "ink-sketch-person", "sticker-person", "caricature"}
    | {"toy-figure", "brick-figure", "yellow-cartoon-person"}
)
RIMMED = frozenset({"add-text", "sticker-person", "accessories"})
"""Types that bring light outlines with them, or leave thin light strips between things (skin beside glasses)."""


def seamlessness(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """No new straight edges, as the sides of a pasted patch are, and no rim around what was changed."""
    if asked.scope == "frame":
        return _seamless_frame(seen, asked)
    similarity = seen.similarity
    if asked.scope == "text" or asked.edit_type == "add-text":  # letters have straight edges of their own
        similarity = np.where(text_area(seen.after) | text_area(seen.before), 0, similarity).astype(np.float32)
    length = longest_seam(seen.after, seen.before, similarity)
    drawn = asked.edit_type in STYLES | DRAWN
    level = levels.DRAWN_SEAM if drawn or asked.edit_type == "film-grain" else levels.SEAM
    edge = Verdict(level(length), f"longest new straight edge: {length:.0%} of the shorter side")
    if asked.scope not in ("object", "person", "background") or asked.edit_type in RIMMED or seen.place is None:
        return edge
    share = rim_share(seen.after, seen.before, seen.place)
    rim = Verdict(levels.RIM(share), f"a rim along {share:.0%} of the changed outline")
    return min(edge, rim, key=lambda one: one.value)


def preservation(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """What the edit does not concern is as it was."""
    if asked.scope == "frame":
        return _same_content(seen, asked)
    uncropped = levels.CROPPED(seen.out_of_view)
    if asked.scope == "whole":
        kept = seen.layout
        return Verdict(levels.SHAPES(kept) * uncropped, f"edges correlate by {kept:.2f}")
    if asked.scope == "background":
        return _kept_in(seen, main_object(seen.before, asked.instruction), "the main object", uncropped)
    if asked.scope == "person":
        rest = ~person_area(seen.before) & seen.elsewhere if asked.edit_type in DRAWN else seen.elsewhere
        return _kept_in(seen, rest, "the surroundings", uncropped)
    return _kept_in(seen, seen.elsewhere, "the rest", uncropped)


def technical_quality(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """No damage against the input, apart from what the type of edit brings with it."""
    drawn = asked.edit_type in STYLES or asked.edit_type in DRAWN
    graded = {
        "clipping": levels.CLIPPED(seen.clipped) if not drawn else 1.0,
        "fewer pixels": levels.SHRUNK(_pixels(seen)),
    }
    if asked.edit_type != "film-grain":
        graded["noise"] = levels.NOISE(seen.grain - (2.5 if drawn else 0))
        graded["blur"] = levels.SHARPNESS(_crispness(seen, asked))
        if asked.scope in ("object", "text", "person"):
            graded["wear"] = levels.WORN(_wear(seen.edited, seen.source))
    if not drawn:
        graded["blocks"] = levels.BLOCKS(seen.blocks)
    worst = min(graded, key=lambda name: graded[name])
    value = graded[worst]
    return Verdict(value, f"worst: {worst} ({value:.2f})" if value < 1 else "no damage against the input")


def same_picture(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    """Whether it is still the same picture at all: 0 for another photograph, noise or an even colour."""
    if asked.scope == "frame":
        score = max(find_inside(seen.edited, seen.source).score, find_inside(seen.source, seen.edited).score)
        return Verdict(levels.Ramp(0.3, 0.6)(score), f"match {score:.2f}")
    if asked.scope == "background":
        kept = _layout_in(seen, main_object(seen.before, asked.instruction))
        return Verdict(levels.LAYOUT(max(kept, seen.layout)), f"edges of the main object correlate by {kept:.2f}")
    kept = seen.layout if asked.scope == "whole" else seen.layout_elsewhere
    return Verdict(levels.LAYOUT(kept), f"edges correlate by {kept:.2f}")


def _kept_in(seen: EditEvidence, area: Mask, what: str, uncropped: float) -> Verdict:
    if area.mean() < LEAST_ELSEWHERE:
        return Verdict(0.0, f"{what} cannot be told from the change")
    colours, structure = float(seen.change[area].mean()), float(seen.similarity[area].mean())
    value = min(levels.OUTSIDE(colours), levels.STRUCTURE(structure)) * uncropped
    return Verdict(value, f"{what} moved by ΔE {colours:.1f}, similarity {structure:.2f}")


def _layout_in(seen: EditEvidence, area: Mask) -> float:
    one, other = _parts(seen, area)
    return correlation(edges(one), edges(other))


def _parts(seen: EditEvidence, area: Mask) -> tuple[Frame, Frame]:
    """Both pictures cut to the box around an area."""
    rows, columns = np.nonzero(area)
    part = slice(int(rows.min()), int(rows.max()) + 1), slice(int(columns.min()), int(columns.max()) + 1)
    one, other = (Frame(np.ascontiguousarray(frame.pixels[part])) for frame in (seen.after, seen.before))
    return one, other


def _seamless_frame(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    if asked.edit_type == "outpaint":
        found = find_inside(seen.source, seen.edited)
        step = border_step(seen.edited, (found.left, found.top, found.right, found.bottom))
        return Verdict(levels.BORDER(step), f"step across the input's border: {step:.1f} times that of other lines")
    after, before = _framed(seen, asked)
    if min(after.size) < SMALLEST:
        return Verdict(0.0, "hardly anything of the input is in view")
    inner = evidence(after, before)
    length = longest_seam(inner.after, inner.before, inner.similarity)
    return Verdict(levels.DRAWN_SEAM(length), f"longest new straight edge: {length:.0%} of the shorter side")


def _framed(seen: EditEvidence, asked: EditQuestion) -> tuple[Frame, Frame]:
    """The edited picture and its input on one grid, after a change of framing."""
    if asked.edit_type == "outpaint":
        original, inside = matched(seen.source, seen.edited, find_inside(seen.source, seen.edited))
        return inside, original
    return matched(seen.edited, seen.source, find_inside(seen.edited, seen.source))


def _same_content(seen: EditEvidence, asked: EditQuestion) -> Verdict:
    after, before = _framed(seen, asked)
    if min(after.size) < SMALLEST:
        return Verdict(0.0, "hardly anything of the input is in view")
    inner = evidence(after, before)
    colours = float(inner.change.mean())
    value = min(levels.OUTSIDE(colours), levels.SHAPES(inner.layout))
    return Verdict(value, f"what both show moved by ΔE {colours:.1f}, edges correlate by {inner.layout:.2f}")


def _crispness(seen: EditEvidence, asked: EditQuestion) -> float:
    """Against the input, of what the edit was to keep."""
    if mentions(asked.instruction, "fog", "mist", "haz") and asked.scope == "whole":
        return 1.0
    if asked.scope == "background":
        one, other = _parts(seen, main_object(seen.before, asked.instruction))
        return crispness(one) / crispness(other)
    if asked.scope != "frame":
        return seen.crispness
    after, before = _framed(seen, asked)
    return evidence(after, before).crispness if min(after.size) >= SMALLEST else 0.0


def _pixels(seen: EditEvidence) -> float:
    """Pixels against the input's."""
    return seen.edited.width * seen.edited.height / (seen.source.width * seen.source.height)


def _wear(edited: Frame, source: Frame) -> float:
    try:
        return _decay(edited) - _decay(source)
    except Unmeasurable:
        return 0.0


def _decay(frame: Frame) -> float:
    return frame.derived("judged-decay", lambda frame: decay(Item(frame)))
