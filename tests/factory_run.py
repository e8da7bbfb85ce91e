"""A finished factory run with scripted roles and an instant editor: what reports and exports are tested on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.factory_world import InstantEditor, ScriptedRole, chance, sources
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import RunOutcome, plan, run
from convergebench.roles.base import Role
from convergebench.studies.spec import parse_spec

__all__ = ["InstantEditor", "ScriptedRole", "chance", "factory_run", "sources"]

ROLES = ("detector", "writer", "rewriter", "judge", "inspector")


def factory_run(
    root: Path,
    *,
    count: int = 8,
    editor: InstantEditor | None = None,
    roles: Mapping[str, Role] | None = None,
    metrics: tuple[str, ...] = ("psnr", "ssim"),
    report: bool = False,
    **parameters: Any,
) -> RunOutcome:
    """Run the study `factory` over `count` pictures into `root`; the same call goes on where it was stopped."""
    spec = parse_spec(
        {
            "study": "factory",
            "editors": [{"name": "instant", "use": "sim-identity"}],
            "factory": {"per_image": 4, **parameters},
            "measure": {"metrics": list(metrics)},
        }
    )
    given = {name: ScriptedRole(name) for name in ROLES} | dict(roles or {})
    planned = plan(spec, root, editors={"instant": editor or InstantEditor()}, sources=sources(count), roles=given)
    return run(planned, RunOptions(report=report, workers=1))
