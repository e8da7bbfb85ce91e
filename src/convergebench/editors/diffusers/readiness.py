"""What is missing before a pipeline can run here, each with what to type. Nothing is fetched, and no weight is read."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from typing import Any

from convergebench.editors.diffusers import checkpoints
from convergebench.editors.diffusers.families import Family, Model
from convergebench.editors.diffusers.options import Common
from convergebench.errors import StudyError

PACKAGES = ("torch", "diffusers", "transformers", "accelerate", "huggingface_hub")
INSTALL = "pip install 'convergebench[diffusers]'"


def lacks(name: str, model: Model, family: Family, options: Common) -> list[str]:
    """The first kind of thing that is missing; a later one can only be told when the earlier ones are there."""
    return lacking_packages() or lacking_weights(name, model, family, options) or lacking_device(name, model, options)


def lacking_packages() -> list[str]:
    """Packages of the extra."""
    absent = [package for package in PACKAGES if find_spec(package) is None]
    return [f"{', '.join(absent)} missing: {INSTALL}"] if absent else []


def lacking_weights(name: str, model: Model, family: Family, options: Common) -> list[str]:
    """The model's files."""
    found = checkpoints.find(options.path or model.hub, options.revision)
    if found.folder is None:
        if not found.on_hub:
            return [f"there is no folder {found.name}: give the option path of '{name}' a folder or an id on the hub"]
        return [_fetch("weights missing", found, model)] if options.offline else []
    try:
        held = checkpoints.pipeline_class(found.folder)
        gone = checkpoints.missing(found.folder)
    except StudyError as error:
        return [str(error)]
    if held != family.pipeline:
        return [f"{found.folder} holds a {held or 'nameless pipeline'}, not a {family.pipeline}: give another path"]
    if not gone:
        return []
    some = ", ".join(gone[:3]) + (" …" if len(gone) > 3 else "")
    if found.commit is None:
        return [f"{found.folder} lacks {some}: save or copy the pipeline again"]
    return [_fetch(f"weights incomplete ({some})", found, model)] if options.offline else []


def lacking_device(name: str, model: Model, options: Common) -> list[str]:
    """A GPU, or one that is large enough. Imports torch, so it is asked last."""
    if options.device == "cpu":
        return []
    found = checkpoints.find(options.path or model.hub, options.revision)
    need = model.gigabytes if found.folder is None else checkpoints.gigabytes(found.folder)
    memory = f"; the weights take {need:.3g} GB of its memory" if need else ""
    import torch

    device = choose_device(torch, options.device)
    if device is None:
        wanted = "no GPU" if options.device in ("auto", "cuda", "mps") else f"no {options.device}"
        return [f"torch sees {wanted} here{memory} (on the processor, slowly: the option device='cpu' of '{name}')"]
    if not device.startswith("cuda"):
        return []
    has = torch.cuda.get_device_properties(torch.device(device)).total_memory / 1e9
    if options.offload == "none" and need > has:
        return [
            f"{device} has {has:.3g} GB and the weights take {need:.3g}: set the option offload='model' of '{name}'"
        ]
    return []


def choose_device(torch: Any, wanted: str) -> str | None:
    """The device as torch calls it; None if it is not here."""
    if wanted in ("auto", "cuda") and torch.cuda.is_available():
        return "cuda:0"
    if wanted in ("auto", "mps"):
        return "mps" if torch.backends.mps.is_available() else None
    if wanted.startswith("cuda:") and torch.cuda.is_available():
        return wanted if int(wanted[5:]) < torch.cuda.device_count() else None
    return "cpu" if wanted == "cpu" else None


def device_in_words(wanted: str) -> str:
    """The device that is used, for the record; of a GPU its kind too, since two kinds need not round alike."""
    import torch

    device = choose_device(torch, wanted) or "cpu"
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device


def _fetch(what: str, found: checkpoints.Checkpoint, model: Model) -> str:
    terms: list[str] = []
    if found.name == model.hub and model.licence:
        terms = [f"about {model.gigabytes:.3g} GB", model.licence]
        terms += ["not for commercial use"] if model.noncommercial else []
        terms += ["accept its terms on its page and run hf auth login first"] if model.gated else []
    revision = f" --revision {shlex.quote(found.revision)}" if found.revision else ""
    # the repositories hold each model a second time in one large file that no pipeline reads
    command = f"hf download {found.name}{revision} --include '{checkpoints.INDEX}' --include '*/*'"
    return f"{what}: {command}" + (f" ({'; '.join(terms)})" if terms else "")
