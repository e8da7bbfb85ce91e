"""Templates are compiled once per process, although every page opens an environment of its own."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import Environment

from convergebench.report.environment import Renderer, environment


def test_a_second_page_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = environment()
    names = [name for name in ("macros.html", "report.html") if name in first.list_templates()]
    assert "macros.html" in names
    for name in names:
        first.get_template(name)

    def refuse(*_given: Any, **_options: Any) -> Any:
        raise AssertionError("a template was compiled again")

    monkeypatch.setattr(Environment, "compile", refuse)
    second = environment()
    assert second is not first
    for name in names:
        assert second.get_template(name).filename == first.get_template(name).filename


def test_pages_share_no_values() -> None:
    """The code is shared, the context is not."""
    one, other = Renderer({"title": "one"}), Renderer({"title": "other"})
    assert one.templates is not other.templates
    assert one.templates.globals is not other.templates.globals
