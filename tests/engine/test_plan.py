"""What a chain was asked to do, as a hash: the same for runs of earlier versions, another one for other roles."""

from __future__ import annotations

from dataclasses import replace

from convergebench.engine.plan import Chain
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Case, State
from tests.engine.parts import PAIR

SOURCE = State("i1:a", "i1:a")
CHAIN = Chain("counting", Case("first/plus/0", SOURCE, "first", "scene", (PAIR,)), RoundTrip(5), 5)


def test_the_plan_of_a_study_that_asks_nobody_is_what_it_always_was() -> None:
    assert CHAIN.plan("counting@1") == "d1:da0703e113477f058abde60a5710eae7"
    assert CHAIN.plan("counting@1", {}) == CHAIN.plan("counting@1")


def test_another_editor_role_or_clean_reference_is_another_plan() -> None:
    clean = replace(CHAIN, case=replace(CHAIN.case, clean=State("i1:b", "i1:b")))
    plans = {
        CHAIN.plan("counting@1"),
        CHAIN.plan("counting@2"),
        CHAIN.plan("counting@1", {"judge": "judge@1"}),
        CHAIN.plan("counting@1", {"judge": "judge@2"}),
        CHAIN.plan("counting@1", {"rater": "judge@1"}),
        clean.plan("counting@1"),
    }
    assert len(plans) == 6
