"""Networks are loaded once, and what is missing is one line with the command to type."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.vision import networks, objects
from convergebench.vision.faces import find_faces
from convergebench.vision.inpainting import fill
from convergebench.vision.masks import object_mask, person_mask
from convergebench.vision.objects import PixelBox, detect_objects

PICTURE = np.zeros((8, 8, 3), np.uint8)
USES: Mapping[str, tuple[Callable[[], object], str]] = {
    "objects": (lambda: detect_objects(PICTURE), "human-models"),
    "faces": (lambda: find_faces(PICTURE), "human-models"),
    "persons": (lambda: person_mask(PICTURE), "human-models"),
    "masks": (lambda: object_mask(PICTURE, PixelBox(0, 0, 8, 8)), "isnet"),
    "holes": (lambda: fill(PICTURE, np.ones((8, 8), np.bool_)), "mi-gan"),
}


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "_loaded", {})
    monkeypatch.setattr(objects, "_known", OrderedDict())  # what was found in pictures of earlier tests


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("use", USES)
def test_missing_weights_are_named(use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    run, weight = USES[use]
    with pytest.raises(Prerequisite, match=f"'{weight}' are not here; type: cbench weights fetch {weight}$"):
        run()


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize(("use", "module"), [("objects", "torch"), ("masks", "onnxruntime"), ("holes", "onnxruntime")])
def test_a_missing_module_is_named(use: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Prerequisite, match=rf'needs {module}: pip install "convergebench\[vision\]"$'):
        USES[use][0]()


@pytest.mark.usefixtures("nothing_loaded")
def test_a_network_is_loaded_once_for_all_threads() -> None:
    with ThreadPoolExecutor(4) as threads:
        programs = list(threads.map(networks.graph, ["selfie"] * 8))
    assert len(set(map(id, programs))) == 1
    assert networks.graph("facemesh") is not programs[0]
