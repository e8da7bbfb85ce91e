"""`cbench list editors`: what there is, what runs here, what the others lack, what has ended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from convergebench.cli.main import app
from tests.cli.conftest import World


def listed(*words: str) -> str:
    result = CliRunner().invoke(app, ["list", "editors", *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "BFL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return {row["editor"]: row for row in json.loads(listed("--json"))}


def test_an_embedded_editor_is_ready(rows: dict[str, Any]) -> None:
    assert rows["sim-jpeg"]["here"] == "yes"
    assert rows["sim-jpeg"]["lacks"] == []


def test_a_model_says_which_key_it_lacks_and_what_to_type(rows: dict[str, Any]) -> None:
    assert rows["flux-kontext-pro"]["here"] == "no"
    assert rows["flux-kontext-pro"]["lacks"] == ["BFL_API_KEY is not set; bfl needs a key: export BFL_API_KEY=…"]


def test_with_its_key_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BFL_API_KEY", "bfl-0123456789")
    row = next(row for row in json.loads(listed("--json")) if row["editor"] == "flux-kontext-pro")
    assert (row["here"], row["lacks"]) == ("yes", [])


def test_the_table_says_what_a_model_takes_costs_and_until_when_it_lives(rows: dict[str, Any]) -> None:
    pro = rows["gemini-3-pro-image"]
    assert pro["takes"] == "seed temperature sessions reasoning aspect 1K 2K 4K"
    assert pro["dollars"] == "0.1371 … 0.2431"
    assert pro["price read"] == "2026-11-15"
    assert "nano-banana-pro" in pro["aliases"]
    assert rows["gpt-image-1"]["successor"]


def test_what_has_ended_is_apart_with_its_successor() -> None:
    text = listed()
    alive, _, ended = text.partition("no longer available:")
    assert "gpt-image-1 ended on 2026-10-23; use " in ended
    assert not any(line.startswith("gpt-image-1 ") for line in alive.splitlines())


def test_what_many_lack_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BFL_API_KEY", raising=False)
    assert listed().count("export BFL_API_KEY=…") == 1


PLUGINS = """
from convergebench import Capabilities, Edited, Limits


class Good:
    '''Does nothing, well.'''

    def __init__(self, name):
        self.name, self.fingerprint = name, "good@1"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        return Edited(request.image, request.mime, "good")


class Wanting(Good):
    '''Wants an address.'''

    def __init__(self, name, url):
        super().__init__(name)


class Broken(Good):
    def __init__(self, name):
        raise RuntimeError("no luck")


class Silent(Good):
    def lacks(self):
        raise KeyError("HOME_OF_MINE")
"""
POINTS = """[convergebench.editors]
good = plugs:Good
wanting = plugs:Wanting
broken = plugs:Broken
silent = plugs:Silent
nameless = plugs:Nobody
bursting = bursting:Anything
"""


def test_a_plug_in_that_fails_is_listed_with_its_reason_and_hides_no_other(world: World) -> None:
    plugins = world.root / "plugins"
    (plugins / "paid_editor-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    (plugins / "plugs.py").write_text(PLUGINS)
    (plugins / "bursting.py").write_text("raise ValueError('burst')")
    rows = {row["editor"]: row for row in json.loads(world.cbench("list", "editors", "--json").stdout)}
    assert rows["sim-jpeg"]["by"] == "embedded"
    assert (rows["good"]["by"], rows["good"]["here"]) == ("plug-in", "yes")
    assert (rows["wanting"]["here"], rows["wanting"]["lacks"]) == ("with options", [])
    reasons = {
        "broken": "RuntimeError: no luck",
        "silent": "KeyError: 'HOME_OF_MINE'",
        "nameless": "AttributeError",
        "bursting": "ValueError: burst",
    }
    for name, reason in reasons.items():
        assert (rows[name]["by"], rows[name]["here"]) == ("plug-in", "no")
        assert reason in rows[name]["lacks"][0]
    refused = world.cbench("run", "study.toml", "--editor", "bursting", "--dry-run", ok=False)
    assert refused.stderr == "error: editor 'bursting' cannot be loaded: ValueError: burst\n"
