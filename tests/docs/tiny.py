"""What pages speak of, small: a folder of pictures, recorded chains, and the published studies."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.images.encode import encode_png
from tests.docs.blocks import ROOT

PICTURES = ("face/anna", "object/cup", "scene/room", "scene/street")
CHAINS = ("scene_01_chair_add_remove", "portrait_02_hat_add_remove")
Content = dict[str, Any]


def tiny(text: str) -> str:
    """Pages speak of the suite `quick`; here a folder with a few small pictures stands in for it."""
    for before in ("suite = ", "load_suite(", "images="):
        text = text.replace(f'{before}"quick"', f'{before}"my-pictures"')
    return text


def make_pictures(root: Path, folder: str = "my-pictures") -> None:
    for seed, name in enumerate(PICTURES):
        path = root / folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(seed))


def make_chains(root: Path) -> None:
    """Two recorded chains of two rounds."""
    for seed, name in enumerate(CHAINS):
        folder = root / "published" / name
        folder.mkdir(parents=True)
        for step, file in enumerate(("I0_source", "I1_forward", "I1_backward", "I2_forward", "I2_backward")):
            (folder / f"{file}.png").write_bytes(picture(seed, worn=step))


def make_studies(root: Path) -> None:
    """The published study files; those that a page runs are small, the others are as they are."""
    shutil.copytree(ROOT / "studies", root / "studies")
    for name, shrink in SMALL.items():
        path = root / "studies" / f"{name}.toml"
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        content["images"] = {"suite": "my-pictures"}
        shrink(content)
        path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in content.items()), encoding="utf-8")


def toml(value: object) -> str:
    """A value as TOML writes it; tables stand in braces."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def _demo(content: Content) -> None:
    content["editors"] = ["sim-perfect", "sim-jpeg"]
    content["roundtrip"]["rounds"] = 2
    content["edits"]["pairs"] = ["flip-horizontal", "red-ball"]
    content["measure"]["metrics"] = ["default", "brisque"]  # learned metrics take most of the time
    content["analysis"] = {"quality": ["ssim"], "semantic": "gist", "draws": 200}


def _replicate(content: Content) -> None:
    content["editors"] = content["editors"][:1]
    content["replicate"] |= {
        "steps": 2,
        "runs": 1,
        "grid": [{"variants": ["replicate"], "images": ["cup", "room", "anna"]}],
    }
    content["examine"]["detectors"] = ["static-noise"]
    content["analysis"] |= {"points": [1, 2], "draws": 200}


def _audit(content: Content) -> None:
    content["editors"] = ["sim-noise"]
    content["audit"] |= {"steps": 3, "metrics": ["piqe"], "grid": [{"variants": ["replicate"], "images": ["cup"]}]}
    content["measure"]["metrics"] = ["ssim"]
    content["analysis"] |= {"points": [1, 2, 3], "draws": 200, "audit": {"gaps": [2, 3]}}


def _factory(content: Content) -> None:
    content["images"]["limit"] = 2
    content["factory"] |= {"per_image": 2, "types": ["Pixel & Photometric"]}  # the others look with networks


def _restoration(content: Content) -> None:
    content["editors"] = ["unsharp", "sim-restorer"]
    content["images"]["limit"] = 1
    content["restoration"] |= {"prompts": ["LF3"], "repeats": 1, "degradations": ["motion-blur"], "per_degradation": 1}
    content["measure"]["metrics"] = ["psnr", "ssim"]


SMALL: Mapping[str, Callable[[Content], None]] = {
    "demo": _demo,
    "replicate-quick": _replicate,
    "audit-quick": _audit,
    "factory-quick": _factory,
    "restoration-quick": _restoration,
}


def picture(seed: int, *, worn: int = 0) -> bytes:
    """64 pixels of soft patches; `worn` steps of noise on top."""
    patches = np.random.default_rng(seed).integers(40, 216, (8, 8, 3)).repeat(8, 0).repeat(8, 1)
    noise = np.random.default_rng(100 + worn).normal(0, 4 * worn, patches.shape)
    return encode_png(np.clip(patches + noise, 0, 255).astype(np.uint8))
