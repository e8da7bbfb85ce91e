"""`cbench factory rate`: a blinded, balanced sample of judged edits on one page that needs nothing else."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.conductor.factory_rating import name_fault, write_rating_page
from convergebench.conductor.factory_sample import JudgedEdit, in_order, judged_edits, sample
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.report.rating_page import RatingPage, ShownEdit, criteria_words, rating_page
from convergebench.rubrics.rubric import load_rubric
from convergebench.store.frames import RunFrames
from convergebench.store.images import identity_of
from convergebench.studies.factory_table import CRITERIA
from tests.cli.inside import run_inside
from tests.factory_run import factory_run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen pictures with four edits each, some of them sessions."""
    path = tmp_path_factory.mktemp("factory") / "run"
    factory_run(path, count=16, sessions=0.4, metrics=())
    return path


@pytest.fixture(scope="module")
def edits(root: Path) -> list[JudgedEdit]:
    frames = RunFrames(root)
    found = judged_edits(frames)
    frames.close()
    return found


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert found
    return dict(json.loads(unescape(found[1])))


def made_up(count: int, *, accepted: float, editors: int = 1) -> list[JudgedEdit]:
    return [
        JudgedEdit(
            *(f"editor-{number % editors}", f"case-{number}", 1, f"source-{number % 40}", f"category-{number % 7}"),
            *(number < accepted * count, "Do it.", f"i1:{number}", "a.png", "b.png"),
        )
        for number in range(count)
    ]


# ---- which edits there are


def test_every_scored_attempt_can_be_rated_and_no_other(root: Path, edits: list[JudgedEdit]) -> None:
    frames = RunFrames(root)
    facts = [
        json.loads(text) for kind, text in frames.decisions().select("decision", "facts").rows() if kind == "attempt"
    ]
    frames.close()
    assert len(edits) == sum(one.get("score") is not None for one in facts)
    assert Counter(one.accepted for one in edits) == Counter(bool(one["accepted"]) for one in facts)


def test_the_input_of_a_later_turn_is_the_picture_that_was_accepted_before(edits: list[JudgedEdit]) -> None:
    chains: dict[str, list[JudgedEdit]] = {}
    for one in edits:
        chains.setdefault(one.case, []).append(one)
    later = 0
    for chain in chains.values():
        now = chain[0].before
        for one in chain:
            assert one.before == now
            later += now != chain[0].before
            now = one.after if one.accepted else now
    assert later > 5


# ---- which of them are drawn


def test_half_of_the_sample_was_accepted_where_there_are_enough_of_both() -> None:
    chosen = sample(made_up(400, accepted=0.75), 60, seed=0)
    assert Counter(one.accepted for one in chosen) == {True: 30, False: 30}
    assert len({one.place for one in chosen}) == 60


def test_what_one_half_lacks_the_other_gives() -> None:
    chosen = sample(made_up(100, accepted=0.95), 60, seed=0)
    assert Counter(one.accepted for one in chosen) == {True: 55, False: 5}
    chosen = sample(made_up(100, accepted=0.02), 60, seed=0)
    assert Counter(one.accepted for one in chosen) == {True: 2, False: 58}


def test_a_small_run_is_rated_whole() -> None:
    few = made_up(7, accepted=0.5)
    assert {one.place for one in sample(few, 60, seed=0)} == {one.place for one in few}


def test_editors_and_categories_have_equal_shares_and_sources_are_spread() -> None:
    chosen = sample(made_up(1000, accepted=0.6, editors=2), 56, seed=3)
    assert set(Counter((one.accepted, one.editor, one.category) for one in chosen).values()) == {2}
    assert max(Counter(one.source for one in chosen).values()) <= 3


def test_the_seed_decides(edits: list[JudgedEdit]) -> None:
    assert in_order(sample(edits, 20, 1), 1) == in_order(sample(edits, 20, 1), 1)
    assert {one.place for one in sample(edits, 20, 1)} != {one.place for one in sample(edits, 20, 2)}


@pytest.mark.parametrize(("count", "twice"), [(1, 1), (2, 2), (9, 3), (30, 3), (60, 6), (200, 20)])
def test_a_tenth_is_shown_twice_and_at_least_three(count: int, twice: int) -> None:
    shown = in_order(made_up(count, accepted=0.5), seed=0)
    assert Counter(Counter(one.place for one in shown).values()) == Counter({1: count - twice, 2: twice}) + Counter()


def test_the_second_showing_is_a_third_of_the_page_away() -> None:
    for seed in range(20):
        places = [one.place for one in in_order(made_up(60, accepted=0.5), seed)]
        for place in (place for place, times in Counter(places).items() if times == 2):
            first = places.index(place)
            assert places.index(place, first + 1) - first > 20


def test_the_order_is_drawn_too() -> None:
    begun = {tuple(one.case for one in in_order(made_up(60, accepted=0.5), seed)[:20]) for seed in range(4)}
    assert len(begun) == 4


def test_the_order_tells_nothing_of_the_verdict() -> None:
    verdicts = [one.accepted for one in in_order(sample(made_up(400, accepted=0.5), 60, 0), 0)]
    assert 10 < sum(verdicts[:33]) < 23


