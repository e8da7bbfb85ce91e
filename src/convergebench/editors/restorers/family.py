"""The learned restorers by name: their network, and how its output gets the size of the input."""

from __future__ import annotations

from convergebench.editors.restorers.editor import RestorerEditor, RestorerModel
from convergebench.editors.restorers.network import NcnnLayout

WAIFU2X = RestorerModel(
    "waifu2x-denoise",
    NcnnLayout("Input1", "Eltwise4", margin=28, crops_margin=True, multiple=4),
    tile=512,
    seconds=0.6,
)
SPAN = RestorerModel("span-x2", NcnnLayout("data", "output", scale=2, margin=24), tile=320, seconds=0.8)
REALESR_ANIME = RestorerModel("realesr-anime", NcnnLayout("data", "output", scale=2, margin=20), tile=320, seconds=0.8)
REALESRGAN = RestorerModel(
    "realesrgan-x4",
    NcnnLayout("data", "output", scale=4, margin=16),
    tile=128,
    seconds=2.5,
    shrink="before",
    heavy=True,
)


def waifu2x_denoise(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-denoise`: takes noise off with waifu2x (CUNet, level 1), whatever the words say."""
    return RestorerEditor(name, WAIFU2X, options)


def span_x2(name: str, **options: object) -> RestorerEditor:
    """`span-x2`: enlarges twice with SPAN and shrinks back, whatever the words say."""
    return RestorerEditor(name, SPAN, options)


def realesr_anime(name: str, **options: object) -> RestorerEditor:
    """`realesr-anime`: enlarges twice with Real-ESRGAN for drawn films and shrinks back, whatever the words say."""
    return RestorerEditor(name, REALESR_ANIME, options)


def realesrgan_x4(name: str, **options: object) -> RestorerEditor:
    """`realesrgan-x4`: shrinks to a quarter and enlarges with RealESRGAN-x4plus, which makes up the lost detail."""
    return RestorerEditor(name, REALESRGAN, options)
