"""A served role that stands in a received run is shown; it is asked when the user confirms it or gives it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from convergebench.conductor.auditing import WrittenAudit
from convergebench.conductor.measuring import answering_roles
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import MeasureOptions
from convergebench.report.audit.input import AuditReportInput
from convergebench.roles.trust import AvailableRoles
from convergebench.store.connection import connect
from convergebench.store.manifest import read_manifest
from tests.cli.received.parts import SECRETS, rewrite, served, typed, with_roles
from tests.cli.received.watching import watching
from tests.roles.server import MODEL, forward_reply, message, serving


@pytest.mark.parametrize("key", ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", ""])
@pytest.mark.parametrize("role", ["rater", "judge", "reader"])
def test_a_served_role_of_the_run_is_shown_and_not_asked(run: Path, role: str, key: str) -> None:
    with watching(SECRETS) as witness:
        rewrite(run, with_roles(**{role: served(witness, key=key)}))
        said = typed("measure", run)
    assert witness.nothing
    assert said.code == 2
    assert said.err.count("\n") == 1
    for word in (role, f"{witness.address}/v1", "m at", key or "without a key", "--trust-roles", "--roles FILE"):
        assert word in said.err
    assert "Nothing was sent" in said.err


def test_what_asks_nobody_is_measured_whatever_roles_the_run_names(run: Path) -> None:
    with watching(SECRETS) as witness:
        rewrite(run, with_roles(rater=served(witness), judge=served(witness), reader="no table"))
        said = typed("measure", run, "--metric", "psnr")
    assert said.code == 0, said.err
    assert witness.nothing


def test_an_audit_goes_on_without_the_stranger_and_says_so_unless_he_is_asked_for_by_name(run: Path) -> None:
    with watching(SECRETS) as witness:
        rewrite(run, with_roles(rater=served(witness)))
        whole = typed("audit", run, "--repeat", "0", "-m", "brisque", "-m", "rubric-quality")
        rewrite(run, lambda content: content.update(study="audit"))
        rewrite(run, lambda content: content["spec"].update(audit={"metrics": ["brisque", "rubric-quality"]}))
        plain = typed("audit", run, "--repeat", "0")
        by_itself = typed("audit", run, "--repeat", "0", "--no-measure", "-m", "brisque")
    assert witness.nothing
    assert whole.code == 2
    assert "--trust-roles" in whole.err
    assert by_itself.code == 0, by_itself.err
    assert plain.code == 0, plain.err
    assert f"note: the run names a rater of its own: m at {witness.address}/v1" in plain.err


def test_a_confirmed_role_is_named_and_asked_but_only_with_a_key_that_may_be_sent(run: Path) -> None:
    with watching(SECRETS) as witness:
        rewrite(run, with_roles(rater=served(witness)))
        said = typed("measure", run, "--metric", "rubric-quality", "--trust-roles")
        assert said.code == 2
        assert "export CONVERGEBENCH_KEYS=" in said.err
        assert "AWS_SECRET_ACCESS_KEY" in said.err
        assert witness.nothing
        rewrite(run, with_roles(rater=served(witness, key="OPENAI_API_KEY")))
        rewrite(run, lambda content: content.update(metrics={}))
        said = typed("measure", run, "--metric", "rubric-quality", "--trust-roles")
        assert "note: the run's own rater: m at" in said.err
        assert "with the key in OPENAI_API_KEY" in said.err
    assert any(SECRETS["OPENAI_API_KEY"].encode() in one for one in witness.connections)
    assert not any(SECRETS["AWS_SECRET_ACCESS_KEY"].encode() in one for one in witness.connections)


def test_the_users_own_role_takes_the_place_of_the_runs(run: Path, tmp_path: Path) -> None:
    with watching(SECRETS) as witness, serving(message(forward_reply())) as own:
        rewrite(run, with_roles(judge=served(witness)))
        rewrite(run, lambda content: content.update(metrics={"rmse": content["metrics"]["rmse"]}))
        (tmp_path / "roles.toml").write_text(
            f'[roles.judge]\nkind = "served"\nbase_url = "{own.base_url}"\nmodel = "{MODEL}"\n'
        )
        said = typed("measure", run, "-m", "judge-happened", "--roles", tmp_path / "roles.toml")
        assert said.code == 0, said.err
        assert own.requests
        assert witness.nothing
        again = typed("measure", run)
        assert again.code == 2, "what was given once is not remembered as confirmed"
        assert "--trust-roles" in again.err
    assert witness.nothing


def test_going_on_with_a_study_asks_only_whom_the_study_names(made: Path, run: Path) -> None:
    with watching(SECRETS) as witness:
        rewrite(run, with_roles(rater=served(witness), judge=served(witness)))
        said = typed("run", made / "study.toml", "--run", run, "--rounds", "2", "--no-report")
    assert said.code == 0, said.err
    assert witness.nothing
    assert f"needs a role that this study does not define; to measure it: cbench measure {run} --roles" in said.err
    with closing(connect(run / "run.sqlite", read_only=True)) as records:
        judged = records.execute("select distinct detail from measurements where metric = 'judge-happened'").fetchall()
    assert judged == [("measuring judge",)], "the study's own judge, who is nobody else than before"


def test_the_audit_at_the_end_of_a_run_asks_the_rater_of_the_study(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[AvailableRoles] = []

    def audit(runs: list[Path], measuring: MeasureOptions, observer: Observer) -> WrittenAudit:
        asked.append(answering_roles(read_manifest(runs[0] / "manifest.json"), measuring))
        return WrittenAudit(runs[0], runs[0], cast("AuditReportInput", None), None)

    # both write pages, which takes seconds and is tested elsewhere
    monkeypatch.setattr("convergebench.conductor.auditing.audit", audit)
    written = SimpleNamespace(given=None, page=tmp_path)
    monkeypatch.setattr("convergebench.conductor.reporting.report", lambda run, **_: written)
    with watching(SECRETS) as witness:
        (tmp_path / "audit.toml").write_text(
            f"""
            study = "audit"
            editors = ["sim-tint"]
            images = {{ suite = "{made / "pictures"}" }}
            audit = {{ steps = 2, runs = 1, metrics = ["brisque"], grid = [{{ variants = ["replicate"] }}] }}
            measure = {{ metrics = ["rmse", "ssim"] }}
            analysis = {{ quality = ["ssim"] }}
            roles = {{ rater = {{ kind = "served", base_url = "{witness.address}/v1", model = "{MODEL}" }} }}
            """
        )
        said = typed("run", tmp_path / "audit.toml", "--run", tmp_path / "audited")
    assert said.code == 0, said.err
    (who,) = asked
    assert "rater" in who.roles
    assert not who.refused
    assert not who.confirmed
