"""What a simulated editor says about a step, when a summary of its reasoning is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.editors.instructions.instruction import understand
from convergebench.editors.simulated.account import NOTICED, summary
from convergebench.editors.simulated.family import make
from convergebench.failures._claims import claim_in
from convergebench.reasoning import rounds, sections
from convergebench.types import Settings

SAYS = Settings(reasoning=True)
WORDS = (
    "add an apple",
    "remove the hat",
    "flip horizontally",
    "rotate 90° clockwise",
    "make it black and white",
    "make it brighter",
    "Produce an exact replica of the provided image, with no alterations.",
)


@pytest.mark.parametrize("words", WORDS)
def test_it_has_two_sections_about_making_and_two_about_looking(words: str) -> None:
    parts = sections(summary("Did it.", understand(words)))
    assert [part.phase for part in parts] == ["generation", "generation", "evaluation", "evaluation"]
    assert all(part.title and part.text for part in parts)
    assert rounds(parts) == 1


@pytest.mark.parametrize("words", WORDS)
def test_it_claims_success_without_doubt(words: str) -> None:
    assert claim_in(summary("Did it.", understand(words))) is not None


def test_it_owns_up_where_it_did_nothing_and_knows_it(pictures: Any, run: Any) -> None:
    said = run(make("sim", "sim", {}), pictures["scene"], "ponder the meaning of it all", settings=SAYS).reasoning
    assert "not understand" in said
    assert claim_in(said) is None


def test_it_claims_what_it_forgot_to_do(pictures: Any, run: Any) -> None:
    forgetful = make("sim-forgetful", "sim-forgetful", {"ignores": 1})
    said = run(forgetful, pictures["scene"], "add a red ball", settings=SAYS).reasoning
    assert "successfully added" in said


def test_without_the_setting_it_stays_one_line(pictures: Any, run: Any) -> None:
    assert run(make("sim", "sim", {}), pictures["scene"], "add a red ball").reasoning == "Added the ball."


def test_it_speaks_of_noise_from_the_step_on_that_it_notices(plain: Any, run: Any) -> None:
    """Three steps of wear lie behind the input of step 4, so step 4 is the first to say so."""
    editor = make("sim", "sim", {"wear": [{"kind": "noise"}], "notices": 3})
    data, noticed = plain, []
    for seed in range(6):
        answer = run(editor, data, "replicate", seed=seed, settings=SAYS)
        data = answer.image
        noticed.append(NOTICED in answer.reasoning)
    assert noticed == [False, False, False, True, True, True]


@pytest.mark.parametrize("words", WORDS)
def test_before_that_no_word_of_noise_is_said(words: str) -> None:
    said = summary("Did it.", understand(words)).lower()
    assert not any(word in said for word in ("nois", "grain", "artefact", "artifact", "pixelat", "degrad"))
