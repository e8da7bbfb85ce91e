"""A checked study, ready to run: chains, editors, metrics and roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convergebench.engine.plan import Chain
from convergebench.metrics import load_metric
from convergebench.roles import defaults
from convergebench.roles.base import Role
from convergebench.types import Editor, Resources, SourceImage


@dataclass(frozen=True)
class Prepared:
    """Everything that a run resources."""

    study: str
    sources: tuple[SourceImage, ...]
    edits: Mapping[str, Mapping[str, Any]]
    """Label → the words behind it."""
    editors: Mapping[str, Editor]
    chains: tuple[Chain, ...]
    metrics: tuple[str, ...]
    spec: Mapping[str, Any]
    fixed: Mapping[str, Any]
    options: Mapping[str, Mapping[str, Any]]
    """Per editor: its registered name and options."""
    resources: Mapping[str, Resources] = field(default_factory=dict)
    """Per editor: what the study says a copy of it needs of a machine."""
    recordings: Mapping[str, str] = field(default_factory=dict)
    """Per imported chain: the hash of its content."""
    left_out: tuple[str, ...] = ()
    """Pictures, and chains that an editor or a picture does not suit, that the run does without, with the reason."""
    roles: Mapping[str, Role] = field(default_factory=defaults)
    """Who answers questions."""

    @property
    def study_roles(self) -> tuple[str, ...]:
        """The roles that the study asks while it edits; others are asked by metrics."""
        return tuple(dict.fromkeys(name for chain in self.chains for name in chain.roles))

    @property
    def asked_roles(self) -> tuple[str, ...]:
        """Roles that the study or its metrics ask, if they are configured."""
        asked = {*self.study_roles, *(load_metric(name).facts.asks for name in self.metrics)}
        return tuple(name for name in self.roles if name in asked)

    @property
    def precision(self) -> str:
        """Of networks that measure."""
        return str(self.spec.get("measure", {}).get("precision", "float32"))
