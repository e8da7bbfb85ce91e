"""From the plan to rows of the run: what is planned, what is written, and that nothing is written twice or lost."""

from __future__ import annotations

import csv
import json
import stat
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.conductor.options import RunOptions
from convergebench.conductor.rating_collect import collect_ratings, export_ratings, rating_progress
from convergebench.conductor.rating_items import rateable
from convergebench.conductor.rating_setup import RatingRequest, begin_rating
from convergebench.conductor.running import plan
from convergebench.conductor.running import run as run_study
from convergebench.errors import RunLocked, StudyError
from convergebench.images.decode import probe
from convergebench.store.frames import RunFrames
from convergebench.store.labels import Label, stamp
from convergebench.store.rating_book import RatingBook, book_path
from convergebench.store.recover import recover
from convergebench.store.run import Run
from convergebench.store.verify import problems
from convergebench.studies.spec import parse_spec
from tests.factory_run import factory_run
from tests.restoration_run import sources
from tests.serve.rating.conftest import METHODS


def begin(root: Path, **request: Any) -> RatingBook:
    return RatingBook.open(begin_rating(root, RatingRequest(**request)).path)


def frames(root: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    found = RunFrames(root)
    try:
        return found.ratings(), found.labels()
    finally:
        found.close()


def answer_all(book: RatingBook, rater: int, values: dict[str, float | None]) -> None:
    for showing in book.showings(rater):
        book.answer(rater, showing.position, values, seconds=2.0)


def test_only_the_unified_prompt_and_the_first_round_are_shown(run: Path) -> None:
    found = rateable(run)
    assert {case.case.split("/")[1] for case in found.cases} == {"LF3"}
    assert {picture.step for case in found.cases for picture in case.results.values()} == {1}
    assert found.methods == tuple(METHODS)
    assert sum(case.clean is not None for case in found.cases) == 4, "degradation sets have no clean picture"
    assert {case.case.split("/")[1] for case in rateable(run, every_prompt=True).cases} == {"LF3", "S1"}


def test_scores_become_rows_of_the_run_as_agreed(run: Path) -> None:
    with closing(begin(run, raters=2)) as book:
        for showing in book.showings(1):
            book.answer(1, showing.position, {"score": showing.position % 6}, seconds=1.25)
        book.answer(2, 1, {"score": None}, seconds=3)
        done = collect_ratings(run)
        assert (done.answered, done.ratings, done.labels, done.known) == (23, 23, 0, 0)
        ratings, _ = frames(run)
        assert set(ratings["source"]) == {"person"}
        assert Counter(ratings["rater"]) == {"score-01": 22, "score-02": 1}
        for row in ratings.filter(pl.col("rater") == "score-01").iter_rows(named=True):
            detail = json.loads(row["detail"])
            showing = book.showings(1)[detail["position"] - 1]
            picture = showing.pictures[0]
            shown = (picture.editor, picture.case, picture.step, picture.image)
            assert (row["editor"], row["case"], row["step"], row["image"]) == shown
            assert row["value"] == detail["position"] % 6
            assert (detail["seconds"], detail["showing"]) == (1.25, showing.time)
            assert detail.get("attention", {}) == showing.attention
            assert ("attention" in detail) == (row["editor"] in ("clean", "input"))
        assert ratings.filter(pl.col("rater") == "score-02")["value"].to_list() == [None]
    assert problems(run) == []


def test_collecting_again_adds_nothing_and_a_changed_answer_counts(run: Path) -> None:
    with closing(begin(run)) as book:
        book.answer(1, 1, {"score": 2}, seconds=1)
        book.answer(1, 2, {"score": 3}, seconds=1)
        assert collect_ratings(run).ratings == 2
        again = collect_ratings(run)
        assert (again.ratings, again.known) == (0, 2)
        book.answer(1, 1, {"score": 5}, seconds=1)
        changed = collect_ratings(run)
        assert (changed.ratings, changed.known) == (1, 1)
        ratings, _ = frames(run)
        assert sorted(ratings["value"]) == [3, 5], "the latest answer, once"
        book.answer(1, 1, {"score": 2}, seconds=1)
        collect_ratings(run)
        assert sorted(frames(run)[0]["value"]) == [2, 3], "back to the first answer"


def test_pairs_become_preferences_with_the_left_picture_first(run: Path) -> None:
    with closing(begin(run, mode="pairs")) as book:
        for showing in book.showings(1):
            book.answer(1, showing.position, {"preference": (1, 0.5, 0)[showing.position % 3]}, seconds=1)
        collect_ratings(run)
        ratings, _ = frames(run)
        assert set(ratings["question"]) == {"preference"}
        for row in ratings.iter_rows(named=True):
            detail = json.loads(row["detail"])
            left, right = book.showings(1)[detail["position"] - 1].pictures
            assert (row["editor"], row["image"]) == (left.editor, left.image)
            assert detail["against"] == {
                "editor": right.editor,
                "case": right.case,
                "step": right.step,
                "image": right.image,
            }
            assert row["value"] == (1, 0.5, 0)[detail["position"] % 3]


def test_four_axes_are_four_rows_and_one_for_attention_items(run: Path) -> None:
    with closing(begin(run, mode="axes")) as book:
        answer_all(book, 1, {"overall": 3, "semantics": 4, "detail": -2, "sharpness": None})
        collect_ratings(run)
        known = sum(bool(one.attention) for one in book.showings(1))
        ratings, _ = frames(run)
        counts = Counter(ratings["question"])
        assert counts["overall"] - known == counts["semantics"] == counts["detail"] == counts["sharpness"] == 20
        assert set(ratings.filter(pl.col("question") == "detail")["value"]) == {-2.0}


def test_labels_are_people_s_and_count_over_proposals(run: Path) -> None:
    with Run.existing(run) as opened:
        case = "picture-1.mixed/LF3/0"
        label = Label(
            *("harsh", case, "invented-texture", "noise", True, 1, None, 1, None, None, 0.9, "rule", "rule@1", "x"),
            stamp(opened.journal),
        )
        from convergebench.store.labels import label_id, row_of

        opened.journal.commit_now([row_of(label_id(label), label)])
    with closing(begin(run, mode="label", raters=2)) as book:
        first = [book.showings(number)[0:2] for number in (1, 2)]
        assert all(("harsh", case) in {(one.pictures[0].editor, one.pictures[0].case) for one in two} for two in first)
        assert len(book.showings(1)) == 36, "every prompt"
        asked = json.loads(book.facts["settings"])["questions"]
        assert list(asked) == [
            *("structure-change", "invented-edges", "invented-texture", "colour-on-grey", "lost-object", "new-object")
        ]
        place = next(one.position for one in book.showings(1) if one.pictures[0].editor == "harsh")
        book.answer(1, place, {name: float(name == "invented-edges") for name in asked}, seconds=1)
        book.answer(2, 1, dict.fromkeys(asked), seconds=1)
        done = collect_ratings(run)
        assert (done.labels, done.ratings) == (12, 0)
        _, labels = frames(run)
        people = labels.filter(pl.col("source") == "person")
        assert Counter(people["by"]) == {"label-01": 6, "label-02": 6}
        seen = people.filter(pl.col("present"))
        assert (seen["mode"].to_list(), seen["step"].to_list()) == (["invented-edges"], [1])
        assert people.filter(pl.col("by") == "label-02")["present"].to_list() == [None] * 6
        again = collect_ratings(run)
        assert (again.labels, again.known) == (0, 12)
    assert problems(run) == []


def test_a_plan_goes_on_and_grows_by_raters_alone(run: Path) -> None:
    begun = begin_rating(run, RatingRequest(raters=2, images=3, seed=4))
    assert set(begun.links) == {1, 2}
    again = begin_rating(run, RatingRequest())
    assert (again.links, again.raters, again.longest) == ({}, 2, begun.longest)
    grown = begin_rating(run, RatingRequest(raters=4))
    assert set(grown.links) == {3, 4}
    with closing(RatingBook.open(begun.path)) as book:
        kept = [book.showings(number) for number in (1, 2)]
        assert book.raters() == [1, 2, 3, 4]
    other = begin_rating(run, RatingRequest(raters=4, images=3, seed=4, plan="same"))
    with closing(RatingBook.open(other.path)) as book:
        assert [book.showings(number) for number in (1, 2)] == kept, "the same seed gives the same plan"
    for request, word in (
        *((RatingRequest(seed=5), "seed"), (RatingRequest(methods=("gentle",)), "methods")),
        *((RatingRequest(images=4), "images"), (RatingRequest(round=2), "round"), (RatingRequest(items=9), "items")),
    ):
        with pytest.raises(StudyError, match=f"started with {word}"):
            begin_rating(run, request)


def test_new_links_end_the_old_ones(run: Path) -> None:
    from convergebench.conductor.rating_setup import token_hash

    begun = begin_rating(run, RatingRequest(raters=2))
    anew = begin_rating(run, RatingRequest(new_links=True))
    with closing(RatingBook.open(begun.path)) as book:
        assert [book.rater_of(token_hash(begun.links[number])) for number in (1, 2)] == [None, None]
        assert [book.rater_of(token_hash(anew.links[number])) for number in (1, 2)] == [1, 2]


def test_no_secret_of_a_link_is_kept_and_the_book_is_for_its_owner(run: Path) -> None:
    begun = begin_rating(run, RatingRequest(raters=3))
    stored = b"".join(path.read_bytes() for path in (run / "rating").iterdir())
    assert not [token for token in begun.links.values() if token.encode() in stored]
    assert all(len(token) == 22 for token in begun.links.values()), "128 bits"
    assert stat.S_IMODE(begun.path.stat().st_mode) == 0o600
    assert sorted(path.name for path in (run / "rating").iterdir()) == ["score.plan.json", "score.sqlite"]


def test_the_paper_s_plan_with_what_there_is(run: Path) -> None:
    begun = begin_rating(run, RatingRequest(paper=True))
    assert (begun.raters, begun.cases) == (20, 6)
    assert [note.partition(";")[0] for note in begun.notes] == [
        "3 methods are available, not 5",
        "6 pictures are available, not 20",
    ]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (RatingRequest(methods=("gentel",)), "did you mean 'gentle'"),
        (RatingRequest(mode="pairs", methods=("gentle",)), "pairs need two methods"),
        (RatingRequest(mode="axes", paper=True), "--paper is a plan of scores"),
        (RatingRequest(plan="../up"), "--plan"),
        (RatingRequest(plan="A B"), "--plan"),
        (RatingRequest(round=7), "no finished image"),
    ],
)
def test_what_cannot_be_planned_is_one_line(run: Path, request_: RatingRequest, told: str) -> None:
    with pytest.raises(StudyError, match=told) as error:
        begin_rating(run, request_)
    assert "\n" not in str(error.value)
    assert not list((run / "rating").glob("*")) if (run / "rating").exists() else True


