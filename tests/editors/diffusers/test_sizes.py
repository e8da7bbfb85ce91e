"""Sizes follow the image's aspect, and a size that came out stays as it is when it goes in again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.base import ImageSize
from convergebench.editors.diffusers.families import FAMILIES

MEGAPIXEL = 1024 * 1024
SIDES = st.integers(64, 4096)


@pytest.mark.parametrize(
    ("family", "given_size", "expected"),
    [
        ("flux-kontext", (1024, 1024), (1024, 1024)),
        ("flux-kontext", (512, 512), (1024, 1024)),
        ("flux-kontext", (1536, 1024), (1248, 832)),
        ("flux-kontext", (60, 30), (1440, 720)),
        ("flux-2", (1024, 768), (1024, 768)),
        ("flux-2", (1000, 700), (992, 688)),
        ("flux-2", (2048, 2048), (1024, 1024)),
        ("flux-2-klein", (2000, 1000), (1440, 720)),
        ("qwen-edit", (512, 512), (1024, 1024)),
        ("qwen-edit-plus", (1600, 900), (1376, 768)),
        ("instruct-pix2pix", (511, 768), (504, 768)),
        ("instruct-pix2pix", (2048, 2048), (2048, 2048)),
    ],
)
def test_sizes_of_the_published_models(family: str, given_size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert FAMILIES[family].size.size(ImageSize(*given_size), area=MEGAPIXEL, scale=8) == expected


@pytest.mark.parametrize("family", FAMILIES)
@given(width=SIDES, height=SIDES)
def test_a_chain_is_resized_once_at_most(family: str, width: int, height: int) -> None:
    if max(width, height) > 8 * min(width, height):
        return
    rule = FAMILIES[family].size
    once = rule.size(ImageSize(width, height), area=MEGAPIXEL, scale=8)
    assert rule.size(once, area=MEGAPIXEL, scale=8) == once


@pytest.mark.parametrize("family", FAMILIES)
@given(width=st.integers(256, 4096), height=st.integers(256, 4096))
def test_aspect_is_kept_to_a_patch_or_two(family: str, width: int, height: int) -> None:
    if max(width, height) > 4 * min(width, height):
        return
    generated = FAMILIES[family].size.size(ImageSize(width, height), area=MEGAPIXEL, scale=8)
    assert (generated.width / generated.height) / (width / height) == pytest.approx(1, abs=0.08)
