"""Chains whose every step is one grey level brighter than the one before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from convergebench.types import Edited, EditRequest
from tests.engine.parts import CountingEditor, walk

ROUNDS = 3


class Brightening(CountingEditor):
    """Adds one at every step, whatever the words say."""

    async def edit(self, request: EditRequest) -> Edited:
        return await super().edit(replace(request, instruction="add one"))


def brightened(root: Path) -> Path:
    """A run of two sources, two replicates each, three rounds."""
    walk(root, Brightening(), rounds=ROUNDS)
    return root
