"""What the README tells to type works, on small studies."""

from __future__ import annotations

import os

import pytest
from PIL import Image, ImageFilter

from convergebench.folders import cache_folder
from tests.docs.shell import Reader
from tests.docs.tiny import make_pictures, picture


def soften(image: Image.Image, instruction: str) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(1))


def test_what_the_readme_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = [os.environ.get("CONVERGEBENCH_WEIGHTS", ""), str(cache_folder() / "weights")]
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", os.pathsep.join(filter(None, beside)))
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(reader.root / "cache"))  # `degrade` keeps what it made there
    for folder in ("my-photos", "pictures", "edited", "originals"):
        make_pictures(reader.root, folder)
    for name in ("edited", "original"):
        (reader.root / f"{name}.png").write_bytes(picture(1))
    reader.names["my_function"] = soften
    assert reader.page("README.md") >= 19
    assert reader.names["run"].ranking.height == 2
    assert (reader.root / "runs" / "soft" / "report" / "index.html").is_file()
    assert (reader.root / "my-degraded").is_dir()
