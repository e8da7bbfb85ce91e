"""Roles: a model, or code of our own, that answers questions about pictures and texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError

if TYPE_CHECKING:
    from convergebench.roles.base import Role
    from convergebench.roles.tables import RoleTable

__all__ = ["ROLE_NAMES", "defaults", "make_role", "make_roles", "require_role", "roles_of"]

ROLE_NAMES = ("writer", "rewriter", "judge", "reader", "rater", "detector", "inspector")
"""What a study file may configure: `writer` writes instructions, `rewriter` words them anew, `judge` compares pictures
of a chain, `reader` reads texts, `rater` rates single pictures, `detector` says what a picture shows, `inspector` looks
for damage. A study may declare others."""


def make_role(name: str, table: RoleTable) -> Role:
    """The role of a study file's `[roles.NAME]`."""
    if table.kind == "served":
        from convergebench.roles.served import ServedRole
        from convergebench.wire.key_names import how_to_allow, is_allowed

        if table.key and not is_allowed(table.key):
            raise StudyError(f"[roles.{name}]: {how_to_allow(table.key)}")
        return ServedRole(name, table)
    # a role that a study declares under a name of its own may be played by the measuring judge
    of_our_own = _OF_OUR_OWN.get(name, {} if name in ROLE_NAMES else _OF_OUR_OWN["judge"])
    if table.kind not in of_our_own:
        others = "".join(f' or "{kind}"' for kind in of_our_own)
        raise StudyError(
            f'[roles.{name}]: kind = "{table.kind}" cannot answer what a {name} is asked; use kind = "served"{others}'
        )
    return _role_class(of_our_own[table.kind])(table)


_OF_OUR_OWN: Mapping[str, Mapping[str, str]] = {
    "writer": {"template": "convergebench.roles.template_writer:TemplateWriter"},
    "rewriter": {"rules": "convergebench.roles.rule_rewriter:RuleRewriter"},
    "judge": {"measuring": "convergebench.roles.measuring:MeasuringJudge"},
    "reader": {"word-list": "convergebench.roles.word_list:WordListReader"},
    "detector": {"measuring": "convergebench.roles.content_detector:MeasuringDetector"},
    "inspector": {"measuring": "convergebench.roles.quality_inspector:MeasuringInspector"},
}
"""Role → kind → the class that plays it without a server; imported when it is made."""


def _role_class(path: str) -> Callable[[RoleTable | None], Role]:
    module, _, name = path.partition(":")
    made: Callable[[RoleTable | None], Role] = getattr(import_module(module), name)
    return made


_ASKED_BY_METRICS = ("judge", "reader")


def make_roles(tables: Mapping[str, RoleTable], asked: Collection[str] = ()) -> dict[str, Role]:
    """Every configured role; the default judge and reader, and those of `asked` that need no configuration."""
    return defaults(asked) | {name: make_role(name, table) for name, table in tables.items()}


def defaults(asked: Collection[str] = ()) -> dict[str, Role]:
    """The judge and the reader that need no configuration, and others of `asked`: each is code of our own.

    The others look for weights when they are made, so they are made only where somebody asks them.
    """
    wanted = {*_ASKED_BY_METRICS, *asked}
    return {
        name: _role_class(path)(None)
        for name, kinds in _OF_OUR_OWN.items()
        for path in kinds.values()
        if name in wanted
    }


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
            f"{who} asks a '{name}', but none is configured; "
            f'add [roles.{name}] with kind = "served", base_url and model to the study file, or to a file for --roles'
        )
    return name
