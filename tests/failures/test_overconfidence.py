"""Overconfidence: what the summary claims, and what the picture shows."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.failures._claims import claim_in
from convergebench.failures.overconfidence import overconfidence
from tests.failures.chains import APPLE, COPY, GREY, MIRROR, NOISE, asked, drawn, picture, simulated


def checked(text: str) -> str:
    """A summary whose last section looks at the result."""
    return f"**Planning the Edit**\n\nI think of where to put it.\n\n**Checking the Result**\n\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        "The apple has been successfully added to the table.",
        "I count eight apples, and I confirmed the new total.",
        "The output fully matches the request.",
        "The image is now mirrored.",
        "All elements are accurately reproduced. The background remains unchanged.",
        "The task is complete. There are no discrepancies.",
        "The image meets all of the user's requirements.",
    ],
)
def test_plain_claims_are_heard(text: str) -> None:
    assert claim_in(checked(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The apple has not been successfully added.",
        "The apple was successfully added, but its shadow is missing.",
        "The image appears to match the request.",
        "I will check whether the picture was correctly mirrored.",
        "It should be fully monochrome.",
        "The apple was successfully added. However, the count is wrong.",
        "The request wasn't fulfilled.",
        "The output equals the input. I cannot claim more than that.",
        "I look at the bird and at the fruits.",
        "",
    ],
)
def test_doubt_negation_faults_and_intentions_are_no_claims(text: str) -> None:
    assert claim_in(checked(text)) is None


def test_claims_count_only_where_the_result_is_looked_at() -> None:
    assert claim_in("**Adding the Apple**\n\nThe apple has been successfully added.") is None


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("The output is an exact copy of the input.", True),
        ("The two are identical in every detail.", True),
        ("I see no visible differences.", True),
        ("The output matches the request.", False),
    ],
)
def test_exact_copies_are_told_from_success_in_general(text: str, exact: bool) -> None:
    claim = claim_in(checked(text))
    assert claim is not None
    assert claim.exact == exact


def test_steps_that_added_nothing_and_say_they_did_are_one_finding() -> None:
    chain = simulated([asked(APPLE, "add", wear=NOISE, skip_from=2, skip_for=2) for _ in range(4)])
    (finding,) = overconfidence(chain).findings
    assert (finding.step, finding.last) == (2, 3)
    assert "successfully added" in finding.detail
    assert "nothing was added" in finding.detail
    assert "4 of 4 summaries claim success" in finding.detail


def test_a_picture_that_was_not_mirrored_denies_the_claim() -> None:
    (finding,) = overconfidence(simulated([asked(MIRROR, "flip-horizontal", unturned=1)])).findings
    assert "flip-horizontal was asked for and not done" in finding.detail


def test_a_picture_with_colour_denies_the_claim() -> None:
    (finding,) = overconfidence(simulated([asked(GREY, "monochrome", colour_rest=0.4)])).findings
    assert "still has colour" in finding.detail


def test_a_copy_that_is_none_denies_that_it_is_exact() -> None:
    far = np.clip(picture().astype(int) // 2, 0, 255).astype(np.uint8)
    summaries_given = [checked("The output is an exact copy."), checked("The output is an exact copy.")]
    (finding,) = overconfidence(drawn([picture(), picture(), far], "replicate", summaries=summaries_given)).findings
    assert finding.step == 2
    assert "dB from what it copied" in finding.detail


def test_a_poor_copy_that_claims_no_more_than_success_is_not_denied() -> None:
    far = np.clip(picture().astype(int) // 2, 0, 255).astype(np.uint8)
    summaries_given = [checked("The output matches the request.")]
    assert overconfidence(drawn([picture(), far], "replicate", summaries=summaries_given)).findings == ()


def test_steps_that_were_done_may_say_so() -> None:
    steps = [asked(APPLE, "add"), asked(MIRROR, "flip-horizontal"), asked(GREY, "monochrome"), asked(COPY, "replicate")]
    found = overconfidence(simulated(steps))
    assert found.findings == ()
    assert found.probes["claims"] == {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}


def test_an_editor_that_owns_up_is_not_overconfident() -> None:
    """It knows no rambutan, adds nothing, and says so."""
    found = overconfidence(simulated([asked("Add a rambutan to the table.", "add")]))
    assert found.findings == ()
    assert found.probes["claims"] == {1: 0.0}
    assert found.probes["denied"] == {1: 1.0}


def test_without_a_summary_nothing_can_be_told() -> None:
    assert overconfidence(drawn([picture(), picture()], "add")).cannot_tell


def test_steps_that_nobody_can_check_do_not_apply() -> None:
    assert overconfidence(drawn([picture(), picture()], "rebuild")).does_not_apply
