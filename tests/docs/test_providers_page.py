"""The page on providers: what it tells to type works, and its tables say what the code says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from convergebench.editors.providers.compatible import SERVERS
from convergebench.editors.providers.remote import CIRCUMSTANCES
from convergebench.editors.providers.table import PROVIDERS, provider_class
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader
from tests.docs.tiny import picture
from tests.editors.providers.fakes.automatic1111 import Automatic1111
from tests.editors.providers.fakes.comfyui import ComfyUI
from tests.editors.providers.fakes.compatible import Compatible
from tests.editors.providers.loopback import Answer, Loopback, Request, serving

PAGE = ROOT / "docs" / "providers.md"
TEXT = PAGE.read_text(encoding="utf-8")


def everybody(asked: Request, server: Loopback) -> Answer:
    """Three servers in one."""
    if asked.route.startswith("/v1/"):
        return Compatible().success(asked, server, picture(1))
    if asked.route.startswith("/sdapi/"):
        return Automatic1111().success(asked, server, picture(2))
    return ComfyUI().success(asked, server, picture(3))


def test_what_the_page_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS:
        for variable in provider_class(provider).keys:
            monkeypatch.delenv(variable, raising=False)
    with serving(everybody) as server:
        reader.instead = {f"http://127.0.0.1:{port}": server.address for port in (8091, 8188, 7860)}
        assert reader.page("docs/providers.md") >= 7
    routes = {asked.route for asked in server.asked}
    assert {"/v1/images/edits", "/prompt", "/view", "/sdapi/v1/img2img"} <= routes
    (login,) = {asked.headers["authorization"] for asked in server.asked if asked.route.startswith("/sdapi/")}
    assert login.startswith("Basic ")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_stands_in_the_table_with_its_key_and_its_package(provider: str) -> None:
    (row,) = [line for line in TEXT.splitlines() if f"| `{provider}` |" in line]
    kind = provider_class(provider)
    assert set(re.findall(r"`([A-Z_]+)`", row)) == set(kind.keys)
    assert re.findall(r"convergebench\[(\w+)\]", row) == list(kind.needs.values())


def test_every_common_option_is_explained() -> None:
    assert all(f"| `{option}` | " in TEXT for option in CIRCUMSTANCES)


@pytest.mark.parametrize("provider", ["compatible", "comfyui", "automatic1111"])
def test_every_option_of_one_s_own_servers_is_named(provider: str) -> None:
    options: Any = set(provider_class(provider).Options.model_fields) - CIRCUMSTANCES
    assert [option for option in options if f"`{option}" not in TEXT] == []


@pytest.mark.parametrize("server", SERVERS)
def test_every_accent_stands_in_its_table(server: str) -> None:
    (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| `{server}` |")]
    _, _, seed, size, options, _ = [cell.strip() for cell in row.split("|")]
    known = SERVERS[server]
    assert (seed == "yes") == ("seed" in known.options)
    assert (known.size == "input") == size.startswith("the image's own")
    assert set(re.findall(r"`(\w+)`", options)) == set(known.options) - {"seed"}
