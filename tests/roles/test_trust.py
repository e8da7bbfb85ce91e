"""Which roles may be asked: the user's own, harmless ones of a run, and served ones of a run after confirmation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.roles.measuring import MeasuringJudge
from convergebench.roles.served import ServedRole
from convergebench.roles.trust import available_roles, describe_role
from convergebench.roles.word_list import WordListReader

THEIRS: dict[str, Any] = {"kind": "served", "base_url": "http://evil/v1", "model": "m", "key": "OPENAI_API_KEY"}
OURS: dict[str, Any] = {"kind": "served", "base_url": "http://home/v1", "model": "n", "key": ""}


def test_without_roles_code_of_ours_answers() -> None:
    who = available_roles(None, {}, trusted=False)
    assert isinstance(who.roles["judge"], MeasuringJudge)
    assert isinstance(who.roles["reader"], WordListReader)
    assert not who.refused


@pytest.mark.parametrize("name", ["judge", "reader", "rater", "anybody"])
def test_a_served_role_of_a_run_waits_and_nobody_plays_it_meanwhile(name: str) -> None:
    who = available_roles({name: THEIRS}, {}, trusted=False)
    assert name not in who.roles
    with pytest.raises(
        StudyError, match=r"m at http://evil/v1, with the key in OPENAI_API_KEY.*--trust-roles.*--roles"
    ):
        who.require([name])
    who.require(["another"])


def test_confirmed_it_is_asked_and_can_be_shown() -> None:
    who = available_roles({"judge": THEIRS}, {}, trusted=True)
    assert isinstance(who.roles["judge"], ServedRole)
    assert who.confirmed == {"judge": "judge: m at http://evil/v1, with the key in OPENAI_API_KEY"}


def test_the_users_role_of_that_name_takes_its_place_even_where_all_are_trusted() -> None:
    for trusted in (False, True):
        role = available_roles({"judge": THEIRS}, {"judge": OURS}, trusted=trusted).roles["judge"]
        assert isinstance(role, ServedRole)
        assert role.table.base_url == "http://home/v1"


def test_the_same_server_with_the_same_key_needs_no_word_and_any_difference_does() -> None:
    assert "rater" in available_roles({"rater": OURS}, {"judge": OURS}, trusted=False).roles
    for change in ({"base_url": "http://evil/v1"}, {"model": "o"}, {"key": "HF_TOKEN"}, {"rubrics": {"a": "/b.toml"}}):
        assert "rater" in available_roles({"rater": {**OURS, **change}}, {"judge": OURS}, trusted=False).refused


def test_a_confirmed_role_with_a_key_that_may_not_be_sent_is_refused_when_it_is_asked() -> None:
    who = available_roles({"judge": {**THEIRS, "key": "AWS_SECRET_ACCESS_KEY"}}, {}, trusted=True)
    who.require(["rater"])
    with pytest.raises(StudyError, match="export CONVERGEBENCH_KEYS="):
        who.require(["judge"])


def test_an_old_reader_without_a_server_is_used_as_it_stands() -> None:
    who = available_roles({"reader": {"kind": "word-list"}, "judge": {"kind": "measuring"}}, {}, trusted=False)
    assert not who.refused
    assert not who.confirmed


def test_a_name_of_a_run_steers_no_terminal() -> None:
    (line,) = available_roles({"a\n\x1b[2J": {"kind": "word-list"}}, {}, trusted=False).refused.values()
    assert line.isprintable()
    assert "cannot answer what a" in line


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["served", "measuring"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*THEIRS, "rubrics"]), inner),
    max_leaves=8,
)


@given(found=ANYTHING, name=st.text(max_size=8), table=ANYTHING)
def test_whatever_a_run_says_nobody_with_a_server_is_asked_and_the_reason_is_one_line(
    found: Any, name: str, table: Any
) -> None:
    for one in (found, {name: table}, {"judge": {**THEIRS, "model": table}}):
        who = available_roles(one, {}, trusted=False)
        assert not any(isinstance(role, ServedRole) for role in who.roles.values())
        for line in who.refused.values():
            assert line.isprintable()
    assert describe_role(table).isprintable()
