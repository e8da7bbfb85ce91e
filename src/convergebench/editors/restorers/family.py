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
    """`waifu2x-denoise`: denoises with waifu2x (CUNet, level 1); ignores the instruction."""
    return RestorerEditor(name, WAIFU2X, options)


def waifu2x_denoise_3(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-denoise-3`: removes strong noise with waifu2x (CUNet, level 3); ignores the instruction."""
    return RestorerEditor(name, WAIFU2X_STRONG, options)


def waifu2x_photo(name: str, **options: object) -> RestorerEditor:
    """`waifu2x-photo`: upscales 2× with waifu2x for photographs (noise level 3) and downscales again."""
    return RestorerEditor(name, WAIFU2X_PHOTO, options)


def span_x2(name: str, **options: object) -> RestorerEditor:
    """`span-x2`: upscales 2× with SPAN and downscales again; ignores the instruction."""
    return RestorerEditor(name, SPAN, options)


def realesr_anime(name: str, **options: object) -> RestorerEditor:
    """`realesr-anime`: upscales 2× with Real-ESRGAN for anime and downscales again; ignores the instruction."""
    return RestorerEditor(name, REALESR_ANIME, options)


def realesrgan_x4(name: str, **options: object) -> RestorerEditor:
    """`realesrgan-x4`: downscales to a quarter and upscales with RealESRGAN-x4plus, which invents the lost detail."""
    return RestorerEditor(name, REALESRGAN, options)


def realesrgan_restore(name: str, **options: object) -> RestorerEditor:
    """`realesrgan-restore`: downscales to half, upscales with RealESRGAN-x4plus, downscales: more faithful."""
    return RestorerEditor(name, REALESRGAN_RESTORE, options)
