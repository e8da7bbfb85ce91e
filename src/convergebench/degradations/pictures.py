"""Spoilt copies of a suite's pictures, made once and cached, each with the clean picture it was made from."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from convergebench.degradations import load_degradation
from convergebench.degradations.base import Degradation
from convergebench.errors import Prerequisite
from convergebench.folders import cache_folder
from convergebench.ids import canonical
from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.images.sized import plain_png
from convergebench.kinds import Kind
from convergebench.types import SourceImage


def degraded(image: SourceImage, name: str, *, kind: Kind, severity: float, seed: int) -> SourceImage:
    """The picture after the degradation `name`, in a set of this `kind`.

    The same picture, name, severity and seed give the same result; other pictures get other draws.
    """
    made = degraded_facts(image, name, kind=kind, severity=severity, seed=seed)
    read = partial(_cached_copy, image, load_degradation(name), severity, seed)
    try:
        data = read()
    except Prerequisite:  # not on this machine: whoever asks for it is told so
        return made
    return replace(made, sha256=hashlib.sha256(data).hexdigest(), read=read)


def degraded_facts(image: SourceImage, name: str, *, kind: Kind, severity: float, seed: int) -> SourceImage:
    """What is said of the spoilt copy; its bytes and their hash are still those of the clean picture."""
    made_by = f"degraded: {name} {load_degradation(name).version}, severity {severity:g}, seed {seed}"
    source = f"{image.source}, {made_by}"
    return replace(image, id=f"{image.id}.{name}", kind=kind, source=source, clean=image.id, degradation=name)


def spoilt(image: SourceImage, pixels: Pixels, spoil: Degradation, *, severity: float, seed: int) -> Pixels:
    """The pixels of `image` after a degradation.

    Draws depend on the picture, the degradation and the seed, not on the severity: twice the severity is the same
    damage, twice as strong.
    """
    recipe = canonical([image.sha256, spoil.fingerprint, seed])
    draws = int(hashlib.sha256(recipe.encode()).hexdigest()[:16], 16)
    return spoil(pixels, seed=draws, severity=severity)


def _cached_copy(image: SourceImage, spoil: Degradation, severity: float, seed: int) -> bytes:
    """The copy's file; made again if it is not in the cache, or damaged there."""
    recipe = canonical([image.sha256, spoil.fingerprint, round(severity, 6), seed])
    path = cache_folder() / "degraded" / f"{hashlib.sha256(recipe.encode()).hexdigest()}.png"
    data = _cached(path)
    if data is None:
        clean = decode(image.read(), what=f"image '{image.id}'").pixels
        data = plain_png(spoilt(image, clean, spoil, severity=severity, seed=seed))
        _keep(path, data)
    return data


def _cached(path: Path) -> bytes | None:
    """The picture, None if it was not made yet or is damaged."""
    try:
        data = path.read_bytes()
        digest = path.with_suffix(".sha256").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None


def _keep(path: Path, data: bytes) -> None:
    """Write both files under other names first: two processes may make the same picture at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for where, content in ((path, data), (path.with_suffix(".sha256"), hashlib.sha256(data).hexdigest().encode())):
            unfinished = where.with_name(f"{where.name}.{os.getpid()}")
            unfinished.write_bytes(content)
            unfinished.replace(where)
    except OSError:  # no room or no permission: the picture is made again next time
        return
