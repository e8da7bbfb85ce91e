"""The loading code with pyiqa itself: whole checkpoints of random numbers are written, found, read and scored.

The scores mean nothing; that they are the same to the last bit as those of the network that was saved does.
"""

from __future__ import annotations

import socket
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import Item
from convergebench.metrics.iqa import _pyiqa
from convergebench.metrics.iqa._pyiqa import PyiqaNetwork
from convergebench.weights import locate
from tests.metrics.calibration import NAMES, calibration_pair, published
from tests.metrics.iqa_files import MAKERS, random_network
from tests.metrics.pictures import photograph
from tests.metrics.test_iqa import BY_PYIQA, adapter, network

pytestmark = [
    pytest.mark.skipif(find_spec("pyiqa") is None, reason='pyiqa is not installed: pip install -e ".[iqa]"'),
    pytest.mark.filterwarnings("ignore"),
]

REAL = Path(__file__).parents[3] / "shared" / "weights"
LONG = ("hyperiqa", "maniqa", "tres", "nrqm", "pi")
FEWER = {"hyperiqa": "num_crop", "maniqa": "test_sample", "tres": "test_sample"}
"""Networks that look at dozens of squares; here one is enough, and this is where they keep the number."""
OTHER = ("qalign",)
"""Sixteen gigabytes: not even random numbers of that size are for a test."""
WITHOUT_BACKBONE = ("cnniqa", "musiq", "wadiqam-nr")


def marked(names: list[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in names]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where weights are looked for; the real checksums of CLIP are not asked of a small stand-in."""
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    small = {"clip-rn50-openai": tmp_path / "RN50.pt", "clip-vit-b-32-openai": tmp_path / "ViT-B-32.pt"}
    monkeypatch.setattr(_pyiqa, "locate", lambda name: small.get(name) or locate(name))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    _pyiqa.clear_cache()
    return tmp_path


def refuse(*_: object) -> None:
    raise OSError("no network in this test")


def pixels_for(name: str) -> Pixels:
    side = max(network(name).smallest, 96)
    return photograph("astronaut", side + 16, side)


def hurried(name: str, net: Any) -> Any:
    if name in FEWER:
        assert getattr(net, FEWER[name]) > 1
        setattr(net, FEWER[name], 1)
    return net


def direct(net: Any, pixels: Pixels) -> float:
    import torch

    with torch.no_grad():
        tensor = torch.tensor(pixels).permute(2, 0, 1)[None].float().div(255)
        return float(net(tensor).reshape(-1)[0].item())


@pytest.mark.parametrize("name", marked([name for name in BY_PYIQA if name not in OTHER]))
def test_the_score_is_that_of_the_network_that_was_saved(name: str, folder: Path) -> None:
    pixels = pixels_for(name)
    saved = direct(hurried(name, random_network(network(name), folder)), pixels)
    hurried(name, network(name).built("cpu"))
    assert adapter(name)(Item(Frame(pixels))) == saved
    assert adapter(name)(Item(Frame(pixels))) == saved, "and again"
    seedless = {path.name for path in folder.iterdir()} <= set(MAKERS)
    if not seedless:
        another = direct(hurried(name, random_network(network(name), folder / "other", seed=2)), pixels)
        assert another != saved, "random weights would have been noticed"


@pytest.mark.parametrize("name", WITHOUT_BACKBONE)
def test_pyiqa_reads_the_same_file_to_the_same_score(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = pixels_for(name)
    random_network(network(name), folder)
    ours = adapter(name)(Item(Frame(pixels)))
    monkeypatch.setattr("pyiqa.utils.download_util.DEFAULT_CACHE_DIR", str(folder))
    create: Any = import_module("pyiqa").create_metric
    assert direct(create(network(name).name, device="cpu"), pixels) == ours


@pytest.mark.parametrize("name", ["cnniqa", "liqe", "arniqa"])
def test_nothing_of_pyiqa_or_torch_is_different_afterwards(name: str, folder: Path) -> None:
    import torch

    random_network(network(name), folder)
    modules = [import_module(f"pyiqa.archs.{module}") for module in network(name).modules]
    before = [dict(module.__dict__) for module in modules]
    state = torch.get_rng_state()
    adapter(name)(Item(Frame(pixels_for(name))))
    assert [dict(module.__dict__) for module in modules] == before
    assert torch.equal(torch.get_rng_state(), state), "random numbers of others go on as they were"
    assert not torch.backends.cuda.matmul.allow_tf32


def test_a_checkpoint_of_another_network_is_refused(folder: Path) -> None:
    import torch

    torch.save({"params": {"conv1.weight": torch.zeros(50, 1, 7, 7)}}, folder / "CNNIQA_koniq10k-e6f14c91.pth")
    with pytest.raises(Prerequisite, match="does not fit pyiqa's cnniqa"):
        adapter("cnniqa")(Item(Frame(pixels_for("cnniqa"))))


def test_clip_files_are_believed_by_their_checksum_only(folder: Path) -> None:
    (folder / "RN50.pt").write_bytes(b"not CLIP")
    with pytest.raises(Prerequisite, match=r"type: cbench weights fetch clip-rn50-openai$"):
        locate("clip-rn50-openai")


@pytest.mark.parametrize("name", ["cnniqa", "arniqa"])
def test_properties_that_hold_with_any_weights(name: str, folder: Path) -> None:
    random_network(network(name), folder)
    pixels = pixels_for(name)
    score = adapter(name)(Item(Frame(pixels)))
    odd = adapter(name)(Item(Frame(np.ascontiguousarray(pixels[:-3, :-7]))))
    grey = adapter(name)(Item(Frame(np.repeat(pixels.mean(2, keepdims=True).astype(np.uint8), 3, axis=2))))
    assert len({score, odd, grey}) == 3
    readings = adapter(name).measure([Item(Frame(pixels)), Item(Frame(pixels[:4, :4].copy())), Item(Frame(pixels))])
    assert [reading.value for reading in (readings[0], readings[2])] == [score, score]
    if network(name).smallest > 4:
        assert (readings[1].value, readings[1].status) == (None, "too-small")


def test_the_last_patches_do_not_count_for_wadiqam(folder: Path) -> None:
    random_network(network("wadiqam-nr"), folder)
    pixels = photograph("astronaut", 128, 96)
    spoilt = pixels.copy()
    spoilt[-32:], spoilt[:, -32:] = 0, 0
    assert adapter("wadiqam-nr")(Item(Frame(spoilt))) == adapter("wadiqam-nr")(Item(Frame(pixels)))


# --- the same machinery on weights that are real ------------------------------------------------------------


@pytest.mark.skipif(not REAL.is_dir(), reason="no real weights on this machine")
@pytest.mark.parametrize(
    ("name", "module", "file", "tolerance"),
    [
        ("brisque", "brisque_arch", "brisque_svm_weights.pth", 0.01),
        ("niqe", "niqe_arch", "niqe_modelparameters.mat", 0.005),
        ("piqe", "piqe_arch", "", 0.001),
        pytest.param("ilniqe", "niqe_arch", "ILNIQE_templateModel.mat", 0.1, marks=pytest.mark.slow),
    ],
)
def test_real_weights_give_the_published_scores(
    name: str, module: str, file: str, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PyiqaNetwork, "files", lambda _: {file: REAL / file} if file else {})
    _pyiqa.clear_cache()
    through = PyiqaNetwork(name, (module,))
    for image in NAMES:
        score = through.score(Item(Frame(calibration_pair(image)[1])))
        assert score == pytest.approx(published(f"{name}(ours)")[image], abs=tolerance)
    _pyiqa.clear_cache()
