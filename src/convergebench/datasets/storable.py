"""Whether everything that a set says of a chain can be stored: numbers that SQLite holds, texts that are Unicode."""

from __future__ import annotations

from convergebench.datasets.chains import RecordedChain
from convergebench.documents import LARGEST, fault_in
from convergebench.errors import StudyError

LONGEST_NAME = 1000
"""Characters of the name of a chain, an editor, a variant or an image."""

DEAREST = 1e12
"""Dollars that no call costs; the engine takes no such price from any editor."""


def require_storable(chain: RecordedChain) -> None:
    """Refuse a chain with a value that would only be found out while it is written."""
    if not 0 <= chain.run < LARGEST:
        raise StudyError(f"run {chain.run} is out of range; number the runs of a setting 0, 1, 2 …")
    if any(step.dollars is not None and not 0 <= step.dollars < DEAREST for step in chain.steps):
        raise StudyError(f"the cost of a step is out of range; give dollars, less than {DEAREST:g}")
    names = {"chain": chain.id, "editor": chain.editor, "variant": chain.variant, "image": chain.source.id}
    for what, name in names.items():
        if name is not None and not (name.strip() and len(name) <= LONGEST_NAME):
            raise StudyError(f"the name of the {what} is empty or longer than {LONGEST_NAME:,} characters")
    told = {
        **names,
        "family": chain.family,
        "licence": [chain.licence, chain.source.licence],
        "origin": [chain.origin, chain.source.origin],
        "asked": [*chain.unanswered, *(chain.round_trip or ())],
        "steps": [
            [one.instruction, one.model, one.dollars, one.reasoning, one.temperature, one.resolution, dict(one.used)]
            for one in chain.steps
        ],
    }
    fault = fault_in(told)
    if fault:
        raise StudyError(fault)
