"""Roles: those who answer questions about pictures and texts (judge, rater, reader, writer)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError

if TYPE_CHECKING:
    from convergebench.roles.base import Role
    from convergebench.roles.tables import RoleTable

__all__ = ["defaults", "make_role", "make_roles", "roles_of"]


def make_role(name: str, table: RoleTable) -> Role:
    """The role of a study file's `[roles.NAME]`."""
    if table.kind == "served":
        from convergebench.roles.served import ServedRole
        from convergebench.wire.key_names import how_to_allow, is_allowed

        if table.key and not is_allowed(table.key):
            raise StudyError(f"[roles.{name}]: {how_to_allow(table.key)}")
        return ServedRole(name, table)
    if (name == "reader") != (table.kind == "word-list"):
        other = {"reader": ' or "word-list"', "judge": ' or "measuring"'}.get(name, "")
        raise StudyError(
            f'[roles.{name}]: kind = "{table.kind}" cannot answer what a {name} is asked; write kind = "served"{other}'
        )
    if table.kind == "word-list":
        from convergebench.roles.word_list import WordListReader

        return WordListReader(table)
    from convergebench.roles.measuring import MeasuringJudge

    return MeasuringJudge(table)


def make_roles(tables: Mapping[str, RoleTable]) -> dict[str, Role]:
    """Every role that is configured; without a model the judge measures, and the reader goes by a list of words."""
    return defaults() | {name: make_role(name, table) for name, table in tables.items()}


def defaults() -> dict[str, Role]:
    """Who answers where nobody is configured."""
    from convergebench.roles.measuring import MeasuringJudge
    from convergebench.roles.word_list import WordListReader

    return {"judge": MeasuringJudge(), "reader": WordListReader()}


def roles_of(spec: Mapping[str, Any]) -> dict[str, Role]:
    """The roles of a study that the user gives; those found in a run go through `roles.trust`."""
    from convergebench.documents import check_document
    from convergebench.roles.tables import RoleTable

    tables = spec.get("roles") or {}
    return make_roles(
        {name: check_document(table, RoleTable, where=f"[roles.{name}]") for name, table in tables.items()}
    )
