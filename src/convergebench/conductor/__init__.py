"""The conductor: every command of the package as a function; a terminal, a notebook or a server calls the same ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.conductor.auditing import audit
    from convergebench.conductor.editing import run_chains
    from convergebench.conductor.examining import examine
    from convergebench.conductor.exporting import export
    from convergebench.conductor.importing import import_chains
    from convergebench.conductor.measuring import measure
    from convergebench.conductor.observer import Observer
    from convergebench.conductor.reporting import report
    from convergebench.conductor.running import plan, run

__all__ = [
    "Observer",
    "audit",
    "examine",
    "export",
    "import_chains",
    "measure",
    "plan",
    "report",
    "run",
    "run_chains",
]

_MODULES = {
    "Observer": "observer",
    "audit": "auditing",
    "examine": "examining",
    "export": "exporting",
    "import_chains": "importing",
    "measure": "measuring",
    "plan": "running",
    "report": "reporting",
    "run": "running",
    "run_chains": "editing",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
