"""The audit of dependencies, against a server that answers as osv.dev does."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.providers.loopback import Answer, Loopback, Request, serving
from tests.security.audit import ACCEPTED, Accepted, Vulnerability, judge, main, read_accepted

TODAY = datetime.date(2026, 6, 1)
KNOWN = {
    "id": "GHSA-aaaa-bbbb-cccc",
    "aliases": ["CVE-2026-0001"],
    "summary": "a demonstration",
    "affected": [
        {
            "package": {"name": "demo", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
        }
    ],
}


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    def answer(asked: Request, server: Loopback) -> Answer:
        hit = asked.json["package"]["name"] == "demo" and asked.json["version"] == "1.0"
        return Answer(body={"vulns": [KNOWN]} if hit else {})

    with serving(answer) as server:
        yield f"{server.address}/v1/query"


@pytest.fixture
def pinned(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text("demo==1.0\nother==2.0\n")
    return path


def accepting(folder: Path, until: str, package: str = "demo", id: str = "CVE-2026-0001") -> Path:
    path = folder / "accepted.toml"
    reason = "The function is not called anywhere in this package."
    path.write_text(f'[[accepted]]\nid = "{id}"\npackage = "{package}"\nreason = "{reason}"\nuntil = "{until}"\n')
    return path


def test_a_known_vulnerability_fails_and_an_accepted_one_does_not(
    service: str, pinned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--service", service, "--requirements", str(pinned)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "demo 1.0 has CVE-2026-0001: upgrade to 1.1" in said
    assert "other" not in said
    assert main([*words, "--accepted", str(accepting(tmp_path, "2999-01-01"))]) == 0
    assert "accepted until 2999-01-01" in capsys.readouterr().out
    assert main([*words, "--accepted", str(accepting(tmp_path, "2020-01-01"))]) == 1
    assert "which is over" in capsys.readouterr().out


@pytest.mark.parametrize("answer", [Answer(500), Answer(200, b"<html>"), Answer(302), Answer(200, [1])])
def test_a_service_that_cannot_be_asked_is_one_line_and_no_failure(
    answer: Answer, pinned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked, server: answer) as server:
        assert main(["--service", f"{server.address}/v1/query", "--requirements", str(pinned)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("dependency audit skipped:")
    assert said.count("\n") == 1


def test_a_service_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--service", "http://127.0.0.1:9/v1/query"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_entries_that_are_of_no_use_are_named_and_other_packages_are_not_covered() -> None:
    one = Vulnerability("demo", "1.0", frozenset({"GHSA-1", "CVE-1"}), ())
    entry = Accepted(id="CVE-1", package="other", reason="a reason that is long enough", until="2026-07-01")
    failing, noted = judge([one], {("other", "CVE-1"): entry}, TODAY)
    assert len(failing) == 1
    assert "no version mends it yet" in failing[0]
    assert noted == ["CVE-1 of other is accepted but was not found: remove its entry"]
    assert judge([one], {("demo", "CVE-1"): entry}, TODAY)[0] == []


@pytest.mark.parametrize("until", ["soon", "2026-13-01", ""])
def test_a_list_with_a_wrong_date_is_refused(until: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--accepted", str(accepting(tmp_path, until))]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_list_can_be_read() -> None:
    read_accepted(ACCEPTED)
