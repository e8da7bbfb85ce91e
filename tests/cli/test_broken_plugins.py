"""A plug-in that is broken in any way is listed with the reason, and takes nothing else down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import World

POINTS = """[convergebench.editors]
sim-jpeg = odd_plugin:Fine
twice = odd_plugin:Fine
leaving = leaving:Anything
number = odd_plugin:NUMBER
unpriced = odd_plugin:Unpriced
fine = odd_plugin:Fine
function = odd_plugin:function

[convergebench.metrics]
psnr = odd_plugin:NUMBER
leaving-metric = leaving:Anything
number-metric = odd_plugin:NUMBER
bursting-metric = odd_plugin:BURSTING

[convergebench.suites]
leaving-suite = leaving:Anything

[convergebench.failures]
leaving-detector = leaving:Anything
number-detector = odd_plugin:NUMBER

[convergebench.degradations]
leaving-degradation = leaving:Anything

[convergebench.studies]
leaving-study = leaving:Anything
roundtrip = odd_plugin:NUMBER

[convergebench.models]
gone = odd_plugin:GONE
leaving-models = leaving:Anything
"""
AGAIN = "[convergebench.editors]\ntwice = odd_plugin:Unpriced\n"
ODD = """
from convergebench import Capabilities, Edited, Limits

NUMBER, GONE = 3, "/no/such/file.toml"


class Fine:
    def __init__(self, name):
        self.name, self.fingerprint = name, f"fine@1:{name}"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        return Edited(request.image, request.mime, "fine")


class Unpriced(Fine):
    def __init__(self, name):
        super().__init__(name)
        self.capabilities = Capabilities(dollars_per_call="much", dollars_by_resolution=None)


class Bursting:
    measure = None

    @property
    def facts(self):
        raise RuntimeError("burst")


BURSTING = Bursting()


def function(image, instruction):
    return image
"""


@pytest.fixture
def odd(world: World) -> World:
    plugins = world.root / "plugins"
    (plugins / "paid_editor-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    (plugins / "odd_plugin.py").write_text(ODD)
    (plugins / "leaving.py").write_text("import sys\nsys.exit('bye')")
    info = plugins / "second-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(AGAIN)
    return world


def rows(world: World, shelf: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(world.cbench("list", shelf, "--json").stdout)
    world.cbench("list", shelf)
    return listed


def test_every_editor_is_listed_and_the_broken_ones_say_why(odd: World) -> None:
    found = rows(odd, "editors")
    by_name = {row["editor"]: row for row in found}  # of two rows of one name, the last
    assert sum(row["editor"] == "sim-jpeg" for row in found) == 2, "the built-in one, and the plug-in"
    reasons = {
        "sim-jpeg": "the plug-in odd_plugin:Fine has the name of a built-in one",
        "twice": "several plug-ins have this name",
        "leaving": "SystemExit: bye",
        "number": "cannot be made",
        "unpriced": "cannot be listed",
        "gone": "/no/such/file.toml",
        "leaving-models": "SystemExit: bye",
    }
    for name, reason in reasons.items():
        assert by_name[name]["here"] == "no"
        (said,) = by_name[name]["lacks"]
        assert reason in said
        assert "\n" not in said
    assert by_name["fine"]["here"] == by_name["function"]["here"] == "yes"


@pytest.mark.parametrize(
    ("shelf", "reasons"),
    [
        (
            "metrics",
            {
                "psnr": "has the name of a built-in one",
                "leaving-metric": "SystemExit: bye",
                "number-metric": "it is a int",
                "bursting-metric": "RuntimeError: burst",
            },
        ),
        ("suites", {"leaving-suite": "SystemExit: bye"}),
        ("detectors", {"leaving-detector": "SystemExit: bye", "number-detector": "is a int"}),
        ("degradations", {"leaving-degradation": "SystemExit: bye"}),
        ("studies", {"leaving-study": "SystemExit: bye", "roundtrip": "has the name of a built-in one"}),
        ("pairs", {}),
    ],
)
def test_every_other_list_is_whole_too(odd: World, shelf: str, reasons: dict[str, str]) -> None:
    found = rows(odd, shelf)
    for name, reason in reasons.items():
        (row,) = [row for row in found if name in row.values() and reason in str(row)]
        assert "\n" not in str(row.values())
    assert len(found) > len(reasons)


def test_other_things_run(odd: World) -> None:
    done = odd.cbench(
        "run", "study.toml", "--editor", "sim-jpeg", "--editor", "function", "--metric", "psnr", "--rounds", "1",
        "--run", "r", "--no-report",
    )  # fmt: skip
    assert "14/14 values" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("flag", "name", "reason"),
    [
        ("--editor", "twice", "editor 'twice' cannot be used: several plug-ins have this name"),
        ("--editor", "leaving", "editor 'leaving' cannot be loaded: SystemExit: bye"),
        ("--editor", "number", "editor 'number' cannot be made"),
        ("--metric", "number-metric", "metric 'number-metric' cannot be used"),
    ],
)
def test_whoever_names_a_broken_one_is_told_in_a_line(odd: World, flag: str, name: str, reason: str) -> None:
    refused = odd.cbench("run", "study.toml", flag, name, "--dry-run", ok=False)
    assert refused.stderr.startswith(f"error: {reason}")
    assert refused.stderr.count("\n") == 1
