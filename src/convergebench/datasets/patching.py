"""Records of patches: each names the record it was cut from and where."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from convergebench.datasets.fields import PATCHES, PLACE, RIGHTS
from convergebench.datasets.patches import PatchPlan, Place, moved
from convergebench.datasets.source import ChainFacts


class Patcher:
    """Follows the places of a chain from picture to picture."""

    def __init__(self, plan: PatchPlan) -> None:
        self._plan = plan
        self._chain = ""
        self._places: dict[int, tuple[Place, ...]] = {}
        """By step of the chain at hand."""

    def of(self, chain: ChainFacts, record: Mapping[str, Any], data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The patches of one record's picture; records of a chain come in order, its source first."""
        if chain.id != self._chain:
            source = chain.picture
            self._chain = chain.id
            self._places = {0: self._plan.places(source.sha256, source.width, source.height)}
        index = record["step_index"]
        if index:
            parent = self._places.get(record["parent_step"], self._places[0])
            self._places[index] = moved(parent, record["operation"])
        common = {field.name: record[field.name] for field in (*PLACE, *RIGHTS)}
        for cut in self._plan.cuts(data, self._places[index], what=record["id"]):
            values = {
                **common,
                "id": f"{record['id']}#{cut.number}",
                "parent_id": record["id"],
                "patch_index": cut.number,
                "x": cut.x,
                "y": cut.y,
                "side": self._plan.side,
                "sha256": hashlib.sha256(cut.png).hexdigest(),
                "parent_sha256": record["sha256"],
            }
            yield {name: values[name] for name in PATCHES.columns}, cut.png