def test_a_run_of_another_study_says_so(tmp_path: Path) -> None:
    factory_run(tmp_path / "factory", count=1, metrics=())
    with pytest.raises(StudyError, match="cbench factory rate"):
        begin_rating(tmp_path / "factory", RatingRequest())


def test_round_trips_show_the_source_and_the_last_picture(tmp_path: Path) -> None:
    spec = parse_spec(
        {
            "study": "roundtrip",
            "editors": ["sim-perfect", "sim-jpeg"],
            "roundtrip": {"rounds": 2},
            "edits": {"pairs": ["flip-horizontal"]},
            "measure": {"metrics": []},
            "examine": {"detectors": []},
        }
    )
    root = tmp_path / "trips"
    run_study(
        plan(spec, root, sources=[replace(one, kind="scene") for one in sources(5)]),
        RunOptions(report=False, workers=1),
    )
    found = rateable(root)
    assert {picture.step for case in found.cases for picture in case.results.values()} == {4}, "two rounds of two edits"
    assert {picture.step for case in rateable(root, round_number=1).cases for picture in case.results.values()} == {2}
    with closing(begin(root)) as book:
        shown = book.showings(1)
        known = [one for one in shown if one.attention]
        assert {one.pictures[0].editor for one in known} == {"clean"}, "the source itself, shown as a result"
        assert all(one.pictures[0].image == one.input for one in known)
        answer_all(book, 1, {"score": 1})
    assert collect_ratings(root).ratings == len(shown) == 10 + 1 + 2


