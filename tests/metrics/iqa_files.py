"""Whole checkpoints with random numbers in them, laid out as pyiqa expects its own, for tests of the loading code."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np
import scipy.io

from convergebench.metrics.iqa._patched_loading import WeightFiles, patched_loading
from convergebench.metrics.iqa._pyiqa import PyiqaNetwork, _imported


def random_network(network: PyiqaNetwork, folder: Path, seed: int = 1) -> Any:
    """pyiqa's network with random weights; the files that hold them are left in the folder."""
    import torch

    modules = _imported(network)
    settings: Any = import_module("pyiqa.default_model_configs")
    registry: Any = import_module("pyiqa.utils.registry")
    options = dict(settings.DEFAULT_CONFIGS[network.name]["metric_opts"])
    folder.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        with patched_loading(modules, Writer(network, folder)):
            net = registry.ARCH_REGISTRY.get(options.pop("type"))(**options)
    return net.eval()


class Writer(WeightFiles):
    """Writes each requested file from the network's current parameters."""

    def __init__(self, network: PyiqaNetwork, folder: Path) -> None:
        super().__init__(network.name, {}, network.overwritten)
        self.out = folder

    def path(self, url: str, *_: object, **__: object) -> str:
        path = self.out / Path(urlparse(url).path).name
        if not path.exists():
            MAKERS[path.name](path)
        return str(path)

    def fill(self, net: Any, url: str, strict: bool = True, weight_keys: str | None = None) -> None:
        import torch

        name = Path(urlparse(url).path).name
        if name not in self.overwritten:
            state = net.state_dict()
            torch.save(state if weight_keys is None else {weight_keys: state}, self.out / name)


def _encoder(path: Path) -> None:
    """ARNIQA's: a ResNet-50 without its last layer, its keys numbered, and the projection that is left out later."""
    import torch

    resnet: Any = import_module("torchvision").models.resnet50(weights=None)
    trunk = torch.nn.Sequential(*list(resnet.children())[:-1])
    state = {f"model.{key}": value for key, value in trunk.state_dict().items()}
    torch.save({**state, "projector.0.weight": torch.zeros(2)}, path)


def _archive(net: Any, example: Any, path: Path) -> None:
    script: Any = import_module("torch").jit
    script.trace(net, example, check_trace=False).save(str(path))


def _regressor(path: Path) -> None:
    import torch

    _archive(torch.nn.Linear(4096, 1), torch.zeros(1, 4096), path)


def _clip(path: Path) -> None:
    """OpenAI's files are TorchScript archives; so is this one, of a CLIP small enough for a test."""
    import torch

    parts: Any = import_module("pyiqa.archs.clip_model")
    vision = ((1, 1, 1, 1), 8, None) if path.name.startswith("RN50") else (1, 64, 32)
    small = parts.CLIP(64, 224, *vision, 77, 49408, 64, 1, 1).eval()
    for parameter in small.parameters():
        parameter.copy_(parameter.half().float())  # half is how the real ones are kept
    words = torch.zeros(1, 77, dtype=torch.long)
    _archive(small, (torch.rand(1, 3, 224, 224), words), path)


def _qualiclip(path: Path) -> None:
    import torch

    script: Any = torch.jit
    clip = script.load(path.parent / "RN50.pt").state_dict()
    shaken = {f"clip_model.{key}": value * 1.01 if value.is_floating_point() else value for key, value in clip.items()}
    torch.save({**shaken, "prompts_features": torch.nn.functional.normalize(torch.randn(14, 64))}, path)


def _forests(path: Path) -> None:
    """NRQM's: three forests of five stumps each, in the fields that MATLAB wrote."""
    random = np.random.default_rng(7)
    cells = np.empty((1, 3), object)
    for index, columns in enumerate((9, 45, 25)):
        trees = 5
        left, right = np.tile([[2], [0], [0]], (1, trees)), np.tile([[3], [0], [0]], (1, trees))
        cells[0, index] = {
            "ldau": left,
            "rdau": right,
            "ndbsize": np.zeros((1, 1)),
            "mtree": np.zeros((1, 1)),
            "upper": random.uniform(0, 1, (3, trees)),
            "avnode": random.uniform(0, 10, (3, trees)),
            "mbest": random.integers(1, columns + 1, (3, trees)),
        }
    scipy.io.savemat(path, {"model": {"linear": np.array([[0.5], [0.3], [0.3], [0.3]]), "rf": cells}})


def _pristine(path: Path) -> None:
    random = np.random.default_rng(8)
    roots = random.normal(size=(36, 40))
    scipy.io.savemat(path, {"mu_prisparam": random.uniform(0, 2, (1, 36)), "cov_prisparam": roots @ roots.T})


MAKERS = {
    "ARNIQA.pth": _encoder,
    "regressor_koniq10k.pth": _regressor,
    "RN50.pt": _clip,
    "ViT-B-32.pt": _clip,
    "QualiCLIP.pth": _qualiclip,
    "NRQM_model.mat": _forests,
    "niqe_modelparameters.mat": _pristine,
}
