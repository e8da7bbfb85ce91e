"""`cbench factory ratings`: people's ratings come into a run once, whole or not at all, and its report shows them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.factory.rater_consistency import own_consistency
from convergebench.conductor.analyse import analyse_run
from convergebench.conductor.factory_rated import add_ratings
from convergebench.conductor.factory_rating import run_mark
from convergebench.conductor.factory_ratings_sheet import COLUMNS
from convergebench.conductor.factory_sample import JudgedEdit, judged_edits
from convergebench.errors import RunLocked, StudyError
from convergebench.sheets import as_csv
from convergebench.store.frames import RATINGS, RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.store.run import Run
from convergebench.store.verify import problems
from convergebench.studies.factory_table import CRITERIA, Weights
from tests.cli.inside import run_inside
from tests.factory_run import chance, factory_run

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("factory") / "run"
    factory_run(path, count=10, metrics=())
    return path


@pytest.fixture
def root(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def edits_of(root: Path) -> list[JudgedEdit]:
    frames = RunFrames(root)
    found = judged_edits(frames)
    frames.close()
    return found


def ratings_of(root: Path) -> pl.DataFrame:
    frames = RunFrames(root)
    found = frames.ratings()
    frames.close()
    return found


def judged(root: Path) -> dict[tuple[str, str, int], dict[str, float]]:
    frames = RunFrames(root)
    rows = frames.decisions().filter(pl.col("decision") == "attempt").iter_rows(named=True)
    found = {(row["editor"], row["case"], row["position"]): json.loads(row["facts"]) for row in rows}
    frames.close()
    return found


def rows_of(
    root: Path, value: Callable[[JudgedEdit, str], float | None], *, rater: str = "Anna", count: int = 30
) -> Rows:
    """A rater who saw the first edits of a run, a minute apart."""
    mark = run_mark(read_manifest(root / "manifest.json"))
    return [
        {
            **{"run": mark, "editor": one.editor, "case": one.case, "position": one.position, "image": one.image},
            **{
                "question": name,
                "value": value(one, name),
                "rater": rater,
                "made": f"2026-01-31T12:{minute:02}:00.000Z",
            },
        }
        for minute, one in enumerate(edits_of(root)[:count])
        for name in CRITERIA
    ]


def file_of(folder: Path, rows: Rows, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(as_csv(COLUMNS, rows), encoding="utf-8")
    return path


def quarter(one: JudgedEdit, name: str) -> float:
    return round(4 * chance(one.image, name)) / 4


# ---- what is added


def test_every_answer_is_a_rating_of_a_person(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, quarter)
    done = add_ratings(root, [file_of(tmp_path, rows)])
    assert (done.added, done.known, done.changed, done.people) == (120, 0, 0, ("Anna",))
    found = ratings_of(root)
    assert set(found["source"]) == {"person"}
    stored = {(row["case"], row["step"], row["question"]): row["value"] for row in found.iter_rows(named=True)}
    assert all(stored[row["case"], row["position"], row["question"]] == row["value"] for row in rows)
    assert problems(root) == []
    assert len(read_manifest(root / "manifest.json").sessions) == 2


def test_four_criteria_give_the_score_with_the_weights_of_the_run(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, quarter, count=2)
    rows[5]["value"] = None  # cannot tell: this edit has no score
    add_ratings(root, [file_of(tmp_path, rows)])
    found = ratings_of(root).filter(pl.col("question") == "score")
    assert found["value"].to_list() == [Weights().score({row["question"]: row["value"] for row in rows[:4]})]
    assert found["detail"].to_list() == ["weighted mean of the four criteria"]


def test_the_score_comes_when_the_last_criterion_does(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, quarter, count=1)
    add_ratings(root, [file_of(tmp_path, rows[:3])])
    assert "score" not in set(ratings_of(root)["question"])
    add_ratings(root, [file_of(tmp_path, rows)])
    assert ratings_of(root)["question"].to_list().count("score") == 1


def test_cannot_tell_is_kept_and_has_no_value(root: Path, tmp_path: Path) -> None:
    add_ratings(root, [file_of(tmp_path, rows_of(root, lambda one, name: None, count=3))])
    assert ratings_of(root)["value"].to_list() == [None] * 12


def test_the_same_file_adds_nothing_a_second_time(root: Path, tmp_path: Path) -> None:
    path = file_of(tmp_path, rows_of(root, quarter))
    add_ratings(root, [path, path])
    before, manifest = ratings_of(root), (root / "manifest.json").read_bytes()
    done = add_ratings(root, [path])
    assert (done.added, done.known) == (0, 120)
    assert ratings_of(root).equals(before)
    assert (root / "manifest.json").read_bytes() == manifest


def test_a_longer_file_of_the_same_person_adds_what_is_new(root: Path, tmp_path: Path) -> None:
    add_ratings(root, [file_of(tmp_path, rows_of(root, quarter, count=5))])
    done = add_ratings(root, [file_of(tmp_path, rows_of(root, quarter, count=8))])
    assert (done.added, done.known) == (12, 20)


def test_an_answer_that_was_changed_after_it_was_added_is_told_and_the_first_counts(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, lambda one, name: 0.5, count=1)
    add_ratings(root, [file_of(tmp_path, rows)])
    rows[0]["value"] = 1.0
    done = run_inside(["factory", "ratings", str(root), str(file_of(tmp_path, rows))], tmp_path, {})
    assert "1 changed since they were added; the first values count" in done.stdout
    assert set(ratings_of(root)["value"]) == {0.5}


def test_a_file_that_a_spreadsheet_saved_is_read(root: Path, tmp_path: Path) -> None:
    path = file_of(tmp_path, rows_of(root, quarter, count=1))
    text = path.read_text(encoding="utf-8").replace(",Anna,", ',"O\'Neil, Zoë",').replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert add_ratings(root, [path]).people == ("O'Neil, Zoë",)


def test_a_run_whose_name_looks_like_a_formula_can_be_rated(tmp_path: Path) -> None:
    factory_run(tmp_path / "=run", count=2, metrics=())
    path = file_of(tmp_path, rows_of(tmp_path / "=run", quarter, count=1))
    assert "\n'=run " in path.read_text(encoding="utf-8")
    assert add_ratings(tmp_path / "=run", [path]).added == 4


# ---- what is refused


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("run", "another 2026", "ratings of another run"),
        ("editor", "instan", "did you mean 'instant'"),
        ("case", "picture-00000/no/0", "the run has no judged edit of it"),
        ("position", "99", "the run has no judged edit there"),
        ("position", "-1", "give a whole number"),
        ("image", "i1:" + "0" * 64, "the run has a different image there"),
        ("question", "seamlesness", "did you mean 'seamlessness'"),
        ("value", "1.01", "give a number from 0 to 1"),
        ("value", "-0.1", "give a number from 0 to 1"),
        ("value", "nan", "give a number from 0 to 1"),
        ("value", "good", "give a number from 0 to 1"),
        ("rater", "=HYPERLINK(1)", "a spreadsheet would take this for a formula"),
        ("rater", "", "say who rated"),
        ("rater", "people", "stands for all raters"),
        ("made", "yesterday", "give the time as"),
    ],
)
def test_a_wrong_cell_is_named_by_its_row_and_nothing_is_added(
    root: Path, tmp_path: Path, column: str, value: str, told: str
) -> None:
    rows = rows_of(root, quarter, count=2)
    rows[4][column] = value
    good = file_of(tmp_path, rows_of(root, quarter, rater="Ben"), "good.csv")
    done = run_inside(["factory", "ratings", str(root), str(good), str(file_of(tmp_path, rows))], tmp_path, {})
    assert done.returncode != 0
    assert f"ratings.csv, row 6, column {column}" in done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert ratings_of(root).height == 0, "the other file was sound, but all are added or none"


def test_two_values_for_one_question_in_one_file_are_refused(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, lambda one, name: 0.5, count=1)
    with pytest.raises(StudyError, match="row 6, column value: row 2 gives a different value"):
        add_ratings(root, [file_of(tmp_path, [*rows, {**rows[0], "value": 0.75}])])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no column run"),
        ("run;editor;case\n", "semicolons"),
        ("run,editor,case,position,image,question,value,rater,when\n", "unknown column 'when'"),
        (",".join(COLUMNS) + "\na,b\n", "row 2: 2 cells under 9 columns"),
        ("\ud800", "not a CSV file in UTF-8"),
    ],
)
def test_a_file_of_another_form_is_told_in_one_line(root: Path, tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "ratings.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(StudyError, match=told):
        add_ratings(root, [tmp_path / "ratings.csv"])


def test_a_run_that_is_being_written_is_left_alone(root: Path, tmp_path: Path) -> None:
    path = file_of(tmp_path, rows_of(root, quarter, count=1))
    with Run.existing(root), pytest.raises(RunLocked):
        add_ratings(root, [path])
    assert ratings_of(root).height == 0


# ---- what comes of it


def test_the_report_shows_how_far_judge_and_people_agree(root: Path, tmp_path: Path) -> None:
    said = judged(root)
    like = rows_of(root, lambda one, name: round(4 * said[one.place][name]) / 4, rater="Like the judge")
    unlike = rows_of(root, lambda one, name: 1 - round(4 * said[one.place][name]) / 4, rater="Unlike it")
    add_ratings(root, [file_of(tmp_path, like, "a.csv"), file_of(tmp_path, unlike, "b.csv")])
    found = analyse_run(root).context.results["factory"].tables()["judge_agreement"]
    order = found.filter(pl.col("measure") == "spearman")
    values = {(row["rater"], row["question"]): row["value"] for row in order.iter_rows(named=True)}
    for question in ("score", *CRITERIA):
        assert values["Like the judge", question] > 0.85
        assert values["Unlike it", question] < -0.85
    done = run_inside(["report", str(root)], tmp_path, {})
    assert done.returncode == 0, done.stderr
    page = (root / "report" / "index.html").read_text(encoding="utf-8")
    agreement = page.split("Agreement with other raters", 1)[1]
    assert "Like the judge" in agreement
    assert "No other ratings of these edits" not in page


def test_a_person_who_saw_an_edit_twice_is_held_against_the_first_answer(root: Path, tmp_path: Path) -> None:
    rows = rows_of(root, lambda one, name: 0.5, count=4)
    again = [
        {**row, "made": row["made"].replace("T12", "T13"), "value": 0.5 if number % 4 else 1.0}
        for number, row in enumerate(rows[:8])
    ]
    done = run_inside(["factory", "ratings", str(root), str(file_of(tmp_path, rows + again))], tmp_path, {})
    told = "Anna saw 2 edits twice: 75 % of 8 answers are the same, the mean difference is 0.12"
    assert told in done.stdout


def test_only_answers_with_a_value_in_both_showings_count() -> None:
    same = {"editor": "e", "case": "c", "step": 1, "image": "i", "rater": "A", "source": "person", "detail": ""}
    given = [
        *(("seamlessness", 0.5, "1"), ("seamlessness", None, "2")),
        *(("technical_quality", 0.25, "1"), ("technical_quality", 1.0, "3"), ("technical_quality", 0.5, "2")),
        *(("score", 0.1, "1"), ("score", 0.9, "2")),
    ]
    rows = [{**same, "question": question, "value": value, "made": made} for question, value, made in given]
    (found,) = own_consistency(pl.DataFrame(rows, schema=RATINGS))
    assert (found.edits, found.answers, found.same, found.difference) == (1, 1, 0.0, 0.25)
