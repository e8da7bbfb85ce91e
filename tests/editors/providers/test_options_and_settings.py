"""An option that holds for every call leaves nothing to a setting: together they are an error, and none is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.conductor.prepare import require_supported
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import models
from convergebench.editors.providers.table import provider_class
from convergebench.errors import StudyError
from convergebench.types import Settings

PAIR = "gpt-6.1-sol+gpt-image-2.5-sunburst"


@pytest.mark.parametrize(
    ("use", "options", "settings"),
    [
        ("gpt-image-2", {"size": "1024x1024"}, Settings(resolution="4K")),
        ("gpt-image-2", {"size": "1024x1024"}, Settings(aspect="16:9")),
        (PAIR, {"tool": "gpt-image-1.5"}, Settings(resolution="4K")),
        (PAIR, {"tool": "gpt-image-1.5"}, Settings(aspect="21:9")),
        (PAIR, {"tool": "nobody-knows"}, Settings(resolution="1K")),
        (PAIR, {"tool": "nobody-knows"}, Settings(aspect="1:1")),
        ("fal-nano-banana-pro", {"arguments": {"resolution": "4K"}}, Settings(resolution="1K")),
        ("fal-nano-banana-pro", {"arguments": {"aspect_ratio": "16:9"}}, Settings(aspect="1:1")),
        ("replicate-seedream-4.5", {"arguments": {"size": "4K"}}, Settings(resolution="2K")),
    ],
)
def test_a_setting_that_an_option_overrules_is_refused(use: str, options: dict[str, Any], settings: Settings) -> None:
    require_supported(make_editor(use, **options), use, Settings())
    with pytest.raises(StudyError, match=r"takes no (resolution|aspect)"):
        require_supported(make_editor(use, **options), use, settings)


@pytest.mark.parametrize("tool", ["gpt-image-2", "gpt-image-2.6-flare"])
def test_another_tool_that_makes_any_size_takes_the_same_settings(tool: str) -> None:
    require_supported(make_editor(PAIR, tool=tool), PAIR, Settings(resolution="4K", aspect="21:9"))


def test_a_size_that_is_filled_in_cannot_be_an_argument() -> None:
    with pytest.raises(StudyError, match="'image_size' is set for every call"):
        make_editor("fal-seedream-4.0", arguments={"image_size": "auto_4K"})


def test_jpeg_holds_no_transparency() -> None:
    with pytest.raises(StudyError, match="png or webp"):
        make_editor("gpt-image-2", background="transparent", output_format="jpeg")


@pytest.mark.parametrize(
    ("size", "dollars"),
    [("1024x1024", 0.219), ("1536x1024", 0.234), ("2560x1440", 0.234), ("3840x2160", 0.413), ("auto", 0.413)],
)
def test_the_forecast_follows_the_size(size: str, dollars: float) -> None:
    assert make_editor("gpt-image-2", size=size).capabilities.dollars(Settings()) == dollars
    assert make_editor("gpt-image-2", size=size, dollars=0.5).capabilities.dollars(Settings()) == 0.5


@pytest.mark.parametrize(
    ("use", "argument"),
    [
        ("fal-gpt-image-2", {"quality": "low"}),
        ("fal-nano-banana-2", {"resolution": "4K"}),
        ("fal-nano-banana-2", {"num_images": 2}),
    ],
)
def test_an_argument_that_changes_the_price_leaves_it_to_the_user(use: str, argument: dict[str, Any]) -> None:
    assert make_editor(use).capabilities.dollars(Settings()) is not None
    assert make_editor(use, arguments={"safety_tolerance": "5"}).capabilities.dollars(Settings()) is not None
    assert make_editor(use, arguments=argument).capabilities.dollars(Settings()) is None
    assert make_editor(use, arguments=argument, dollars=0.3).capabilities.dollars(Settings()) == 0.3


@pytest.mark.parametrize(
    ("use", "wire"),
    [
        ("grok-imagine-image-2.0", {"qualities": {"low": 0.03, "medium": 0.05}}),
        ("flux-2-klein-4b", {"sized": True, "tolerance": 6}),
    ],
)
def test_a_price_or_a_bound_that_changes_makes_no_other_editor(use: str, wire: dict[str, Any]) -> None:
    model = models()[use]
    changed = model.model_copy(update={"wire": wire})
    make = provider_class(model.provider)
    assert make(use, changed, {}).fingerprint == make(use, model, {}).fingerprint
    other = model.model_copy(update={"wire": {**model.wire, "arguments": {"more": 1}}})
    assert make(use, other, {}).fingerprint != make(use, model, {}).fingerprint
