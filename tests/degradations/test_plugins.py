"""Degradations of others: found by entry point, checked, and answered in one line when they are broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from convergebench import registry
from convergebench.degradations import load_degradation
from convergebench.degradations.base import degradation
from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from tests.cli.in_process import cbench
from tests.degradations.scenes import scene

CODE = """
import numpy as np
from convergebench.degradations.base import degradation

@degradation("dim", title="Dim", family="Mine", version=3)
def dim(pixels, draw, severity):
    \"\"\"Half of the light is gone.

    More to say.
    \"\"\"
    return (pixels * (1 - 0.5 * min(severity, 1))).astype(np.uint8)

@degradation("other-name", title="Other", family="Mine")
def misnamed(pixels, draw, severity):
    return pixels

@degradation("wrong-size", title="Wrong", family="Mine")
def wrong_size(pixels, draw, severity):
    return pixels[:-1]

@degradation("floats", title="Floats", family="Mine")
def floats(pixels, draw, severity):
    return pixels * 0.5

@degradation("nothing", title="Nothing", family="Mine")
def nothing(pixels, draw, severity):
    return None

@degradation("raises", title="Raises", family="Mine")
def raises(pixels, draw, severity):
    raise RuntimeError("out of\\nfilm")

def plain(pixels):
    return pixels
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install the module above with these entry points (name = target)."""

    def write(**points: str) -> None:
        (tmp_path / "my_damage.py").write_text(CODE)
        info = tmp_path / "my_damage-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-damage\nVersion: 1.0\n")
        lines = [f"{name.replace('_', '-')} = {target}" for name, target in points.items()]
        (info / "entry_points.txt").write_text("[convergebench.degradations]\n" + "\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        registry._plugins.cache_clear()

    yield write
    sys.modules.pop("my_damage", None)
    monkeypatch.undo()
    registry._plugins.cache_clear()


def test_a_plug_in_works_like_a_built_in(install: Install) -> None:
    install(dim="my_damage:dim")
    spoil = load_degradation("dim")
    assert (spoil.title, spoil.version, spoil.summary) == ("Dim", 3, "Half of the light is gone.")
    assert np.array_equal(spoil(scene(8, 8), seed=0), scene(8, 8) // 2)
    assert registry.names("degradations")[-1] == "dim"
    rows = json.loads(cbench("list", "degradations", "--json").out)
    assert rows[-1] == {
        "degradation": "dim",
        "family": "Mine",
        "what it does": "Half of the light is gone.",
        "lacks": "",
    }


@pytest.mark.parametrize(
    ("points", "error"),
    [
        ({"gone": "no_such_module:x"}, "degradation 'gone' cannot be loaded: No module named 'no_such_module'"),
        ({"gone": "my_damage:no_such_name"}, "degradation 'gone' cannot be loaded: AttributeError"),
        (
            {"plain": "my_damage:plain"},
            "degradation 'plain' is a plug-in that returned function instead of a Degradation",
        ),
        ({"mine": "my_damage:misnamed"}, "the degradation 'mine' calls itself 'other-name'"),
    ],
)
def test_a_broken_plug_in_is_one_line(install: Install, points: dict[str, str], error: str) -> None:
    install(**points)
    with pytest.raises((StudyError, Prerequisite)) as caught:
        load_degradation(next(iter(points)))
    assert str(caught.value).startswith(error)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("wrong-size", "returned uint8 of shape (7, 8, 3) instead of uint8 of shape (8, 8, 3)"),
        ("floats", "returned float64 of shape (8, 8, 3) instead of uint8"),
        ("nothing", "returned NoneType instead of uint8"),
        ("raises", "failed: RuntimeError: out of film"),
    ],
)
def test_what_a_plug_in_gives_is_checked(install: Install, name: str, error: str) -> None:
    install(**{name: f"my_damage:{name.replace('-', '_')}"})
    with pytest.raises(StudyError) as caught:
        load_degradation(name)(scene(8, 8), seed=0)
    assert str(caught.value).startswith(f"degradation '{name}' {error}")


def test_a_plug_in_may_not_take_the_name_of_a_built_in(install: Install) -> None:
    install(mixed="my_damage:dim")
    done = cbench("list", "degradations")
    assert done.code == 0
    assert "the plug-in my_damage:dim has the name of a built-in one, which is used" in done.out
    assert load_degradation("mixed").family != "Mine"


def test_a_broken_plug_in_is_listed_with_its_reason(install: Install) -> None:
    install(gone="no_such_module:x")
    done = cbench("list", "degradations")
    assert done.code == 0
    assert "gone  degradation 'gone' cannot be loaded: No module named 'no_such_module'" in done.out


def test_a_name_that_could_not_be_a_kind_is_refused_where_it_is_declared() -> None:
    with pytest.raises(ValueError, match="should be one lower-case word"):
        degradation("My Damage", title="x", family="y")


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(ConvergeBenchError, match=r"unknown degradation 'motion-blurr'; did you mean 'motion-blur'\?"):
        load_degradation("motion-blurr")
