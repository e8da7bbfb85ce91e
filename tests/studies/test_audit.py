"""The study `audit`: copies that wear, additions step upon step and apart, twenty steps, five runs."""

from __future__ import annotations

from collections import Counter

import pytest

from convergebench.errors import StudyError
from convergebench.registry import load
from convergebench.studies.audit import Audit
from convergebench.studies.base import study_of
from convergebench.studies.spec import parse_spec
from convergebench.studies.units import STEP
from convergebench.types import Settings, SourceImage, State

IMAGES = [SourceImage(kind, kind, "0" * 64, 8, 8, "CC0", "test", lambda: b"") for kind in ("face", "object", "scene")]
SOURCES = [(image, State(image.id, image.id)) for image in IMAGES]


def test_every_image_is_copied_and_objects_are_added_where_there_is_room() -> None:
    study = Audit.of(Audit.Parameters(), Settings())
    cases = study.cases(SOURCES, ())
    assert Counter((case.source_id, case.label) for case in cases) == {
        **{(kind, "replicate"): 5 for kind in ("face", "object", "scene")},
        **{(kind, label): 1 for kind in ("object", "scene") for label in ADDED},
    }
    assert {study.calls(case) for case in cases} == {20}


ADDED = ("add-100-fruits", "add-100-fruits-independent")


def test_what_is_compared_is_told_as_in_replicate() -> None:
    study = Audit.of(Audit.Parameters(), Settings())
    labelled = study.edits(study.cases(SOURCES, ()))
    assert {label: (facts["compared"], facts["independent"]) for label, facts in labelled.items()} == {
        "replicate": ("whole", False),
        "add-100-fruits": ("around", False),
        "add-100-fruits-independent": ("around", True),
    }


def test_it_stands_on_the_shelf_with_a_table_of_its_own_and_counts_steps() -> None:
    assert load("studies", "audit") is Audit
    spec = parse_spec({"study": "audit", "audit": {"steps": 6, "metrics": ["niqe"]}})
    assert spec.parameters == Audit.Parameters(steps=6, metrics=("niqe",))
    assert study_of("audit").unit == STEP


def test_a_row_that_asks_for_a_strange_image_is_told_by_this_studys_name() -> None:
    table = Audit.Parameters.model_validate({"grid": [{"variants": ["replicate"], "images": ["sceen"]}]})
    with pytest.raises(StudyError, match=r"\[\[audit.grid\]\] asks for an image .* did you mean 'scene'"):
        Audit.of(table, Settings()).cases(SOURCES, ())
