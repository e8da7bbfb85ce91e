"""Building pyiqa's networks from files that are already here and checked.

Left to itself pyiqa downloads what it wants, believes a file by its name, reads it as a pickle that may run code, and
first fetches an ImageNet backbone which its own checkpoint then overwrites. While one of its networks is built, the
loading functions that its module calls are exchanged for those below. They hand out verified files, read them as
tensors alone and fill the network strictly, every parameter or none. Backbones start empty. Afterwards everything is
put back: other code that uses pyiqa in the same process sees it as it was, and no cache of torch is read or written.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

from convergebench.errors import Prerequisite
from convergebench.weights.loading import torch_state

CLIP_FILES = {"RN50": "RN50.pt", "ViT-B/32": "ViT-B-32.pt"}
_BACKBONES = ("resnet18", "resnet50", "vgg16")


class Overlay:
    """A module (or class) with a few attributes exchanged."""

    def __init__(self, base: Any, **exchanged: Any) -> None:
        self.__dict__.update(exchanged)
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


class Desk:
    """Hands out the files of one network, and knows in the end whether each was used."""

    def __init__(
        self, name: str, files: Mapping[str, Path], overwritten: Sequence[str] = (), folder: Path | None = None
    ):
        self.name = name
        self.files = files
        self.overwritten = overwritten
        self.folder = folder
        self.used: set[str] = set()

    def path(self, url: str, *_: object, **__: object) -> str:
        """In place of a download: where the file of that address lies."""
        file = Path(urlparse(url).path).name
        if file not in self.files:
            raise Prerequisite(
                f'{self.name}: this pyiqa wants the unknown file {file}; pip install "convergebench[iqa]"'
            )
        self.used.add(file)
        return str(self.files[file])

    def state(self, url: str, *_: object, **__: object) -> dict[str, Any]:
        """In place of a download and a pickle: the tensors of the file."""
        return torch_state(Path(self.path(url)))

    def fill(self, net: Any, url: str, strict: bool = True, weight_keys: str | None = None) -> None:
        """In place of pyiqa's loader, which reads pickles: every parameter from the file, or an error."""
        if Path(urlparse(url).path).name in self.overwritten:
            return
        state: Any = self.state(url)
        if weight_keys is not None:
            state = state.get(weight_keys, {})
        state = {key.removeprefix("module."): value for key, value in state.items()}
        try:
            net.load_state_dict(state, strict=True)
        except (RuntimeError, AttributeError) as error:
            why = " ".join(str(error).split())[:160]
            raise Prerequisite(f"{self.path(url)} does not fit pyiqa's {self.name} ({why})") from error

    def clip(self, load: Callable[..., Any]) -> Callable[..., Any]:
        """In place of a download by name: pyiqa's own reader of OpenAI's archives, on the file that is here."""

        def from_file(name: str, device: str = "cpu", **_: object) -> Any:
            return load(self.path(CLIP_FILES[name]), device)

        return from_file

    def whole(self) -> None:
        """No network may run on parameters that came from nowhere."""
        unused = set(self.files) - self.used
        if unused and self.folder is None:
            raise Prerequisite(
                f"{self.name}: pyiqa did not read {', '.join(sorted(unused))}; it is not the one expected"
            )


@contextmanager
def stand_ins(modules: Sequence[ModuleType], desk: Desk) -> Iterator[None]:
    """Exchange the loading functions of these modules of pyiqa for a while."""
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before: list[tuple[ModuleType, str, Any]] = []
        try:
            for module in modules:
                for name, stand_in in _for(module, desk, scratch).items():
                    before.append((module, name, module.__dict__.get(name, before)))
                    setattr(module, name, stand_in)
            yield
        finally:
            for module, name, was in reversed(before):
                if was is before:
                    delattr(module, name)
                else:
                    setattr(module, name, was)


def _for(module: ModuleType, desk: Desk, scratch: str) -> dict[str, Any]:
    """What this module uses of all that must be exchanged."""
    import torch

    has = module.__dict__
    exchanged: dict[str, Any] = {"print": lambda *_, **__: None}
    plain = {"load_pretrained_network": desk.fill, "load_file_from_url": desk.path, "DEFAULT_CACHE_DIR": scratch}
    exchanged |= {name: value for name, value in plain.items() if name in has}
    if "timm" in has:
        exchanged["timm"] = Overlay(has["timm"], create_model=_unfilled(has["timm"].create_model))
    for alias in ("torchvision", "tv"):
        if alias in has:
            exchanged[alias] = Overlay(has[alias], models=_unfilled_models(has[alias].models))
    if "models" in has:
        exchanged["models"] = _unfilled_models(has["models"])
    if "torch" in has:
        exchanged["torch"] = Overlay(torch, hub=Overlay(torch.hub, load_state_dict_from_url=desk.state))
    if has.get("load") is not None and has["load"].__module__.endswith("clip_model"):
        exchanged["load"] = desk.clip(has["load"])
    if "RoIPool" in has and not hasattr(torch.ops.torchvision, "roi_pool"):
        from convergebench.metrics.iqa._roi_pool import whole_image_pool

        exchanged["RoIPool"] = whole_image_pool
    if desk.folder is not None:
        readers = ("LlamaTokenizer", "CLIPImageProcessor", *(("MPLUGOwl2LlamaForCausalLM",) if "QAlign" in has else ()))
        exchanged |= {name: _from_folder(has[name], desk.folder) for name in readers if name in has}
    return exchanged


def _unfilled(create: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: create(*arguments, **{**options, "pretrained": False})


def _unfilled_models(models: Any) -> Overlay:
    def bare(build: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *_, **__: build(weights=None)

    return Overlay(models, **{name: bare(getattr(models, name)) for name in _BACKBONES})


def _from_folder(reader: Any, folder: Path) -> Overlay:
    """A transformers class that reads this folder whatever repository it is asked for, and runs no code from it."""

    def from_pretrained(_: str, **options: Any) -> Any:
        return reader.from_pretrained(str(folder), **{**options, "trust_remote_code": False, "local_files_only": True})

    return Overlay(reader, from_pretrained=from_pretrained)
