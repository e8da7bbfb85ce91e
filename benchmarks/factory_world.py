"""A factory without a model: pictures, an editor and roles that answer at once, the same in every run."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.conductor.prepare import prepare
from convergebench.engine.prepared import Prepared
from convergebench.errors import Transient
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.roles.base import Answered, Role
from convergebench.studies.factory_table import CRITERIA
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits, SourceImage


def chance(*parts: object) -> float:
    """A number from 0 to 1 that is the same in every run."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


class Books:
    """What a provider bills, written down before it answers."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    def bill(self, who: str, dollars: float) -> None:
        """One line per call."""
        os.write(self._file, f"{who} {dollars}\n".encode())

    @staticmethod
    def read(path: Path) -> dict[str, float]:
        """Dollars by who was called."""
        found: Counter[str] = Counter()
        for line in path.read_text().splitlines():
            who, dollars = line.split()
            found[who] += float(dollars)  # type: ignore[assignment]
        return dict(found)


class InstantEditor:
    """Brightens a patch whose place depends on the words and the seed."""

    name, fingerprint = "instant", "instant@1"
    limits = Limits(at_once=8)

    def __init__(
        self, dollars: float = 0.0, *, faults: float = 0.0, books: Books | None = None, seconds: float = 0.0
    ) -> None:
        self.capabilities = Capabilities(seed=True, dollars_per_call=dollars)
        self.faults, self.books, self.seconds, self.calls = faults, books, seconds, 0

    async def edit(self, request: EditRequest) -> Edited:
        """The picture with its patch; a busy server for a share of calls."""
        if chance("busy", request.instruction, request.seed, request.attempt) < self.faults:
            raise Transient("busy")
        self.calls += 1
        dollars = self.capabilities.dollars_per_call or 0.0
        if self.books:
            self.books.bill("instant", dollars)
        await asyncio.sleep(self.seconds)
        pixels = decode(request.image).pixels.copy()
        x = int(chance(request.instruction, request.seed) * (pixels.shape[1] - 16))
        pixels[8:24, x : x + 16] = np.minimum(255, pixels[8:24, x : x + 16].astype(int) + 80).astype(np.uint8)
        return Edited(encode_png(pixels), "image/png", "instant-1", dollars=dollars)


class ScriptedRole(Role):
    """Answers every rubric of the factory from a hash of the question: scores differ, and some edits fail."""

    def __init__(
        self, name: str, *, dollars: float = 0.0, noise: float = 0.05, faults: float = 0.0, books: Books | None = None
    ) -> None:
        self.name, self.fingerprint, self.about = name, f"scripted-{name}@1", f"scripted {name}"
        self.dollars_per_call, self.noise, self.faults, self.books, self.asked = dollars, noise, faults, books, 0

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """A reply of the rubric's form; with faults, a share cannot be parsed."""
        self.asked += 1
        if self.books:
            self.books.bill(f"role:{self.name}", self.dollars_per_call or 0.0)
        await asyncio.sleep(0)
        value: dict[str, Any] | None = self.value(images, payload, repeat)
        if chance("garbled", self.name, payload["text"], repeat, *map(_hash, images)) < self.faults:
            value = None
        return Answered(value, str(value), f"{self.name}-1", self.dollars_per_call or 0.0)

    def value(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> dict[str, Any]:
        """The reply."""
        look = [_hash(image) for image in images]
        match payload["rubric"]:
            case "find-content":
                return {"person": int(chance(*look) < 0.5), "text": int(chance("t", *look) < 0.3), "seen": "a room"}
            case "write-instruction":
                return {"prompts": [f"Please do this to the picture, in detail: {payload['edit_type']}."]}
            case "write-next-instruction":
                return {"prompts": [f"Now do this to it as well: {payload['edit_type']}."]}
            case "rewrite-instruction":
                return {"short": "just do it"}
            case "judge-edit":
                scores = {name: self._score(name, look, repeat) for name in CRITERIA}
                told = {"changed": ["a patch"], "preserved": ["the rest"], "understood": "a patch was asked for"}
                return {**told, **scores, "reason": "the patch can be seen"}
            case "judge-two-edits":
                return {"better": chance(*look), "reason": "it is brighter"}
            case _:
                return {"quality": 0.5 + 0.5 * chance(*look), "damage": []}

    def _score(self, name: str, look: list[str], repeat: int) -> float:
        noisy = 1.15 * chance(name, *look) ** 0.4 + self.noise * (chance(name, repeat, *look) - 0.5)
        return float(np.clip(noisy, 0, 1))


def _hash(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()


def sources(count: int = 8, side: int = 96) -> list[SourceImage]:
    """Plain pictures: every second a face; a third of the others with unknown content."""
    return [_source(number, side) for number in range(count)]


def _source(number: int, side: int) -> SourceImage:
    noise = np.random.default_rng(number).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    data = encode_png(np.kron(noise, np.ones((side // 6, side // 6, 1), np.uint8)))
    return SourceImage(
        f"picture-{number:05}",
        "face" if number % 2 else "scene",
        hashlib.sha256(data).hexdigest(),
        side,
        side,
        "CC-BY-2.0",
        f"https://example.org/photos/{number}.jpg",
        lambda: data,
        title=f"picture {number}",
        holds=None if number % 6 == 0 else ("chair",),
        credit=f"Photo {number} by A. Person, CC BY 2.0",
    )


def prepared_factory(images: int, editor: InstantEditor, roles: Mapping[str, Role], **parameters: Any) -> Prepared:
    """A checked factory over so many pictures."""
    spec = parse_spec(
        {
            "study": "factory",
            "editors": [{"name": "instant", "use": "sim-identity"}],
            "factory": parameters,
            "measure": {"metrics": ["psnr"]},
        }
    )
    return prepare(spec, editors={"instant": editor}, sources=sources(images), roles=roles)
