from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from convergebench.documents import check_document
from convergebench.errors import StudyError
from convergebench.roles import make_role, make_roles, roles_of
from convergebench.roles.measuring import MeasuringJudge
from convergebench.roles.served import ServedRole
from convergebench.roles.tables import RoleTable
from convergebench.roles.word_list import WordListReader
from tests.docs.blocks import ROOT, blocks

SERVED: dict[str, Any] = {"kind": "served", "base_url": "http://127.0.0.1:8000/v1/", "model": "qwen"}


def table(**given: Any) -> RoleTable:
    return check_document(given, RoleTable, where="[roles.judge]")


def test_nothing_configured_is_the_measuring_judge() -> None:
    assert isinstance(make_role("judge", table()), MeasuringJudge)
    assert isinstance(make_roles({})["judge"], MeasuringJudge)
    assert make_roles({})["judge"].about == "measuring judge"


def test_a_served_role_says_who_it_is_and_how_hard_it_may_be_driven() -> None:
    role = make_role("judge", table(**SERVED, at_once=2, per_minute=30, seconds=20, repeats=3))
    assert isinstance(role, ServedRole)
    assert role.limits.at_once == 2
    assert role.limits.per_minute == 30
    assert role.limits.seconds == 20
    assert role.repeats == 3
    assert role.about == "qwen at http://127.0.0.1:8000/v1, at an unknown price"
    assert role.dollars_per_call is None


def test_with_prices_a_question_has_one_before_it_is_put() -> None:
    role = make_role("judge", table(**SERVED, max_tokens=1000, dollars_per_million={"input": 2, "output": 10}))
    assert role.dollars_per_call == pytest.approx((6000 * 2 + 1000 * 10) / 1e6)
    own = make_role("judge", table(**SERVED, dollars_per_million={"input": 0, "output": 0}))
    assert own.dollars_per_call == 0.0
    assert own.about == "qwen at http://127.0.0.1:8000/v1"


def test_what_could_change_an_answer_changes_the_fingerprint_and_nothing_else_does() -> None:
    def fingerprint(**more: Any) -> str:
        return make_role("judge", table(**{**SERVED, **more})).fingerprint

    same = fingerprint()
    telling: list[dict[str, Any]] = [
        {"model": "other"}, {"revision": "awq"}, {"temperature": 0}, {"seed": 1}, {"max_tokens": 9},
        {"structured": False}, {"detail": "high"}, {"extra": {"top_p": 0.5}},
    ]  # fmt: skip
    for change in telling:
        assert fingerprint(**change) != same, change
    silent: list[dict[str, Any]] = [
        {"at_once": 9}, {"per_minute": 5}, {"key": "OPENAI_API_KEY"}, {"base_url": "http://other/v1"}, {"repeats": 4},
        {"seconds": 5}, {"dollars_per_million": {"input": 1, "output": 1}},
    ]  # fmt: skip
    for change in silent:
        assert fingerprint(**change) == same, change


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"kind": "served"}, 'kind = "served" needs base_url and model'),
        ({"model": "qwen"}, "'model' needs kind = \"served\""),
        ({"repeats": 3}, '"measuring" always gives the same answer'),
        ({"kind": "word-list", "repeats": 3}, '"word-list" always gives the same answer'),
        ({"kind": "word-list", "model": "gemini"}, "'model' needs kind = \"served\""),
        ({"at_once": 3}, "'at_once' needs kind = \"served\""),
        ({"extra": {"top_p": 1}}, "'extra' needs kind = \"served\""),
        ({**SERVED, "base_url": "http://host/v1/chat/completions/"}, "should end before /chat/completions"),
        ({**SERVED, "base_url": "http://host:99999/v1"}, "should be an address such as"),
        ({**SERVED, "base_url": "http://[host/v1"}, "should be an address such as"),
        ({**SERVED, "seconds": float("inf")}, "seconds: Input should be a finite number"),
        ({**SERVED, "per_minute": float("inf")}, "per_minute: Input should be a finite number"),
        ({**SERVED, "dollars_per_million": {"input": float("inf"), "output": 1}}, "should be a finite number"),
        ({**SERVED, "base_url": "127.0.0.1:8000"}, "should be an address such as"),
        ({**SERVED, "base_url": "ftp://host/v1"}, "should be an address such as"),
        ({**SERVED, "extra": {"messages": []}}, "'messages' is not allowed in extra"),
        ({**SERVED, "repeat": 3}, "unknown key 'repeat'; did you mean 'repeats'"),
        ({**SERVED, "temperature": -1}, "temperature"),
        ({**SERVED, "dollars_per_million": {"input": 1}}, "dollars_per_million.output"),
    ],
)
def test_a_faulty_table_is_told_in_one_line(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        table(**given)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"key": "sk-proj-0123456789abcdef"},
        {"key": "0123456789abcdef"},
        {"base_url": "https://name:0123456789abcdef@host/v1"},
        {"extra": {"api_key": "0123456789abcdef"}},
        {"base_url": "https://host/v1?api_key=0123456789abcdef"},
    ],
)
def test_a_secret_in_the_study_file_is_refused_without_being_shown(given: dict[str, Any]) -> None:
    with pytest.raises(StudyError) as caught:
        table(**{**SERVED, **given})
    assert "0123456789abcdef" not in str(caught.value)
    assert "environment" in str(caught.value)


