"""What one rater's page is told: showings under ids that say nothing, with the answers so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from convergebench.serve.guard import Guard
from convergebench.store.rating_book import GivenAnswer, Showing


@dataclass(frozen=True)
class RaterView:
    """One rater's showings. Ids of results differ between raters and between showings."""

    number: int
    showings: tuple[Showing, ...]
    guard: Guard
    show_clean: bool

    @cached_property
    def positions(self) -> dict[str, int]:
        """Public id of a showing → its position."""
        return {self._item(showing): showing.position for showing in self.showings}

    @cached_property
    def pictures(self) -> dict[str, str]:
        """Public id of a picture → image id; the clean picture only where it is shown."""
        found = {}
        for showing in self.showings:
            found[self._beside("input", showing.input)] = showing.input
            if self.show_clean and showing.clean is not None:
                found[self._beside("clean", showing.clean)] = showing.clean
            for place, picture in enumerate(showing.pictures):
                found[self._result(showing, place)] = picture.image
        return found

    def items(self, answers: Mapping[int, GivenAnswer]) -> list[dict[str, Any]]:
        """The showings in order, for the page."""
        return [
            {
                "id": self._item(showing),
                "input": self._beside("input", showing.input),
                "clean": self._beside("clean", showing.clean) if self.show_clean and showing.clean else None,
                "pictures": [self._result(showing, place) for place in range(len(showing.pictures))],
                "values": dict(answers[showing.position].values) if showing.position in answers else {},
            }
            for showing in self.showings
        ]

    def _item(self, showing: Showing) -> str:
        return self.guard.public_id("item", self.number, showing.position)

    def _result(self, showing: Showing, place: int) -> str:
        return self.guard.public_id("result", self.number, showing.position, place)

    def _beside(self, kind: str, image: str) -> str:
        """The same in all showings of a picture, so that a browser loads it once."""
        return self.guard.public_id(kind, self.number, image)
