"""Ids that may come to mean another model are told before the first question; others are not."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.roles import make_role
from convergebench.roles.clients.moving import is_moving
from tests.roles.test_tables import SERVED, table


@pytest.mark.parametrize(
    "model",
    ["gemini-flash-latest", "gemini-pro-latest", "chatgpt-4o-latest", "qwen2.5vl:latest", "latest", "openrouter/auto",
     "gemini-3.1-pro-preview", "gemini-3.1-pro-preview-customtools", "claude-mythos-preview", "gemini-2.0-flash-exp",
     "Gemini-Flash-LATEST"],
)  # fmt: skip
def test_an_id_that_moves_is_known_by_its_words(model: str) -> None:
    assert is_moving(model)


@pytest.mark.parametrize(
    "model",
    ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.8-flash", "claude-haiku-4-5-20251001", "claude-sonnet-5-5",
     "gpt-5.4-2026-03-05", "gpt-4-0125-preview", "gemini-2.5-flash-preview-09-2025", "gemini-2.5-pro-preview-05-06",
     "gemini-exp-1206", "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen3-VL-8B-Instruct", "TianheWu/VisualQuality-R1-7B",
     "someone/qwen-auto-round-int4", "latest-research/model-7b", "expert-7b", ""],
)  # fmt: skip
def test_an_id_that_stays_is_left_alone(model: str) -> None:
    assert not is_moving(model)


def test_it_is_told_beforehand_and_wherever_the_role_is_named() -> None:
    def role(**more: Any) -> Any:
        return make_role("judge", table(**{**SERVED, "model": "gemini-flash-latest", **more}))

    (notice,) = role().notices
    assert notice.startswith("[roles.judge]: the id gemini-flash-latest may refer to another model")
    assert "\n" not in notice
    assert "may later refer to another model" in role().about
    settled = role(revision="gemini-3.8-flash on 2026-11-16")
    assert settled.notices == ()
    assert "another model" not in settled.about
    assert make_role("judge", table(**SERVED)).notices == ()
