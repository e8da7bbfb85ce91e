"""Roles: a model, or code of our own, that answers questions about pictures and texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError

if TYPE_CHECKING:
    from convergebench.roles.base import Role
    from convergebench.roles.tables import RoleTable

__all__ = ["ROLE_NAMES", "defaults", "make_role", "make_roles", "require_role", "roles_of"]

ROLE_NAMES = ("writer", "rewriter", "judge", "reader", "rater")
"""What a study file may configure: `writer` writes instructions, `rewriter` words them anew, `judge` compares pictures
of a chain, `reader` reads texts, `rater` rates single pictures. A study may declare others."""


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
    """Every configured role, and the default judge (metrics) and reader (a word list)."""
    return defaults() | {name: make_role(name, table) for name, table in tables.items()}


def defaults() -> dict[str, Role]:
    """The roles that need no configuration."""
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


def require_role(name: str, roles: Collection[str], who: str) -> str:
    """The name of a role that `who` asks; `StudyError` says how to configure it if it is missing."""
    if name not in roles:
        raise StudyError(
            f"{who} asks a '{name}', and none is configured; "
            f'add [roles.{name}] with kind = "served", base_url and model to the study file, or to a file for --roles'
        )
    return name
