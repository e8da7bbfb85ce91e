"""The studio editors by name."""

from __future__ import annotations

from convergebench.editors.studio.editor import StudioEditor


def sim_studio(name: str, **options: object) -> StudioEditor:
    """`sim-studio`: most edit types of a factory, by classical image processing; refuses what it cannot do."""
    return StudioEditor(name, "sim-studio", options, faults=0.0)


def sim_studio_clumsy(name: str, **options: object) -> StudioEditor:
    """`sim-studio-clumsy`: `sim-studio` with known faults in a share of calls (`faults`), for testing judges."""
    return StudioEditor(name, "sim-studio-clumsy", options, faults=0.35)