def test_the_run_is_free_while_people_rate_and_answers_wait_for_it(run: Path) -> None:
    with closing(begin(run)) as book:
        book.answer(1, 1, {"score": 2}, seconds=1)
        with Run.existing(run), pytest.raises(RunLocked):
            collect_ratings(run)
        assert collect_ratings(run).ratings == 1


def test_progress_and_export_name_every_rater_and_answer(run: Path, tmp_path: Path) -> None:
    with closing(begin(run, raters=2)) as book, closing(begin(run, mode="pairs")) as pairs:
        book.answer(1, 1, {"score": 2}, seconds=1)
        book.answer(1, 2, {"score": None}, seconds=1)
        pairs.answer(1, 1, {"preference": 0.5}, seconds=4)
        found = {one.rater: (one.answered, one.planned, one.cannot_say) for one in rating_progress(run)}
        assert found == {"score-01": (2, 22, 1), "score-02": (0, 22, 0), "pairs-01": (1, 22, 0)}
        assert export_ratings(run, tmp_path / "all.csv") == 3
        rows = list(csv.DictReader((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()))
        assert [(row["plan"], row["question"], row["value"]) for row in rows] == [
            ("pairs", "preference", "0.5"),
            ("score", "score", "2"),
            ("score", "score", ""),
        ]
        assert rows[0]["against_editor"]
    with pytest.raises(StudyError, match=r"ends in \.csv"):
        export_ratings(run, tmp_path / "all.txt")
    with pytest.raises(StudyError, match="there are: pairs, score"):
        collect_ratings(run, "axes")


def test_a_partly_answered_item_is_not_answered(run: Path) -> None:
    with closing(begin(run, mode="axes")) as book:
        book.answer(1, 1, {"overall": 3}, seconds=1)
        assert [one.answered for one in rating_progress(run)] == [0]
        assert collect_ratings(run).ratings == 1


def test_a_recovered_run_has_its_book_and_its_ratings(run: Path, tmp_path: Path) -> None:
    with closing(begin(run)) as book:
        answer_all(book, 1, {"score": 4})
    collect_ratings(run)
    (tmp_path / "new").mkdir()
    recover(run, tmp_path / "new", probe=probe)
    assert frames(tmp_path / "new")[0].equals(frames(run)[0])
    with closing(RatingBook.open(book_path(tmp_path / "new", "score"))) as book:
        assert len(book.answers(1)) == 22


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + bytes(200)])
def test_what_is_no_book_is_refused(run: Path, content: bytes) -> None:
    (run / "rating").mkdir()
    (run / "rating" / "score.sqlite").write_bytes(content)
    with pytest.raises(StudyError, match=r"score\.sqlite"):
        begin_rating(run, RatingRequest())


def test_a_book_with_a_trigger_is_refused(run: Path) -> None:
    with closing(begin(run)) as book:
        book._connection.execute("create trigger bad after insert on answers begin delete from answers; end")
    with pytest.raises(StudyError, match="not a file of ratings"):
        begin_rating(run, RatingRequest())


def test_a_method_with_the_name_of_a_control_is_left_out(run: Path) -> None:
    from convergebench.conductor.rating_items import chosen_methods

    found = replace(rateable(run), methods=("gentle", "clean"))
    with pytest.raises(StudyError, match="control images"):
        chosen_methods(found, ())
    assert chosen_methods(found, ["gentle"]) == ("gentle",)
