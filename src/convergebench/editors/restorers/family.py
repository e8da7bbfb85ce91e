"""The learned restorers by name: their network, and how its output gets the size of the input."""

from __future__ import annotations

from dataclasses import replace

from convergebench.editors.restorers.editor import RestorerEditor, RestorerModel
from convergebench.editors.restorers.network import NcnnLayout

WAIFU2X = RestorerModel(
    "waifu2x-denoise",
    NcnnLayout("Input1", "Eltwise4", margin=28, crops_margin=True, multiple=4),
    tile=512,
    seconds=0.6,
)
WAIFU2X_STRONG = replace(WAIFU2X, weight="waifu2x-denoise-3")
WAIFU2X_PHOTO = RestorerModel(
    "waifu2x-photo",
    NcnnLayout("Input1", "Eltwise4", scale=2, margin=7, crops_margin=True),
    tile=320,
    seconds=1.0,
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
REALESRGAN_RESTORE = replace(REALESRGAN, shrink="both", seconds=10.0)


def waifu2x_denoise(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-denoise`: takes noise off with waifu2x (CUNet, level 1), whatever the words say."""
    return RestorerEditor(name, WAIFU2X, options)


def waifu2x_denoise_3(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-denoise-3`: takes strong noise off with waifu2x (CUNet, level 3), whatever the words say."""
    return RestorerEditor(name, WAIFU2X_STRONG, options)


def waifu2x_photo(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-photo`: enlarges twice with waifu2x for photographs (noise level 3) and shrinks back."""
    return RestorerEditor(name, WAIFU2X_PHOTO, options)


def span_x2(name: str, **options: object) -> RestorerEditor:
    """`span-x2`: enlarges twice with SPAN and shrinks back, whatever the words say."""
    return RestorerEditor(name, SPAN, options)


def realesr_anime(name: str, **options: object) -> RestorerEditor:
    """`realesr-anime`: enlarges twice with Real-ESRGAN for drawn films and shrinks back, whatever the words say."""
    return RestorerEditor(name, REALESR_ANIME, options)


def realesrgan_x4(name: str, **options: object) -> RestorerEditor:
    """`realesrgan-x4`: shrinks to a quarter and enlarges with RealESRGAN-x4plus, which makes up the lost detail."""
    return RestorerEditor(name, REALESRGAN, options)


def realesrgan_restore(name: str, **options: object) -> RestorerEditor:
    """`realesrgan-restore`: shrinks to a half, enlarges with RealESRGAN-x4plus and shrinks: truer and slower."""
    return RestorerEditor(name, REALESRGAN_RESTORE, options)
