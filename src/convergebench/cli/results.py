"""Results of a run for continuous integration: JUnit's XML and JSON, one case per editor and check."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.conductor.gating import Check

NOT_PASSED = 4
"""Exit code where a check failed."""


def require_place(path: Path | None, flag: str) -> None:
    """Refuse a file that could not be written, before anything is paid."""
    from os import W_OK, access

    from convergebench.errors import StudyError

    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir() or not access(path.absolute().parent, W_OK):
        raise StudyError(f"{flag} {path} cannot be written: name a file in a folder that is there and may be written")


def results_json(run: Path, study: str, checks: Sequence[Check], *, code: int, stopped: str | None) -> dict[str, Any]:
    """Everything that the checks found."""
    return {
        "run": str(run),
        "study": study,
        "passed": code == 0,
        "exit_code": code,
        "stopped": stopped,
        "checks": [
            {
                "editor": one.editor,
                "check": one.name,
                "outcome": one.outcome,
                "message": one.message,
                "numbers": {key: _number(value) for key, value in one.numbers.items()},
            }
            for one in checks
        ],
    }


def _number(value: object) -> object:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def results_junit(run: Path, study: str, checks: Sequence[Check], *, stopped: str | None) -> str:
    """One test case per editor and check; a run that ended before its time is a case of its own, with an error."""
    from xml.etree import ElementTree

    from convergebench.texts import plain_line

    outcomes = [one.outcome for one in checks]
    counts = {
        "tests": len(checks) + (stopped is not None),
        "failures": outcomes.count("failed"),
        "errors": int(stopped is not None),
        "skipped": outcomes.count("skipped"),
    }
    suite = ElementTree.Element("testsuite", {"name": plain_line(f"cbench {study} {run}")})
    suite.attrib |= {key: str(value) for key, value in counts.items()}
    group = plain_line(f"{study}.{run.name}")
    if stopped is not None:
        case = ElementTree.SubElement(suite, "testcase", {"classname": group, "name": "run"})
        ElementTree.SubElement(case, "error", {"message": plain_line(stopped)})
    for one in checks:
        name = plain_line(f"{one.editor}: {one.name}")
        case = ElementTree.SubElement(suite, "testcase", {"classname": group, "name": name})
        if one.outcome != "passed":
            kind = "skipped" if one.outcome == "skipped" else "failure"
            ElementTree.SubElement(case, kind, {"message": plain_line(one.message)})
        said = ElementTree.SubElement(case, "system-out")
        numbers = "\n".join(f"{key} = {_number(value)}" for key, value in one.numbers.items() if value is not None)
        said.text = "\n".join(plain_line(line) for line in (one.message, *numbers.splitlines()))
    whole = ElementTree.Element("testsuites", {"name": "cbench"})
    whole.append(suite)
    ElementTree.indent(whole)
    text: str = ElementTree.tostring(whole, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'
