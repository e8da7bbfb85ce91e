"""What is audited, and why some of it cannot run here."""

from __future__ import annotations

import pytest

from convergebench.conductor.audited_metrics import ABSENT, require_some, runnable, spell_out_metrics
from convergebench.errors import Prerequisite, StudyError
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.roles import make_role, roles_of
from tests.roles.server import message, serving


def test_the_whole_set_has_a_place_for_every_published_metric_and_for_ours() -> None:
    wanted = spell_out_metrics(["audit"])
    assert set(PUBLISHED) <= set(wanted)
    assert set(wanted) - set(PUBLISHED) <= {"cnniqa-live", "decay"}
    assert "cnniqa-live" in wanted


def test_what_cannot_run_is_told_with_what_it_lacks() -> None:
    able, missing = runnable(["brisque", "visualquality-r1", "rali"], roles_of({}))
    assert able == ["brisque"]
    assert missing == {"visualquality-r1": "no [roles.rater]: docs/judges.md", "rali": ABSENT}


def test_with_somebody_to_ask_a_served_metric_runs() -> None:
    with serving(lambda heard, number: message("")) as server:
        roles = {"rater": make_role("rater", server.table())}
        assert runnable(["visualquality-r1"], roles) == (["visualquality-r1"], {})


def test_a_metric_that_compares_is_refused() -> None:
    with pytest.raises(StudyError, match=r"^psnr: only metrics that rate an image without a reference"):
        spell_out_metrics(["niqe", "psnr"])
    with pytest.raises(StudyError, match="did you mean 'niqe'"):
        spell_out_metrics(["nique"])


def test_an_audit_of_nothing_says_what_could_be_audited() -> None:
    require_some(["niqe"], {"rali": ABSENT})
    with pytest.raises(Prerequisite) as caught:
        require_some([], {"rali": ABSENT})
    assert str(caught.value).startswith(f"no metric can run here: rali ({ABSENT}); these can: brisque")
    assert "\n" not in str(caught.value)
