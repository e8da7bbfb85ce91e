"""What is missing before a pipeline can run, each with a command. Downloads nothing and reads no weights."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from typing import Any

from convergebench.editors.diffusers import checkpoints
from convergebench.editors.diffusers.families import DiffusersModel, PipelineFamily
from convergebench.editors.diffusers.options import PipelineOptions
from convergebench.errors import StudyError

PACKAGES = ("torch", "diffusers", "transformers", "accelerate", "huggingface_hub")
INSTALL = "pip install 'convergebench[diffusers]'"


def lacks(name: str, model: DiffusersModel, family: PipelineFamily, options: PipelineOptions) -> list[str]:
    """Missing packages, else missing weights, else a missing device: each check needs the ones before."""
    return lacking_packages() or lacking_weights(name, model, family, options) or lacking_device(name, model, options)


def lacking_packages() -> list[str]:
    """Missing packages of the extra."""
    absent = [package for package in PACKAGES if find_spec(package) is None]
    return [f"{', '.join(absent)} missing: {INSTALL}"] if absent else []


def lacking_weights(name: str, model: DiffusersModel, family: PipelineFamily, options: PipelineOptions) -> list[str]:
    """Missing or wrong model files."""
    found = checkpoints.find(options.path or model.hub, options.revision)
    if found.folder is None:
        if not found.on_hub:
            return [f"there is no folder {found.name}: give the option path of '{name}' a folder or an id on the hub"]
        return [_fetch("weights missing", found, model)] if options.offline else []
    try:
        held = checkpoints.pipeline_class(found.folder)
        missing_files = checkpoints.missing(found.folder)
    except StudyError as error:
        return [str(error)]
    if held != family.pipeline:
        return [f"{found.folder} holds a {held or 'nameless pipeline'}, not a {family.pipeline}: give another path"]
    if not missing_files:
        return []
    some = ", ".join(missing_files[:3]) + (" …" if len(missing_files) > 3 else "")
    if found.commit is None:
        return [f"{found.folder} lacks {some}: save or copy the pipeline again"]
    return [_fetch(f"weights incomplete ({some})", found, model)] if options.offline else []


def lacking_device(name: str, model: DiffusersModel, options: PipelineOptions) -> list[str]:
    """A missing or too small GPU. Imports torch, so it is checked last."""
    if options.device == "cpu":
        return []
    found = checkpoints.find(options.path or model.hub, options.revision)
    need = model.gigabytes if found.folder is None else checkpoints.gigabytes(found.folder)
    memory = f"; the weights take {need:.3g} GB of its memory" if need else ""
    import torch

    device = choose_device(torch, options.device)
    if device is None:
        absent = "no GPU" if options.device in ("auto", "cuda", "mps") else f"no {options.device}"
        return [f"torch sees {absent} here{memory} (on the processor, slowly: the option device='cpu' of '{name}')"]
    if not device.startswith("cuda"):
        return []
    has = torch.cuda.get_device_properties(torch.device(device)).total_memory / 1e9
    if options.offload == "none" and need > has:
        return [
            f"{device} has {has:.3g} GB and the weights take {need:.3g}: set the option offload='model' of '{name}'"
        ]
    return []


def choose_device(torch: Any, requested: str) -> str | None:
    """The device in torch's notation; None if it does not exist."""
    if requested in ("auto", "cuda") and torch.cuda.is_available():
        return "cuda:0"
    if requested in ("auto", "mps"):
        return "mps" if torch.backends.mps.is_available() else None
    if requested.startswith("cuda:") and torch.cuda.is_available():
        return requested if int(requested[5:]) < torch.cuda.device_count() else None
    return "cpu" if requested == "cpu" else None


def device_description(requested: str) -> str:
    """The used device for the record; a GPU with its model, since models may round differently."""
    import torch

    device = choose_device(torch, requested) or "cpu"
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device


def _fetch(what: str, found: checkpoints.Checkpoint, model: DiffusersModel) -> str:
    terms: list[str] = []
    if found.name == model.hub and model.licence:
        terms = [f"about {model.gigabytes:.3g} GB", model.licence]
        terms += ["not for commercial use"] if model.noncommercial else []
        terms += ["accept its terms on its page and run hf auth login first"] if model.gated else []
    revision = f" --revision {shlex.quote(found.revision)}" if found.revision else ""
    # the repositories also hold each model as one large file that no pipeline reads
    command = f"hf download {found.name}{revision} --include '{checkpoints.INDEX}' --include '*/*'"
    return f"{what}: {command}" + (f" ({'; '.join(terms)})" if terms else "")