def test_who_is_no_model_reads_no_rubrics() -> None:
    with pytest.raises(StudyError, match="does not use rubrics"):
        make_role("judge", table(rubrics={"semantics-forward": "mine.toml"}))
    with pytest.raises(StudyError, match="does not use rubrics"):
        make_role("reader", table(kind="word-list", rubrics={"self-evaluation": "mine.toml"}))


def test_a_manifest_gives_its_roles_back() -> None:
    kept = table(**SERVED, repeats=2, dollars_per_million={"input": 1, "output": 2}).model_dump(mode="json")
    again = roles_of({"study": "roundtrip", "roles": {"rater": kept}})
    assert set(again) == {"rater", *make_roles({})}
    assert again["rater"].fingerprint == make_role("rater", table(**SERVED)).fingerprint
    assert again["rater"].repeats == 2
    assert set(roles_of({})) == set(make_roles({}))


def test_nothing_configured_is_a_word_list_that_says_so() -> None:
    reader = make_roles({})["reader"]
    assert isinstance(reader, WordListReader)
    assert reader.about == "word list, not a language model"
    assert reader.fingerprint.startswith("word-list@")
    assert isinstance(make_role("reader", table(kind="word-list")), WordListReader)
    assert isinstance(make_role("reader", table(**SERVED)), ServedRole)
    assert make_role("reader", table(**SERVED)).fingerprint.startswith("served@")


@pytest.mark.parametrize(
    ("name", "kind", "better"),
    [
        ("reader", "measuring", '"served" or "word-list"'),
        ("judge", "word-list", '"served" or "measuring"'),
        ("rater", "word-list", '"served"'),
    ],
)
def test_each_role_is_played_by_someone_who_can(name: str, kind: str, better: str) -> None:
    with pytest.raises(StudyError, match=rf'\[roles\.{name}\]: kind = "{kind}" cannot .* use kind = {better}$'):
        make_role(name, table(kind=kind))


def test_what_stands_in_the_place_of_a_port_is_not_shown() -> None:
    with pytest.raises(StudyError, match="should be an address such as") as caught:
        table(**{**SERVED, "base_url": "https://host:0123456789abcdef"})
    assert "0123456789abcdef" not in str(caught.value)


def test_the_roles_that_the_documentation_shows_can_be_played() -> None:
    tables = [tomllib.loads(block.text) for block in blocks(ROOT / "docs" / "judges.md") if block.language == "toml"]
    shown = [role for one in tables for role in one.get("roles", {}).items() if "kind" in role[1]]
    assert sorted(name for name, _ in shown) == ["inspector", "judge", "judge", "rater", "reader", "rewriter", "writer"]
    for name, one in shown:
        assert isinstance(make_role(name, table(**one)), ServedRole)


def test_every_role_of_the_factory_has_one_that_needs_no_server() -> None:
    from convergebench.studies.factory import Factory

    made = make_roles({}, Factory.roles)
    assert {*Factory.roles, "reader"} == set(made)
    assert all("not a language model" in made[name].about for name in ("writer", "rewriter", "reader"))


def test_roles_that_look_for_weights_are_made_only_where_they_are_asked() -> None:
    assert set(make_roles({})) == {"judge", "reader"}


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("writer", "measuring", 'use kind = "served" or "template"'),
        ("writer", "rules", 'use kind = "served" or "template"'),
        ("rewriter", "template", 'use kind = "served" or "rules"'),
        ("detector", "word-list", 'use kind = "served" or "measuring"'),
        ("rater", "measuring", 'cannot answer what a rater is asked; use kind = "served"'),
    ],
)
def test_a_kind_that_cannot_play_a_role_is_refused_in_one_line(name: str, kind: str, says: str) -> None:
    with pytest.raises(StudyError, match=re.escape(says)) as caught:
        make_role(name, table(kind=kind))
    assert "\n" not in str(caught.value)


def test_a_role_under_a_name_of_a_studys_own_may_be_the_measuring_judge() -> None:
    assert isinstance(make_role("scribe", table()), MeasuringJudge)
