"""Checking that all values of a recorded chain can be stored: numbers in SQLite's range, valid Unicode."""

from __future__ import annotations

from convergebench.datasets.chains import RecordedChain
from convergebench.documents import LARGEST, fault_in
from convergebench.errors import StudyError

LONGEST_NAME = 1000
"""Characters of the name of a chain, an editor, a variant or an image."""

MOST_DOLLARS = 1e12
"""Dollars above which the engine accepts no price."""


def require_storable(chain: RecordedChain) -> None:
    """`StudyError` if a value of the chain cannot be stored."""
    if not 0 <= chain.run < LARGEST:
        raise StudyError(f"run {chain.run} is out of range; number the runs of a setting 0, 1, 2 …")
    if any(step.dollars is not None and not 0 <= step.dollars < MOST_DOLLARS for step in chain.steps):
        raise StudyError(f"the cost of a step is out of range; give dollars, less than {MOST_DOLLARS:g}")
    names = {"chain": chain.id, "editor": chain.editor, "variant": chain.variant, "image": chain.source.id}
    for what, name in names.items():
        if name is not None and not (name.strip() and len(name) <= LONGEST_NAME):
            raise StudyError(f"the name of the {what} is empty or longer than {LONGEST_NAME:,} characters")
    values = {
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
    fault = fault_in(values)
    if fault:
        raise StudyError(fault)
