"""Known vulnerabilities of the installed packages: `python -m tests.security.audit`, part of `make check`.

The packages are looked up at osv.dev by pip-audit. A service that cannot be reached is one line and no failure; a
vulnerability fails unless `accepted_vulnerabilities.toml` lists it with a reason and a day that is not over.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import httpx
from pydantic import Field

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError

SERVICE = "https://api.osv.dev/v1/query"
ACCEPTED = Path(__file__).with_name("accepted_vulnerabilities.toml")
SECONDS = 10.0
"""Seconds for the first answer of the service."""
LONGEST = 900.0
"""Seconds for the whole audit."""


class Accepted(Strict):
    """One `[[accepted]]` table."""

    id: Annotated[str, Field(min_length=5)]
    package: Annotated[str, Field(min_length=1)]
    reason: Annotated[str, Field(min_length=20)]
    until: str


class AcceptedFile(Strict):
    """The whole file."""

    accepted: tuple[Accepted, ...] = ()


class Vulnerability(NamedTuple):
    """One finding."""

    package: str
    version: str
    ids: frozenset[str]
    fixed: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its best known id."""
        return min(self.ids, key=lambda one: (not one.startswith(("CVE", "GHSA")), one))

    def line(self) -> str:
        """What to read and what to do."""
        cure = f"upgrade to {self.fixed[-1]}" if self.fixed else "no version mends it yet"
        return f"{self.package} {self.version} has {self.name}: {cure}"


class Unreachable(Exception):
    """The service gives no answer."""


def read_accepted(path: Path) -> dict[tuple[str, str], Accepted]:
    """(package, id) → entry; `StudyError` if the file or a date is wrong."""
    found = {}
    for one in read_document(path, AcceptedFile).accepted:
        try:
            datetime.date.fromisoformat(one.until)
        except ValueError as error:
            raise StudyError(f'{path}: {one.id}: until = "{one.until}" is not a day such as "2027-01-31"') from error
        found[one.package.lower(), one.id] = one
    return found


def require_reachable(service: str) -> None:
    """`Unreachable` unless the service answers a question with JSON."""
    asked = {"package": {"name": "pip", "ecosystem": "PyPI"}, "version": "0.0.1"}
    try:
        reply = httpx.post(service, json=asked, timeout=SECONDS)
        if reply.status_code != 200 or not isinstance(reply.json(), dict):
            raise Unreachable(f"it answers {reply.status_code}")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Unreachable(type(error).__name__) from error


def vulnerabilities(service: str, requirements: Path | None = None) -> list[Vulnerability]:
    """What the service knows of the installed packages, or of the pinned ones of a file."""
    which = ["--skip-editable"] if requirements is None else ["-r", str(requirements), "--no-deps", "--disable-pip"]
    with tempfile.TemporaryDirectory() as cache:
        words = ["-s", "osv", "--osv-url", service, "-f", "json", "--progress-spinner", "off", "--cache-dir", cache]
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", *words, *which],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    try:
        listed = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError) as error:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise Unreachable(f"pip-audit ended with {done.returncode}: {lines[-1][:200]}") from error
    return [
        Vulnerability(
            one["name"], one["version"], frozenset([found["id"], *found["aliases"]]), tuple(found["fix_versions"])
        )
        for one in listed
        for found in one.get("vulns", ())
    ]


def judge(
    found: Sequence[Vulnerability], accepted: dict[tuple[str, str], Accepted], today: datetime.date
) -> tuple[list[str], list[str]]:
    """(lines that fail, lines that only inform)."""
    failing, noted, used = [], [], set()
    for one in found:
        keys = [(one.package.lower(), identity) for identity in one.ids if (one.package.lower(), identity) in accepted]
        used |= set(keys)
        if not keys:
            failing.append(f"{one.line()}, or list it with a reason in {ACCEPTED.name}")
        elif accepted[keys[0]].until < today.isoformat():
            failing.append(f"{one.line()} (accepted until {accepted[keys[0]].until}, which is over)")
        else:
            noted.append(f"{one.package} {one.version} has {one.name}, accepted until {accepted[keys[0]].until}")
    noted += [
        f"{key[1]} of {key[0]} is accepted but was not found: remove its entry" for key in accepted if key not in used
    ]
    return failing, noted


def main(words: list[str] | None = None) -> int:
    """Run the audit; 1 if something fails, 2 for a wrong list."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.audit", description=__doc__)
    parser.add_argument("--service", default=SERVICE)
    parser.add_argument("--accepted", type=Path, default=ACCEPTED)
    parser.add_argument("--requirements", type=Path, help="a file of pinned packages instead of the installed ones")
    given = parser.parse_args(words)
    try:
        accepted = read_accepted(given.accepted)
        require_reachable(given.service)
        found = vulnerabilities(given.service, given.requirements)
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (Unreachable, subprocess.TimeoutExpired) as error:
        print(f"dependency audit skipped: {given.service} cannot be asked ({error})")
        return 0
    failing, noted = judge(found, accepted, datetime.date.today())
    for line in (*noted, *failing):
        print(line)
    print(f"dependency audit: {len(found)} known vulnerabilities, {len(failing)} not accepted")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
