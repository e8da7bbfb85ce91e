"""The restoration study as a generator: which pictures, which prompts, how often, and what is compared with what."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from convergebench.errors import StudyError
from convergebench.studies.restoration import Restoration
from convergebench.studies.restoration_table import DEGRADATIONS, SCENES, RestorationTable
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Case, Compare, Edit, Settings, SourceImage, State, Word
from tests.restoration_run import sources

WORDED = Capabilities(seed=True)
WORDLESS = Capabilities(instructed=False)
FIXED = Capabilities(instructed=False, deterministic=True)


def study(settings: Settings | None = None, **table: Any) -> Restoration:
    return Restoration.of(RestorationTable.model_validate(table), settings or Settings())


def laid_out(restoration: Restoration, images: list[SourceImage] | None = None) -> list[Case]:
    pictures = restoration.pictures(images if images is not None else sources(4))
    return restoration.cases([(one, State(f"i1:{one.sha256}", f"i1:{one.sha256}")) for one in pictures], ())


def words_of(restoration: Restoration, case: Case) -> list[Word]:
    walk, answer = restoration.steps(case), None
    words: list[Word] = []
    while True:
        try:
            word = walk.send(answer)
        except StopIteration:
            return words
        words.append(word)
        made = sum(isinstance(one, Edit) for one in words)
        answer = State(str(made), str(made)) if isinstance(word, Edit) else None


def test_there_are_thirteen_scenes_and_seven_degradations() -> None:
    assert (len(SCENES), len(DEGRADATIONS)) == (13, 7)


def test_every_prompt_is_asked_on_every_picture_as_often_as_repeats_say() -> None:
    cases = laid_out(study(prompts=["all"], repeats=2))
    assert len(cases) == 4 * 12 * 2
    assert Counter(case.label for case in cases)["SF2"] == 8
    assert {case.category for case in cases} == {"S", "SF", "L", "LF"}
    assert len({case.id for case in cases}) == len(cases)


def test_a_degraded_scene_keeps_its_kind_and_knows_its_clean_picture() -> None:
    images = sources(2)
    cases = laid_out(study(), images)
    assert [case.source_id for case in cases] == ["picture-0.mixed", "picture-1.mixed"]
    assert [case.kind for case in cases] == [image.kind for image in images]
    assert [case.clean.image if case.clean else None for case in cases] == [f"i1:{image.sha256}" for image in images]


def test_a_degradation_has_a_set_of_its_own_without_a_reference() -> None:
    cases = laid_out(study(scenes=[], degradations=["motion-blur"], per_degradation=3))
    assert {case.kind for case in cases} == {"motion-blur"}
    assert len(cases) == 3
    assert all(case.clean is None for case in cases)


def test_all_seven_degradations_are_asked_for_by_one_word() -> None:
    cases = laid_out(study(degradations=["all"], per_degradation=2))
    assert set(DEGRADATIONS) <= {case.kind for case in cases}


def test_pictures_degraded_here_may_all_be_compared_with_their_clean_ones() -> None:
    cases = laid_out(study(scenes=[], degradations=["old-film"], reference="all"))
    assert all(case.clean for case in cases)


def test_more_pictures_in_the_suite_do_not_change_the_damage_to_the_others() -> None:
    few = {one.id: one.sha256 for one in study().pictures(sources(2))}
    many = {one.id: one.sha256 for one in study().pictures(sources(5))}
    assert few.items() <= many.items()


def test_another_seed_or_severity_is_another_picture() -> None:
    def hashed(**table: Any) -> str:
        return study(**table).pictures(sources(1))[-1].sha256

    assert len({hashed(), hashed(seed=1), hashed(severity=0.5)}) == 3
    assert hashed() == hashed()


def test_pictures_that_came_with_a_clean_one_are_not_degraded_again() -> None:
    clean, degraded, other = sources(3)
    cases = laid_out(study(), [clean, replace(degraded, clean=clean.id), other])
    assert [case.source_id for case in cases] == ["picture-1", "picture-2.mixed"]
    assert [case.clean.image if case.clean else "" for case in cases] == [f"i1:{clean.sha256}", f"i1:{other.sha256}"]


def test_without_any_degradation_pictures_are_taken_as_they_are() -> None:
    cases = laid_out(study(scenes=[], degradations=[]))
    assert [case.source_id for case in cases] == [f"picture-{number}" for number in range(4)]
    assert all(case.clean is None for case in cases)


def test_the_input_and_every_result_are_compared_with_the_clean_picture() -> None:
    restoration = study(rounds=2)
    case = laid_out(restoration)[0]
    assert case.clean is not None
    words = [word for word in words_of(restoration, case) if isinstance(word, Compare) and word.role == "restored"]
    assert [(word.subject.id, word.round) for word in words] == [(case.source.id, 0), ("1", 1), ("2", 2)]
    assert {word.reference for word in words} == {case.clean}


def test_later_rounds_restore_the_result_before_with_the_follow_up_words() -> None:
    restoration = study(rounds=3, follow_up="Again, please.")
    case = laid_out(restoration)[0]
    edits = [word for word in words_of(restoration, case) if isinstance(word, Edit)]
    assert [edit.state.id for edit in edits] == [case.source.id, "1", "2"]
    assert [edit.instruction for edit in edits[1:]] == ["Again, please."] * 2
    assert edits[0].instruction.startswith("Restore the degraded image")
    assert restoration.calls(case) == 3


def test_a_method_that_reads_no_words_gets_the_unified_prompt_alone() -> None:
    restoration = study(prompts=["all"], repeats=3)
    asked = [case for case in laid_out(restoration) if not restoration.unneeded(case, WORDLESS)]
    assert {case.label for case in asked} == {"LF3"}
    assert {case.replicate for case in asked} == {0, 1, 2}
    once = [case for case in asked if not restoration.unneeded(case, FIXED)]
    assert {case.replicate for case in once} == {0}
    assert not any(restoration.unneeded(case, WORDED) for case in laid_out(restoration))


def test_the_unified_prompt_is_the_first_one_where_it_is_not_asked() -> None:
    assert study(prompts=["stability"]).unified == "S1"
    assert study(prompts=["all"]).unified == "LF3"


def test_a_fixed_seed_differs_between_repeats_and_only_there() -> None:
    restoration = study(Settings(seed=5, seed_policy="fixed"), repeats=2)
    seeds = {(case.replicate, restoration.settings_of(case).seed) for case in laid_out(restoration)}
    assert seeds == {(0, 5), (1, 6)}


def test_an_unknown_degradation_is_told_before_anything_is_made() -> None:
    with pytest.raises(StudyError, match="motion-blur"):
        study(degradations=["motion-blurr"]).pictures(sources(1))


def test_what_a_picture_is_degraded_by_may_not_change_while_a_run_grows() -> None:
    assert study(severity=2).fixed() != study().fixed()
    assert study(prompts=["all"], repeats=3, rounds=4).fixed() == study().fixed()


def test_a_study_file_without_metrics_gets_those_of_the_study() -> None:
    assert parse_spec({"study": "restoration"}).measure.metrics == ("restoration",)
    assert parse_spec({"study": "restoration", "measure": {"align": "fit"}}).measure.metrics == ("restoration",)
    assert parse_spec({"study": "restoration", "measure": {"metrics": ["psnr"]}}).measure.metrics == ("psnr",)
    assert parse_spec({"study": "roundtrip"}).measure.metrics == ("default",)


@pytest.mark.parametrize("name", ["input", "clean", "all"])
def test_no_editor_may_have_a_name_that_means_something_else_in_tables(name: str) -> None:
    with pytest.raises(StudyError, match="choose another name"):
        parse_spec({"study": "restoration", "editors": [{"name": name, "use": "unsharp"}]})
