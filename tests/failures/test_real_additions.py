"""What the rules for things say of published chains by a real editor: every forward step adds one thing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from convergebench.failures.aspect_ratio import aspect_ratio
from convergebench.failures.base import ChainView, StepView
from convergebench.failures.counting import counting
from convergebench.images.decode import decode
from convergebench.images.frame import Frame

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "flux-kontext-dev-roundtrips"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REAL.is_dir(), reason="the published chains are not beside the repository"),
]
NAMES = sorted(folder.name for folder in REAL.iterdir() if folder.is_dir()) if REAL.is_dir() else []


def chain(name: str) -> ChainView:
    steps = [StepView(0, loader(name, "I0_source"))]
    for index in range(1, 7):
        way = "forward" if index % 2 else "backward"
        load = loader(name, f"I{(index + 1) // 2}_{way}")
        asked = "add" if index % 2 else "remove"
        steps.append(StepView(index, load, way, asked, compared="around", parent=index - 1))  # type: ignore[arg-type]
    return ChainView("flux-kontext-dev", name, name, "roundtrip", "roundtrip", steps)


def loader(name: str, file: str) -> Callable[[], Frame]:
    return lambda: decode((REAL / name / f"{file}.png").read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_each_addition_is_seen_as_one_thing(name: str) -> None:
    found = counting(chain(name))
    assert found.findings == ()
    assert set(found.probes["things"].values()) == {1.0}
    assert min(found.probes["change"].values()) > 4


def test_the_camera_moves_back_in_one_room_only() -> None:
    """Looked at: from the second round on the first room's sofa is smaller and more floor shows."""
    moved = {name[:8] for name in NAMES if aspect_ratio(chain(name)).findings}
    assert moved == {"scene_01"}
