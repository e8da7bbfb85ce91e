"""Colour profiles: everything is compared in sRGB."""

from __future__ import annotations

import io

from PIL import Image, ImageCms

_COMPENSATED = ImageCms.Flags.BLACKPOINTCOMPENSATION
_PROFILE_SPACES = {"RGB": "RGB ", "L": "GRAY", "CMYK": "CMYK", "LAB": "Lab "}


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """`image` as RGB in sRGB. A profile that is sRGB already, unreadable or of another colour space is ignored."""
    if profile:
        converted = _through_profile(image, profile)
        if converted is not None:
            return converted
    return image if image.mode == "RGB" else image.convert("RGB")


def _through_profile(image: Image.Image, profile: bytes) -> Image.Image | None:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if source.profile.xcolor_space != _PROFILE_SPACES.get(image.mode):
            return None
        if "srgb" in (source.profile.profile_description or "").lower():
            return None
        return ImageCms.profileToProfile(
            image,
            source,
            ImageCms.createProfile("sRGB"),
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            outputMode="RGB",
            flags=_COMPENSATED,
        )
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return None
