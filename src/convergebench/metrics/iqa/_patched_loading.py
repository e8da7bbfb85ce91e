"""Build pyiqa's networks from local, verified files.

By default pyiqa downloads files, trusts them by name, reads them as pickles that may run code, and first fetches an
ImageNet backbone which its own checkpoint then overwrites. While one of its networks is built, the loading functions
that its module calls are replaced by those below. They return verified files, read them as tensors only and fill the
network strictly, every parameter or none. Backbones start uninitialised. Afterwards everything is restored: other code
that uses pyiqa in the same process is not affected, and torch's cache is neither read nor written.
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


class PatchedModule:
    """A module (or class) with a few attributes replaced."""

    def __init__(self, base: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced)
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


class WeightFiles:
    """The weight files of one network, and which of them were read."""

    def __init__(
        self, name: str, files: Mapping[str, Path], overwritten: Sequence[str] = (), folder: Path | None = None
    ):
        self.name = name
        self.files = files
        self.overwritten = overwritten
        self.folder = folder
        self.used: set[str] = set()

    def path(self, url: str, *_: object, **__: object) -> str:
        """Replaces a download: the path of the local file for that URL."""
        file = Path(urlparse(url).path).name
        if file not in self.files:
            raise Prerequisite(
                f'{self.name}: this pyiqa requests the unknown file {file}; pip install "convergebench[iqa]"'
            )
        self.used.add(file)
        return str(self.files[file])

    def state(self, url: str, *_: object, **__: object) -> dict[str, Any]:
        """Replaces a download and a pickle: the tensors of the file."""
        return torch_state(Path(self.path(url)))

    def fill(self, net: Any, url: str, strict: bool = True, weight_keys: str | None = None) -> None:
        """Replaces pyiqa's loader, which reads pickles: every parameter from the file, or an error."""
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
        """Replaces a download by name: pyiqa's own reader of OpenAI's archives, on the local file."""

        def from_file(name: str, device: str = "cpu", **_: object) -> Any:
            return load(self.path(CLIP_FILES[name]), device)

        return from_file

    def require_all_read(self) -> None:
        """Raise `Prerequisite` if pyiqa did not read all of the files: some parameters would be random."""
        unused = set(self.files) - self.used
        if unused and self.folder is None:
            raise Prerequisite(
                f"{self.name}: pyiqa did not read {', '.join(sorted(unused))}; it is not the expected version"
            )


@contextmanager
def patched_loading(modules: Sequence[ModuleType], files: WeightFiles) -> Iterator[None]:
    """Replace the loading functions of these pyiqa modules inside a `with` block."""
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before: list[tuple[ModuleType, str, Any]] = []
        try:
            for module in modules:
                for name, replacement in _replacements(module, files, scratch).items():
                    before.append((module, name, module.__dict__.get(name, before)))
                    setattr(module, name, replacement)
            yield
        finally:
            for module, name, was in reversed(before):
                if was is before:
                    delattr(module, name)
                else:
                    setattr(module, name, was)


def _replacements(module: ModuleType, files: WeightFiles, scratch: str) -> dict[str, Any]:
    """The replacements for those loading functions that this module uses."""
    import torch

    has = module.__dict__
    replaced: dict[str, Any] = {"print": lambda *_, **__: None}
    plain = {"load_pretrained_network": files.fill, "load_file_from_url": files.path, "DEFAULT_CACHE_DIR": scratch}
    replaced |= {name: value for name, value in plain.items() if name in has}
    if "timm" in has:
        replaced["timm"] = PatchedModule(has["timm"], create_model=_unfilled(has["timm"].create_model))
    for alias in ("torchvision", "tv"):
        if alias in has:
            replaced[alias] = PatchedModule(has[alias], models=_unfilled_models(has[alias].models))
    if "models" in has:
        replaced["models"] = _unfilled_models(has["models"])
    if "torch" in has:
        replaced["torch"] = PatchedModule(torch, hub=PatchedModule(torch.hub, load_state_dict_from_url=files.state))
    if has.get("load") is not None and has["load"].__module__.endswith("clip_model"):
        replaced["load"] = files.clip(has["load"])
    if "RoIPool" in has and not hasattr(torch.ops.torchvision, "roi_pool"):
        from convergebench.metrics.iqa._roi_pool import whole_image_pool

        replaced["RoIPool"] = whole_image_pool
    if files.folder is not None:
        readers = ("LlamaTokenizer", "CLIPImageProcessor", *(("MPLUGOwl2LlamaForCausalLM",) if "QAlign" in has else ()))
        replaced |= {name: _from_folder(has[name], files.folder) for name in readers if name in has}
    return replaced


def _unfilled(create: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: create(*arguments, **{**options, "pretrained": False})


def _unfilled_models(models: Any) -> PatchedModule:
    def bare(build: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *_, **__: build(weights=None)

    return PatchedModule(models, **{name: bare(getattr(models, name)) for name in _BACKBONES})


def _from_folder(reader: Any, folder: Path) -> PatchedModule:
    """A transformers class that reads this folder for any repository name, and runs no code from it."""

    def from_pretrained(_: str, **options: Any) -> Any:
        return reader.from_pretrained(str(folder), **{**options, "trust_remote_code": False, "local_files_only": True})

    return PatchedModule(reader, from_pretrained=from_pretrained)