# ---- the page


def test_the_page_holds_its_pictures_and_names_no_verdict_score_or_reason(root: Path, tmp_path: Path) -> None:
    made = write_rating_page(root, tmp_path / "rate.html", count=24, seed=5)
    page = (tmp_path / "rate.html").read_text(encoding="utf-8")
    data = data_of(page)
    assert len(data["edits"]) == made.edits + made.repeated == 24 + 3
    assert set(data["edits"][0]) == {"editor", "case", "position", "image", "before", "after", "instruction"}
    assert "the patch can be seen" not in page
    assert not re.search(r'(src|href)="(?!data:|#)', page), "it must load nothing"
    assert "default-src &#39;none&#39;" in page


def test_an_editors_name_is_nowhere_that_it_is_shown(root: Path, tmp_path: Path) -> None:
    write_rating_page(root, tmp_path / "rate.html", count=5)
    page = (tmp_path / "rate.html").read_text(encoding="utf-8")
    assert "instant" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_pictures_are_those_of_the_run_and_are_stored_once(root: Path, edits: list[JudgedEdit], tmp_path: Path) -> None:
    write_rating_page(root, tmp_path / "rate.html", count=24)
    data = data_of((tmp_path / "rate.html").read_text(encoding="utf-8"))
    assert len(set(data["pictures"])) == len(data["pictures"])
    by_place = {one.place: one for one in edits}
    for shown in data["edits"]:
        edit = by_place[shown["editor"], shown["case"], shown["position"]]
        assert shown["image"] == identity_of(edit.after)
        assert shown["instruction"] == edit.instruction
        for number, file in ((shown["before"], edit.before), (shown["after"], edit.after)):
            coded = base64.b64decode(data["pictures"][number].removeprefix("data:image/webp;base64,"))
            stored, seen = (decode(one).pixels.astype(int) for one in ((root / file).read_bytes(), coded))
            assert np.abs(stored - seen).mean() < 8


def test_a_large_picture_is_made_smaller_and_words_are_no_markup() -> None:
    data = encode_png(np.full((500, 2000, 3), 90, np.uint8))
    shown = [ShownEdit("e", "c", 1, "i1:x", "a", "b", "</script><b>no markup</b>")]
    page = rating_page(RatingPage("r", "", load_rubric("judge-edit").template), shown, lambda _: data)
    assert "<b>no markup" not in page
    found = data_of(page)
    assert found["edits"][0]["instruction"] == "</script><b>no markup</b>"
    coded = base64.b64decode(found["pictures"][0].split(",")[1])
    assert decode(coded).pixels.shape == (192, 768, 3)


def test_the_criteria_are_told_in_the_words_of_the_judges_question(root: Path, tmp_path: Path) -> None:
    write_rating_page(root, tmp_path / "rate.html", count=3)
    page = unescape((tmp_path / "rate.html").read_text(encoding="utf-8"))
    question = load_rubric("judge-edit").template
    told = criteria_words(question)
    assert [one["name"] for one in told] == list(CRITERIA)
    for one in told:
        assert f"- {one['title']}: {one['words']}" in question
        assert one["words"][1:] in page
    assert "half right or plainly flawed" in page
    with pytest.raises(StudyError, match="technical quality"):
        criteria_words(question.replace("- technical quality", "- lustre"))


# ---- the command


def test_the_command_says_what_is_on_the_page_and_leaves_the_run_alone(root: Path, tmp_path: Path) -> None:
    before = (root / "manifest.json").read_bytes()
    done = run_inside(["factory", "rate", str(root), "--out", "rate.html", "--count", "10"], tmp_path, {})
    assert done.returncode == 0, done.stderr
    assert re.match(r"rate\.html: 10 of \d+ judged edits, 5 of them accepted; 3 are shown twice; ", done.stdout)
    assert (root / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--out", "rate.csv"], "name a file that ends in .html"),
        (["--out", "rate.html", "--rater", "=1+1"], "a spreadsheet would take this for a formula"),
        (["--out", "rate.html", "--rater", "People"], "stands for all raters"),
    ],
)
def test_a_mistake_is_told_in_one_line(root: Path, tmp_path: Path, words: list[str], told: str) -> None:
    done = run_inside(["factory", "rate", str(root), *words], tmp_path, {})
    assert done.returncode != 0
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["rate", "run", "--out", "rate.html"], ["ratings", "run", "a.csv"]])
def test_a_run_of_another_study_has_nothing_to_rate(root: Path, tmp_path: Path, words: list[str]) -> None:
    shutil.copytree(root, tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "study": "roundtrip"}), encoding="utf-8")
    done = run_inside(["factory", *words], tmp_path, {})
    assert done.returncode != 0
    assert "run is a run of the study 'roundtrip'; only runs of 'factory' have judged edits" in done.stderr


@pytest.mark.parametrize("name", ["", "  ", "people", "@me", "a\nb", "x" * 61, "=A1"])
def test_these_are_no_names(name: str) -> None:
    assert name_fault(name)


@pytest.mark.parametrize("name", ["Anna", "Zoë O'Neil", "rater 7", "李雷"])
def test_these_are_names(name: str) -> None:
    assert not name_fault(name)
