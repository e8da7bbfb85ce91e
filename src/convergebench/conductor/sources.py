"""The source images of a study: those of its suite that it asks for, and what is left out, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from convergebench.edits.pairs import misfit
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.suite import Suite, load_suite, not_here
from convergebench.studies.spec import StudySpec
from convergebench.types import KINDS, Case, EditPair, SourceImage

LEAVE_OUT = ", or leave them out: --partial (in a study file, partial = true under [images])"
MOST_NAMED = 6
"""Most pictures that one line names."""


class StudySources(NamedTuple):
    """The images that a study asks for, and which of them are not on this machine."""

    images: list[SourceImage]
    suite: Suite | None = None
    """None: the images were given."""

    def require_here(
        self, spec: StudySpec, cases: Sequence[Case], pictures: Sequence[SourceImage]
    ) -> tuple[list[Case], list[str]]:
        """The cases whose images are here, and one line about the others; `Prerequisite` unless the study is partial.

        Cases are laid out before it is known which images are here, so that one that is missing is never replaced by
        another. `pictures` are those of the study, some of which may be made from others.
        """
        made_from = {image.id: image.clean for image in pictures if image.clean}
        used = {made_from.get(case.source_id, case.source_id) for case in cases}
        missing = [one for one in self.suite.missing if one.id in used] if self.suite else []
        if self.suite is None or not missing:
            return list(cases), []
        lost = {one.id for one in missing}
        left = [case for case in cases if made_from.get(case.source_id, case.source_id) not in lost]
        lack = not_here(self.suite, missing, spec.images.suite)
        if not left or not spec.images.partial:
            raise Prerequisite(f"{lack}{LEAVE_OUT if left else ''}")
        return left, [lack]


def study_sources(spec: StudySpec, given: Sequence[SourceImage] | None) -> StudySources:
    """The images that a study asks for: of its suite, or of `given` in its place."""
    suite = None if given is not None else load_suite(spec.images.suite, partial=True)
    offered = list(given or ()) if suite is None else suite.listed
    chosen = choose(offered, spec.images.kinds, spec.images.limit)
    if not chosen:
        there = ", ".join(sorted({image.kind for image in offered})) or "no images"
        raise StudyError(
            f"suite '{spec.images.suite}' has no image of the kinds {', '.join(spec.images.kinds)} (it has: {there})"
        )
    return StudySources(chosen, suite)


def choose(images: Sequence[SourceImage], kinds: Sequence[str], limit: int) -> list[SourceImage]:
    """Images of these kinds (none: of all); under a limit, taken in turn from each kind so that the balance stays.

    A clean picture that others are degraded copies of comes along with them and does not count.
    """
    references = {image.clean for image in images if image.clean}
    fitting = [image for image in images if image.id not in references and (not kinds or image.kind in kinds)]
    every = dict.fromkeys([*KINDS, *kinds, *(image.kind for image in fitting)])
    queues = [[image for image in fitting if image.kind == kind] for kind in every]
    turns = [queue[index] for index in range(len(fitting)) for queue in queues if index < len(queue)]
    taken = turns[:limit] if limit else turns
    chosen = {image.id for image in taken} | {image.clean for image in taken}
    return [image for image in images if image.id in chosen]


def unfit_pictures(images: Sequence[SourceImage], pairs: Sequence[EditPair], cases: Sequence[Case]) -> list[str]:
    """One line per pair that is not asked for on some pictures, because of what they hold."""
    if not any(case.pairs for case in cases):  # the study has no use for pairs
        return []
    used = {(case.source_id, pair.id) for case in cases for pair in case.pairs}
    lines = []
    for pair in {pair.id: pair for pair in pairs}.values():
        reasons = {
            image.id: misfit(image.holds, pair)
            for image in images
            if image.kind in pair.kinds and (image.id, pair.id) not in used
        }
        names = [id for id, reason in reasons.items() if reason]
        if names:
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            lines.append(f"{pair.id} on {', '.join(names[:MOST_NAMED])}{more}: {reasons[names[0]]}")
    return lines
