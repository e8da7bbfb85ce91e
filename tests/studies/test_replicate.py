"""The replicate study as a generator: what is asked for, from which picture, and what is compared with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.studies.replicate import Replicate, ReplicateTable
from convergebench.types import Case, Compare, Edit, Settings, SourceImage, State, Word

TABLE = SourceImage("table", "object", "0" * 64, 8, 8, "CC0", "test", lambda: b"")
FACE = SourceImage("face", "face", "1" * 64, 8, 8, "CC0", "test", lambda: b"")
SOURCES = [(image, State(image.id, image.id)) for image in (TABLE, FACE)]


def study(*, settings: Settings | None = None, **table: object) -> Replicate:
    return Replicate.of(ReplicateTable.model_validate(table), settings or Settings())


def walked(name: str, steps: int, *, independent: bool = False, settings: Settings | None = None) -> list[Word]:
    """Every word of one chain on the table; the n-th edit is answered with the state `n`."""
    row = {"variants": [name], "images": ["table"], "independent": independent}
    replicate = study(steps=steps, runs=1, grid=[row], settings=settings)
    case = replicate.cases(SOURCES, ())[-1]
    return words_of(replicate, case)


def words_of(replicate: Replicate, case: Case) -> list[Word]:
    walk, answer = replicate.steps(case), None
    words: list[Word] = []
    while True:
        try:
            word = walk.send(answer)
        except StopIteration:
            return words
        words.append(word)
        made = sum(isinstance(one, Edit) for one in words)
        answer = State(str(made), str(made)) if isinstance(word, Edit) else None


def edits(words: list[Word]) -> list[Edit]:
    return [word for word in words if isinstance(word, Edit)]


def compared(words: list[Word], role: str) -> list[tuple[str, str, str | None]]:
    return [
        (word.subject.id, word.reference.id if word.reference else "", word.operation)
        for word in words
        if isinstance(word, Compare) and word.role == role
    ]


def test_each_copy_is_made_from_the_copy_before_it() -> None:
    assert [edit.state.id for edit in edits(walked("replicate", 4))] == ["table", "1", "2", "3"]


def test_every_step_is_held_against_the_source_and_against_step_1() -> None:
    words = walked("replicate", 3)
    assert compared(words, "return") == [("1", "table", None), ("2", "table", None), ("3", "table", None)]
    assert compared(words, "first") == [("1", "1", None), ("2", "1", None), ("3", "1", None)]
    assert compared(words, "source") == [("table", "", None)]
    assert compared(words, "forward") == []  # nothing to look for in a copy


def test_a_mirrored_step_is_held_against_the_mirrored_source_and_every_second_one_against_itself() -> None:
    words = walked("mirror", 4)
    flip = "flip-horizontal"
    assert [operation for _, _, operation in compared(words, "return")] == [flip, None, flip, None]
    assert [operation for _, _, operation in compared(words, "first")] == [None, flip, None, flip]
    assert compared(words, "forward")[1] == ("2", "1", flip)


def test_a_turned_step_comes_back_after_four() -> None:
    operations = [operation for _, _, operation in compared(walked("rotate", 5), "return")]
    assert operations == ["rotate-90", "rotate-180", "rotate-270", None, "rotate-90"]


def test_displacements_are_taken_between_pictures_that_lie_alike() -> None:
    lags = [word for word in walked("rotate", 3) if isinstance(word, Compare) and word.role == "lag"]
    assert [(word.step, word.lag, word.operation) for word in lags] == [
        (1, 1, "rotate-90"), (2, 1, "rotate-90"), (2, 2, "rotate-180"), (3, 1, "rotate-90"), (3, 2, "rotate-180"),
        (3, 3, "rotate-270"),
    ]  # fmt: skip


def test_inside_a_reconstruction_nothing_is_held_against_the_source() -> None:
    words = walked("patches-edges-photo", 7)
    assert [subject for subject, _, _ in compared(words, "return")] == ["3", "6"]
    assert compared(words, "first") == [("3", "3", None), ("6", "3", None)]
    assert len(compared(words, "step")) == 7


def test_an_addition_is_compared_only_around_the_change_and_looked_for() -> None:
    words = walked("add-apples", 2)
    assert compared(words, "around") == [("1", "table", None), ("2", "table", None)]
    assert compared(words, "return") == []
    assert compared(words, "forward") == [("1", "table", "add"), ("2", "1", "add")]


def test_every_step_adds_another_fruit() -> None:
    instructions = [edit.instruction for edit in edits(walked("add-100-fruits", 100))]
    assert len(set(instructions)) == 100


def test_independent_steps_all_start_from_the_untouched_picture_and_are_draws_of_their_own() -> None:
    words = walked("mirror", 3, independent=True)
    assert [(edit.state.id, edit.draw) for edit in edits(words)] == [("table", 1), ("table", 2), ("table", 3)]
    assert [operation for _, _, operation in compared(words, "return")] == ["flip-horizontal"] * 3


def test_an_independent_reconstruction_starts_every_cycle_anew() -> None:
    words = walked("monochrome-colour", 4, independent=True)
    assert [edit.state.id for edit in edits(words)] == ["table", "1", "table", "3"]


def test_a_variants_settings_go_over_those_of_the_study() -> None:
    words = walked("temperature-0", 1, settings=Settings(temperature=1.0, resolution="2K"))
    assert edits(words)[0].settings == Settings(temperature=0.0, resolution="2K")


def test_runs_with_one_seed_each_have_another_one() -> None:
    replicate = study(steps=2, runs=3, grid=[{"variants": ["seed-fixed"], "images": ["table"]}])
    seeds = [edits(words_of(replicate, case))[1].settings.seed for case in replicate.cases(SOURCES, ())]
    assert seeds == [0, 1, 2]


def test_a_persons_session_ends_with_its_last_wish() -> None:
    words = walked("session-apple-colour", 100)
    assert [edit.instruction for edit in edits(words)][1] == "Make it a bit more green."
    assert len(edits(words)) == 4


def test_a_row_without_images_takes_those_whose_kind_suits() -> None:
    cases = study(runs=2, grid=[{"variants": ["add-apples", "replicate"]}]).cases(SOURCES, ())
    assert [case.id for case in cases] == [
        "table/add-apples/0", "table/add-apples/1", "table/replicate/0", "table/replicate/1", "face/replicate/0",
        "face/replicate/1",
    ]  # fmt: skip


def test_rows_may_have_their_own_length() -> None:
    rows = [
        {"variants": ["replicate"], "images": ["table"], "steps": 7},
        {"variants": ["replicate"], "images": ["face"], "runs": 1},
        {"variants": ["patches-edges-photo"], "images": ["face"], "runs": 1},
    ]
    replicate = study(steps=10, runs=2, grid=rows)
    cases = replicate.cases(SOURCES, ())
    assert [(case.id, replicate.calls(case), replicate.rounds_of(case)) for case in cases] == [
        ("table/replicate/0", 7, 7),
        ("table/replicate/1", 7, 7),
        ("face/replicate/0", 10, 10),
        ("face/patches-edges-photo/0", 10, 9),  # the tenth is inside a cycle
    ]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"variants": ["replicate"], "images": ["tabel"]}], "did you mean 'table'"),
        ([{"variants": ["replicate"]}, {"variants": ["replicate"], "images": ["face"]}], "asks twice"),
        ([{"variants": ["replicat"]}], "did you mean 'replicate'"),
        ([{"variants": ["patches-edges-photo"], "steps": 2}], "returns to the source after 3 steps"),
    ],
)
def test_a_row_that_cannot_be_meant_is_told(rows: list[dict[str, object]], says: str) -> None:
    with pytest.raises(StudyError, match=says):
        study(grid=rows).cases(SOURCES, ())


def test_a_variant_that_sets_what_the_study_sets_already_is_refused() -> None:
    rows = [{"variants": ["replicate", "seed-fixed"]}]
    with pytest.raises(StudyError, match="'seed-fixed' is the same as 'replicate'"):
        study(grid=rows, settings=Settings(seed_policy="fixed")).cases(SOURCES, ())


def test_a_case_keeps_to_the_row_that_took_its_image() -> None:
    rows = [
        {"variants": ["add-apples"], "steps": 4, "runs": 1},  # things and scenes
        {"variants": ["add-apples"], "images": ["face"], "steps": 2, "runs": 1},
    ]
    replicate = study(grid=rows)
    assert {case.id: replicate.calls(case) for case in replicate.cases(SOURCES, ())} == {
        "table/add-apples/0": 4,
        "face/add-apples/0": 2,
    }


def test_the_manifest_holds_the_words_and_how_they_are_compared() -> None:
    replicate = study(grid=[{"variants": ["mirror"], "independent": True}])
    labelled = replicate.edits(replicate.cases(SOURCES, ()))
    assert labelled["mirror"]["baseline"] == "replicate"
    assert labelled["mirror-independent"]["baseline"] == "mirror"
    assert labelled["mirror-independent"]["independent"] is True
    assert labelled["mirror"]["operations"] == ["flip-horizontal"]


STUDIES = Path(__file__).parents[2] / "studies"


def test_the_papers_grid_is_56_settings_of_5_runs_of_100_steps() -> None:
    from convergebench.conductor.prepare import prepare
    from convergebench.studies.spec import read_spec

    prepared = prepare(read_spec(STUDIES / "replicate.toml"))
    settings = {(chain.case.source_id, chain.case.label) for chain in prepared.chains}
    assert len(settings) == 56
    assert sum(chain.study.calls(chain.case) for chain in prepared.chains) == 28_000
    copied = {source for source, label in settings if label == "replicate"}
    assert len(copied) == 12
    assert "coffee-cup" not in copied


def test_the_protocol_for_other_editors_is_1400_images_each() -> None:
    from convergebench.conductor.prepare import prepare
    from convergebench.engine.plan import forecast
    from convergebench.studies.spec import read_spec

    prepared = prepare(read_spec(STUDIES / "replicate-others.toml"))
    assert {row.calls for row in forecast(prepared.chains, prepared.editors, {})} == {1400}
