"""Recorded chains as a run: chosen, checked, laid out, grown and joined without a second chain of the same name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.datasets.chains import FoundChains, Picture
from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import ImportChoices, choose_chains, prepare_recordings
from convergebench.engine.prepared import Prepared
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.progress import Progress
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.store.run import Run
from convergebench.store.verify import problems
from convergebench.studies.spec import parse_spec
from tests.datasets import sets
from tests.datasets.imported import import_set, measured


def found(folder: Path) -> FoundChains:
    return read_chains(folder)[2]


def walked(root: Path, prepared: Prepared) -> Progress:
    progress = Progress()
    with Run.create(root) as opened:
        begin(opened, prepared)
        run_chains(opened, prepared.editors, prepared.chains, progress=progress)
    return progress


def test_the_same_set_twice_is_no_second_chain_and_more_of_it_grows_the_run(tmp_path: Path) -> None:
    chains = found(sets.copies(tmp_path / "set", images=("rice", "holi"))).chains
    first = walked(tmp_path / "run", prepare_recordings(chains, ImportChoices(limit=1)))
    assert (first.steps_called, first.statuses) == (3, {"finished": 1})
    more = walked(tmp_path / "run", prepare_recordings(chains))
    assert (more.steps_called, more.steps_done) == (9, 12)
    again = walked(tmp_path / "run", prepare_recordings(chains))
    assert again.steps_called == 0
    assert len(RunFrames(tmp_path / "run").chains()) == 4
    assert problems(tmp_path / "run") == []


def test_an_import_that_was_cut_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    chains = found(sets.copies(tmp_path / "set")).chains
    prepared = prepare_recordings(chains)
    lost = tmp_path / "set" / "rice" / "replicate" / "run-1" / "step-002.png"
    kept = lost.read_bytes()
    lost.unlink()  # between the check and the reading
    cut = walked(tmp_path / "run", prepared)
    assert (cut.steps_called, cut.statuses) == (4, {"finished": 1, "failed": 1})
    lost.write_bytes(kept)
    on = walked(tmp_path / "run", prepared)
    assert (on.steps_called, on.statuses) == (2, {"finished": 2})
    assert problems(tmp_path / "run") == []


def test_other_pictures_or_other_words_under_the_same_name_are_refused(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set")
    walked(tmp_path / "run", prepare_recordings(found(folder).chains))
    second = folder / "rice" / "replicate" / "run-1" / "step-002.png"
    sets.save(second, sets.png(sets.worn(sets.scene(), 9)))
    with pytest.raises(ChangedMeaning, match="recording recorded/rice/replicate/1"):
        walked(tmp_path / "run", prepare_recordings(found(folder).chains))
    chains = [
        replace(chain, steps=tuple(replace(step, instruction="Copy it, roughly.") for step in chain.steps))
        for chain in found(folder).chains
    ]
    with pytest.raises(ChangedMeaning, match="pair replicate, instructions"):
        walked(tmp_path / "run", prepare_recordings(chains))


def test_runs_that_gave_the_same_pictures_stay_two_samples(tmp_path: Path) -> None:
    chains = found(sets.copies(tmp_path / "set")).chains
    twins = [replace(chains[0], run=run, id=f"rice/replicate/{run}") for run in (0, 1)]
    walked(tmp_path / "run", prepare_recordings([*twins, replace(twins[0], editor="other")]))
    frames = RunFrames(tmp_path / "run")
    assert frames.chains().select("editor", "case", "steps").rows() == [
        ("other", "rice/replicate/0", 3),
        ("recorded", "rice/replicate/0", 3),
        ("recorded", "rice/replicate/1", 3),
    ]
    assert len(frames.attempts()) == 9


def test_recorded_chains_join_a_run_of_ours_and_walk_its_cases(tmp_path: Path) -> None:
    sets.save(tmp_path / "pictures" / "scene" / "rice.png", sets.png(sets.scene()))
    study = {
        "study": "replicate",
        "editors": ["sim-jpeg"],
        "images": {"suite": str(tmp_path / "pictures")},
        "replicate": {"steps": 3, "runs": 2},
    }
    walked(tmp_path / "run", prepare(parse_spec(study)))
    folder = sets.copies(tmp_path / "set")
    chains, there = found(folder).chains, read_manifest(tmp_path / "run" / "manifest.json")
    walked(tmp_path / "run", prepare_recordings(chains, ImportChoices(editor="theirs"), there=there))
    frames = RunFrames(tmp_path / "run")
    cases = frames.chains().group_by("editor").agg("case").sort("editor")["case"].to_list()
    assert sorted(cases[0]) == sorted(cases[1]) == ["rice/replicate/0", "rice/replicate/1"]
    values = measured(frames, "psnr")
    returned = values.filter(values["role"] == "return").pivot("editor", index=["case", "step"], values="value")
    assert returned.null_count().sum_horizontal().item() == 0
    closed = [replace(chain, licence="CC-BY-NC-4.0") for chain in chains]
    with pytest.raises(ChangedMeaning, match=r"source rice, licence: not stated → CC-BY-NC-4\.0"):
        walked(tmp_path / "run", prepare_recordings(closed, ImportChoices(editor="others"), there=there))


def test_chains_of_another_kind_do_not_join_a_round_trip(tmp_path: Path) -> None:
    folder = tmp_path / "trips" / "scene_01_ball"
    for name in ("I0_source", "I1_forward", "I1_backward"):
        sets.save(folder / f"{name}.png", sets.png(sets.scene()))
    walked(tmp_path / "run", prepare_recordings(found(tmp_path / "trips").chains))
    chains = found(sets.copies(tmp_path / "set")).chains
    there = read_manifest(tmp_path / "run" / "manifest.json")
    with pytest.raises(ChangedMeaning, match="study: roundtrip → recorded"):
        walked(tmp_path / "run", prepare_recordings(chains, there=there))


def test_editor_speaks_where_the_set_does_not_and_chooses_where_it_does(tmp_path: Path) -> None:
    silent = found(sets.copies(tmp_path / "copies")).chains
    assert {chain.editor for chain in choose_chains(silent, ImportChoices())} == {"recorded"}
    assert {chain.editor for chain in choose_chains(silent, ImportChoices(editor="nb-pro"))} == {"nb-pro"}
    named = found(sets.mse_bench(tmp_path / "mse")).chains
    assert {chain.editor for chain in choose_chains(named, ImportChoices(editor="model_b"))} == {"model_b"}
    assert [chain.editor for chain in choose_chains(named, ImportChoices(limit=1))] == ["model_a", "model_b"]
    with pytest.raises(StudyError, match="no chain by 'model_c'; did you mean 'model_"):
        choose_chains(named, ImportChoices(editor="model_c"))
    with pytest.raises(StudyError, match="two chains by recorded are called 'rice/replicate/0'"):
        choose_chains([silent[0], silent[0]], ImportChoices())


def test_kind_is_taken_from_the_person_only_where_the_set_is_silent(tmp_path: Path) -> None:
    chains = found(sets.copies(tmp_path / "set")).chains
    assert {one.kind for one in prepare_recordings(chains).sources} == {"scene"}
    assert {one.kind for one in prepare_recordings(chains, ImportChoices(kind="object")).sources} == {"object"}
    changed = [replace(chain, source=replace(chain.source, kind="face")) for chain in chains]
    assert {one.kind for one in prepare_recordings(changed, ImportChoices(kind="object")).sources} == {"face"}


def test_one_name_for_two_pictures_and_one_label_for_two_wishes_are_errors(tmp_path: Path) -> None:
    first, second = found(sets.copies(tmp_path / "set")).chains
    other = Picture("elsewhere.png", lambda: sets.png(sets.scene(5)))
    with pytest.raises(StudyError, match="'rice' is two different images"):
        prepare_recordings([first, replace(second, source=replace(second.source, picture=other))])
    roughly = replace(second, steps=tuple(replace(step, instruction="Copy it.") for step in second.steps))
    with pytest.raises(StudyError, match="'replicate' use different instructions"):
        prepare_recordings([first, roughly])


def test_transparent_source_is_refused_and_transparent_steps_are_seen_on_white(tmp_path: Path) -> None:
    import cv2
    import numpy as np

    clear = np.dstack([sets.scene(), np.full((sets.SIDE, sets.SIDE), 128, np.uint8)])
    data = cv2.imencode(".png", clear)[1].tobytes()
    folder = sets.copies(tmp_path / "set")
    sets.save(folder / "rice" / "replicate" / "run-1" / "step-003.png", data)
    assert prepare_recordings(found(folder).chains).left_out == ()
    sets.save(folder / "rice" / "replicate" / "run-1" / "step-000.png", data)
    (fault,) = prepare_recordings(found(folder).chains).left_out
    assert "step-000.png has transparent pixels" in fault


def test_nothing_is_decoded_twice_that_the_run_holds(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set")
    damaged = b"no image at all"
    sets.save(folder / "rice" / "replicate" / "run-1" / "step-003.png", damaged)
    import hashlib

    known = frozenset({f"i1:{hashlib.sha256(damaged).hexdigest()}"})
    assert len(prepare_recordings(found(folder).chains).left_out) == 1
    assert prepare_recordings(found(folder).chains, known=known).left_out == ()


def test_sets_that_may_not_be_sold_or_changed_are_not_exported_unasked(tmp_path: Path) -> None:
    import_set(sets.pico(tmp_path / "set"), tmp_path / "run")
    with pytest.raises(StudyError, match=r"CC-BY-NC-ND-4.0.*--include-restricted"):
        export(tmp_path / "run", tmp_path / "out", ExportOptions("imagefolder"))


def test_settings_that_all_steps_share_stand_beside_the_words(tmp_path: Path) -> None:
    (chain, *_) = found(sets.copies(tmp_path / "set")).chains
    turns = ("1K", "2K", "4K")
    steps = tuple(
        replace(step, temperature=0.4, resolution=turn) for step, turn in zip(chain.steps, turns, strict=True)
    )
    walked(tmp_path / "run", prepare_recordings([replace(chain, steps=steps)]))
    settings = [json.loads(text) for text in RunFrames(tmp_path / "run").steps()["settings"].drop_nulls()]
    assert [one["resolution"] for one in settings] == list(turns)
    assert {one["temperature"] for one in settings} == {0.4}
