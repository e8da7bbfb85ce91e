"""Recorded restorations as chains of the study `restoration`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convergebench.datasets.check_pictures import CheckedChain
from convergebench.engine.plan import Chain
from convergebench.errors import StudyError
from convergebench.studies.recorded_restoration import RecordedRestoration
from convergebench.studies.restoration_table import RestorationTable
from convergebench.types import Case, SourceImage, State

TAKEN = ("input", "clean")
"""Names under which tables and raters see the spoilt and the clean picture."""


def restoration_chain(one: CheckedChain, source: SourceImage, content: str) -> Chain:
    """The chain of one result; `content` is its hash, which distinguishes the results of one picture."""
    chain = one.chain
    assert chain.prompt is not None, "a layout of restorations names the prompt"
    if one.editor in TAKEN:
        raise StudyError(
            f"a method cannot be called '{one.editor}', which is a folder of input images; name it with --editor"
        )
    case = Case(
        chain.id,
        *(State(content, f"i1:{source.sha256}"), source.id, source.kind),
        replicate=chain.run,
        label=chain.prompt.id,
        category=chain.prompt.group,
        clean=None if one.clean is None else State(f"i1:{one.clean.sha256}", f"i1:{one.clean.sha256}"),
    )
    study = RecordedRestoration(RestorationTable(scenes=()), asked=(chain.prompt,))
    return Chain(one.editor, case, study, 1, study.settings)


def same_prompt(facts: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """The prompt as a run has it, if its first words are the same: the run may have words for later rounds too."""
    if "instructions" in facts and list(facts["instructions"])[:1] == list(there.get("instructions", ()))[:1]:
        return dict(there)
    return dict(facts)
