"""Which roles may be used: those that the user gives, and those found in a run, which may come from someone else.

A served role determines where pictures are sent, with which key, and which rubric files are read. One that is found in
a run is used only if the user gives the same role or confirms it; until then it is only displayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError
from convergebench.roles import defaults, make_role
from convergebench.roles.clients.apis import with_address
from convergebench.texts import short_line

if TYPE_CHECKING:
    from convergebench.roles.base import Role
    from convergebench.roles.tables import RoleTable

FLAG = "--trust-roles"
WITHOUT_SERVER = ("measuring", "word-list", "template", "rules")
"""Kinds implemented in this package: they send nothing and read no key."""


@dataclass(frozen=True)
class AvailableRoles:
    """The roles that can answer questions about a run."""

    roles: Mapping[str, Role]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Unconfirmed role of the run → an error message that describes it."""
    confirmed: Mapping[str, str] = field(default_factory=dict)
    """Served role of the run that the user confirmed → its description."""

    def require(self, asked: Iterable[str]) -> None:
        """`StudyError` if one of these roles is not confirmed by the user."""
        for name in asked:
            if name in self.refused:
                raise StudyError(self.refused[name])


def available_roles(found: object, given: Mapping[str, Any], *, trusted: bool) -> AvailableRoles:
    """The roles of a run (`found`, as its manifest has them) with those that the user gives in their place."""
    tables = found if isinstance(found, Mapping) else {}
    roles = {name: make_role(name, _checked(name, table)) for name, table in given.items()}
    refused: dict[str, str] = {}
    confirmed: dict[str, str] = {}
    for name, table in tables.items():
        if name in roles:
            continue
        harmless = is_harmless(table)
        if not (harmless or trusted or _same_server(table, given.values())):
            refused[name] = (
                f"the run names a {short_line(name)} of its own: {describe_role(table)}. Nothing was sent; if you "
                f"trust it, add {FLAG}, or name your own: --roles FILE"
            )
            continue
        try:
            roles[name] = make_role(short_line(name), _checked(name, table))
        except StudyError as error:  # an error only if this role is asked
            refused[name] = f"the run's {error}"
            continue
        if not harmless:
            confirmed[name] = f"{short_line(name)}: {describe_role(table)}"
    for name, role in defaults().items():
        if name not in refused:  # a role that is not confirmed is not silently replaced by the default
            roles.setdefault(name, role)
    return AvailableRoles(roles, refused, confirmed)


def is_harmless(table: object) -> bool:
    """Whether a role found in a run can do no harm: it has no server and brings no file."""
    if not isinstance(table, Mapping):
        return False
    return table.get("kind", "measuring") in WITHOUT_SERVER and not table.get("rubrics")


def describe_role(table: object) -> str:
    """Server, model, name of the key's variable and files of a role, in one line."""
    if not isinstance(table, Mapping):
        return f"a {type(table).__name__} instead of a table"
    table = with_address(table)  # where pictures and the key would go, even if the run does not spell it out
    rubrics = table.get("rubrics")
    files = ", ".join(map(short_line, rubrics.values())) if isinstance(rubrics, Mapping) else ""
    model, server = table.get("model") or "a model without a name", table.get("base_url") or "nowhere"
    parts = [
        f"{short_line(model)} at {short_line(server)}",
        f"with the key in {short_line(table['key'])}" if table.get("key") else "without a key",
        f"with the rubrics {files}" if files else "",
    ]
    return ", ".join(part for part in parts if part)


def _same_server(table: object, given: Iterable[Any]) -> bool:
    """Whether the user gives a role with the same server, protocol, model, key and rubrics under another name."""
    parts = ("kind", "base_url", "model", "key", "rubrics")

    def identity(one: Mapping[str, Any]) -> list[Any]:
        one = with_address(one)
        return [one.get("api") or "openai", *(one.get(part) or None for part in parts)]

    return isinstance(table, Mapping) and any(identity(one) == identity(table) for one in given)


def _checked(name: str, table: object) -> RoleTable:
    from convergebench.documents import check_document
    from convergebench.roles.tables import RoleTable

    if not isinstance(table, Mapping):
        raise StudyError(f"[roles.{short_line(name)}] is not a table; write one, or give it with --roles FILE")
    return check_document(table, RoleTable, where=f"[roles.{short_line(name)}]")
