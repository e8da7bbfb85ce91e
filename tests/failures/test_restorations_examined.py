"""Runs of the study `restoration` are examined by the detectors that suit restorations, and other runs as before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.conductor.examining import add_labels, examine, write_label_template
from convergebench.conductor.options import RunOptions
from convergebench.conductor.prepare import prepare
from convergebench.conductor.running import plan, run
from convergebench.failures import chain_view, expand_detectors, load_detector, suits
from convergebench.failures._table import EDITS, RESTORATIONS, TABLE
from convergebench.failures.chain_view import read_chains, view_of
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.store.run import Run
from convergebench.studies import restoration
from convergebench.studies.base import BaseStudy, load_study
from convergebench.studies.spec import parse_spec
from convergebench.types import Edited, EditRequest
from tests.engine.parts import IMAGES
from tests.restoration_run import InstantRestorer, restoration_run, sources

PROPOSALS = ("structure-change", "invented-edges", "invented-texture", "colour-on-grey")


class Turning(InstantRestorer):
    """Shows the picture upside down."""

    async def edit(self, request: EditRequest) -> Edited:
        """Nothing is where it was."""
        turned = np.ascontiguousarray(decode(request.image).pixels[::-1, ::-1])
        return Edited(encode_png(turned), "image/png", "turning-1", dollars=0.01)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenes and a degradation's own set, restored by one honest editor and one that turns the picture."""
    root = tmp_path_factory.mktemp("restored") / "run"
    editors = (InstantRestorer(instructed=False), Turning("turning", instructed=False))
    restoration_run(root, count=2, editors=editors, degradations=["motion-blur"], per_degradation=1)
    return root


def rows(root: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(root / "run.sqlite")) as opened:
        return opened.execute(query).fetchall()


def labels(root: Path, what: str) -> list[tuple[Any, ...]]:
    return rows(root, f"select distinct {what} from labels order by 1, 2")


def test_every_proposal_says_that_it_is_one() -> None:
    for name in PROPOSALS:
        facts = load_detector(name).facts
        assert "proposed" in facts.title
        assert facts.rule.endswith("a proposal for a person to confirm")
        assert "proposal" in facts.summary


def test_sets_of_detectors_have_names() -> None:
    assert expand_detectors(["restorations"]) == list(RESTORATIONS)
    assert expand_detectors(["edits", "structure-change"]) == [*EDITS, "structure-change"]
    assert set(expand_detectors(["all"])) == set(TABLE) == {*EDITS, *RESTORATIONS}
    assert not set(PROPOSALS) & set(EDITS)


def test_a_plug_in_suits_every_study() -> None:
    assert suits("somebody's-own", ["restorations"])
    assert suits("lost-object", ["restorations"])
    assert not suits("simplification", ["restorations"])


def test_only_restorations_are_examined_without_being_asked() -> None:
    for name in ("roundtrip", "replicate", "factory", "session"):
        study = load_study(name)
        assert (study.failures, study.examines) == (BaseStudy.failures, False) == (("edits",), False)
    given = {"instant": InstantRestorer()}
    study_file: dict[str, Any] = {"study": "restoration", "editors": [{"name": "instant", "use": "sim-perfect"}]}
    unsaid = prepare(parse_spec(study_file), editors=given, sources=sources(1))
    assert unsaid.spec["examine"]["detectors"] == ["restorations"]
    for chosen in ([], ["structure-change"]):
        said = parse_spec({**study_file, "examine": {"detectors": chosen}})
        assert prepare(said, editors=given, sources=sources(1)).spec["examine"]["detectors"] == chosen


def test_a_chain_knows_that_it_restores_and_what_the_clean_picture_is(root: Path) -> None:
    assert chain_view.RESTORED == restoration.RESTORED
    with Run.existing(root) as opened:
        views = [view_of(record) for record in read_chains(opened.root, opened.journal)]
    assert all(view.restores and view.steps[1].compared == "whole" for view in views)
    known = {view.case.split("/")[0]: view.clean() is not None for view in views}
    assert known == {"picture-0.mixed": True, "picture-1.mixed": True, next(iter(set(known) - SCENES)): False}


SCENES = {"picture-0.mixed", "picture-1.mixed"}


def test_what_a_restorer_invented_is_proposed_with_evidence(root: Path) -> None:
    done = examine(root, [*PROPOSALS, "aspect-ratio"], workers=1)
    assert done.faults == ()
    found = labels(root, "editor, mode, present")
    assert ("turning", "structure-change", 1) in found
    assert ("instant", "structure-change", 0) in found
    assert not [row for row in found if row[0] == "instant" and row[2] == 1]
    crops = [file for present, file in labels(root, "present, evidence") if present]
    assert crops
    assert all((root / file).exists() for file in crops)
    assert {mode for _, mode, _ in found} <= set(RESTORATIONS)


def test_detectors_of_edits_say_nothing_of_restorations_even_if_asked(root: Path) -> None:
    before = labels(root, "mode, editor")
    done = examine(
        root, ["simplification", "texture-loss", "colour-cast", "static-noise", "background-decay"], workers=1
    )
    assert (done.labels, done.faults) == (0, ())
    assert labels(root, "mode, editor") == before


def test_detectors_of_restorations_say_nothing_of_edits_and_are_not_among_all(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "study": "roundtrip",
        "editors": ["sim-jpeg"],
        "edits": {"pairs": ["flip-horizontal"]},
        "roundtrip": {"rounds": 2},
        "measure": {"metrics": []},
    }
    root = tmp_path / "run"
    run(plan(parse_spec(content), root, sources=IMAGES), RunOptions(report=False, workers=1))
    examine(root, workers=1)
    assert ("texture-loss",) in rows(root, "select mode from labels")
    assert not [by for (by,) in rows(root, 'select "by" from probes') if by.startswith(PROPOSALS)]
    assert examine(root, PROPOSALS, workers=1).labels == 0


def test_people_confirm_or_reject_proposals_on_a_sheet(root: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_label_template(root, sheet)
    lines = sheet.read_text().splitlines()
    modes = {line.split(",")[2] for line in lines[1:]}
    assert "structure-change" in modes
    assert not modes & (set(EDITS) - set(RESTORATIONS))
    case = "picture-0.mixed/LF3/0"
    sheet.write_text(
        f"{lines[0]}\nturning,{case},structure-change,yes,1,,0.1,0.1,0.5,0.5,anna,upside down\n"
        f"instant,{case},colour-on-grey,no,,,,,,,anna,\n"
    )
    assert add_labels(root, sheet).added == 2
    assert ("person", "structure-change", 1) in labels(root, "source, mode, present")
