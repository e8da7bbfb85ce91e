"""Which no-reference metrics an audit looks at, and which of them cannot run here, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.metrics import SETS, expand, load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.readiness import lacks
from convergebench.registry import names
from convergebench.roles.base import Role
from convergebench.store.rubrics import FACTS, is_file

WHOLE = "audit"
"""The set of every metric that is audited."""
PLUGIN = "rali"
"""Published as code that this package does not have; a plug-in of this name takes its place."""
ABSENT = "comes as a plug-in: docs/iqa.md"


def spell_out_metrics(asked: Iterable[str]) -> list[str]:
    """Names with sets spelt out; the whole set has RALI's place too. Whatever needs a reference is refused."""
    found: dict[str, None] = {}
    for name in asked:
        found.update(dict.fromkeys([name] if name == PLUGIN else expand([name])))
        if name == WHOLE:
            found[PLUGIN] = None
    _require_no_reference(list(found))
    return list(found)


def _require_no_reference(chosen: Sequence[str]) -> None:
    known = set(names("metrics"))
    others = []
    for name in chosen:
        try:
            if (name in known or is_file(name)) and load_metric(name).facts.kind != "no-reference":
                others.append(name)
        except Prerequisite:  # a plug-in that cannot be loaded is listed among those that cannot run
            continue
    if others:
        raise StudyError(
            f"{', '.join(others)}: only metrics that rate an image without a reference can be audited; leave it out, "
            f"or name others, e.g. --metric {WHOLE} (cbench list metrics)"
        )


NOBODY: Mapping[str, str] = MappingProxyType({})


def runnable(
    chosen: Sequence[str], roles: Mapping[str, Role], refused: Mapping[str, str] = NOBODY
) -> tuple[list[str], dict[str, str]]:
    """Those that can run here, and the others with what each lacks.

    `roles` are those who answer questions; `refused` those that may not be asked, each with the reason.
    """
    able: list[str] = []
    missing: dict[str, str] = {}
    for name in chosen:
        reason = _reason(name, roles, refused)
        if reason:
            missing[name] = reason
        else:
            able.append(name)
    return able, missing


def _reason(name: str, roles: Mapping[str, Role], refused: Mapping[str, str]) -> str:
    if name == PLUGIN and name not in names("metrics"):
        return ABSENT
    if name.endswith(FACTS):
        return "a user's own function; name it: --metric FILE.py:NAME"
    try:
        facts = load_metric(name).facts
        if facts.asks in refused:
            return refused[facts.asks]
        if facts.asks and facts.asks not in roles:
            return f"no [roles.{facts.asks}]: docs/judges.md"
        if facts.asks:
            roles[facts.asks].ready()
    except ConvergeBenchError as error:
        return str(error)
    return "; ".join(lacks(facts))


def require_some(able: Sequence[str], missing: Mapping[str, str]) -> None:
    """An audit of nothing is none; one line says what the first of them lack."""
    if able:
        return
    lines = [f"{name} ({reason})" for name, reason in missing.items()]
    more = f", and {len(lines) - 2} more" if len(lines) > 2 else ""
    others = [name for name in SETS[WHOLE] if name not in missing and not _asks_or_lacks(load_metric(name).facts)]
    instead = f"; these can: {', '.join(others)}" if others else ""
    raise Prerequisite(f"no metric can run here: {', '.join(lines[:2])}{more}{instead}")


def _asks_or_lacks(facts: MetricFacts) -> bool:
    return bool(facts.asks or lacks(facts))
