"""Whatever an editor that speaks plain HTTP is told, it makes an error of it that the engine knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench import registry
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import models, slug
from convergebench.editors.providers.hosted import addresses
from convergebench.editors.providers.table import PROVIDERS
from convergebench.editors.providers.wired import amount, part
from convergebench.errors import EditorError
from convergebench.wire.client import HttpReply
from convergebench.wire.raw import without_images

USES = (
    "flux-kontext-pro",
    "fal-nano-banana",
    "fal:a/b",
    "replicate:a/b",
    "qwen-image-edit-plus",
    "seedream-4.5",
    "grok-imagine-image",
)
KEYS = st.sampled_from(["error", "detail", "code", "message", "type", "status", "msg", "loc", "retry_after", "output"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
BODIES = ANYTHING.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)


@pytest.mark.parametrize("use", USES)
@given(status=st.sampled_from([200, 302, 400, 401, 402, 403, 404, 418, 422, 429, 500, 503]), body=BODIES)
def test_every_failed_answer_means_something(use: str, status: int, body: bytes) -> None:
    editor: Any = make_editor(use)
    error = editor.verdict(HttpReply(status, {"X-Fal-Retryable": "maybe"}, body, "https://there/x")).as_editor_error(
        0.5
    )
    assert isinstance(error, EditorError)
    assert error.dollars == 0.5
    assert "\n" not in str(error)
    assert f"{error} {error.raw}".encode()


@given(value=ANYTHING)
def test_nothing_in_a_reply_is_trusted_to_have_its_shape(value: Any) -> None:
    assert isinstance(without_images(value), str)
    assert all(isinstance(one, str) for one in addresses(value))
    assert amount(value) is None or amount(value) >= 0  # type: ignore[operator]
    part(value, "output", 0, "error", "detail")


def test_no_model_is_called_like_a_built_in_editor() -> None:
    remote = [model for model in models().values() if model.provider in PROVIDERS]
    called = {slug(name) for model in remote for name in (model.id, *model.aliases)}
    assert not called & {slug(name) for name in registry.names("editors")}


def test_every_price_says_on_which_day_it_was_read() -> None:
    for model in models().values():
        if model.price is not None:
            assert model.price.read >= "2026-11-01", model.id
