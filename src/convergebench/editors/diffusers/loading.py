"""Loads a pipeline from a folder onto its device. Every failure is a one-line error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from convergebench.editors.diffusers import checkpoints, processors, readiness, references
from convergebench.editors.diffusers.families import DiffusersModel, PipelineFamily
from convergebench.editors.diffusers.options import PipelineOptions
from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError, Unavailable
from convergebench.metrics.torchvision_repair import ensure_torchvision


def load(name: str, model: DiffusersModel, family: PipelineFamily, options: PipelineOptions) -> Any:
    """The loaded pipeline. Downloads only if the options allow it."""
    if lacking := readiness.lacks(name, model, family, options):
        raise Prerequisite(f"editor '{name}': {lacking[0]}")
    with suppress(ImportError):  # optional; a broken one would break transformers
        ensure_torchvision()
    try:
        with _quiet():
            return _load(name, model, family, options)
    except ConvergeBenchError:
        raise
    except Exception as error:
        if out_of_memory(error):
            raise Unavailable(
                f"editor '{name}' does not fit into GPU memory; set its option offload='model'"
            ) from error
        raise Prerequisite(f"editor '{name}' cannot be loaded: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """The first line of the message that is not empty."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]


def out_of_memory(error: BaseException) -> bool:
    """Whether the GPU ran out of memory; backends other than CUDA raise a RuntimeError with that text."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error).lower()


def _load(name: str, model: DiffusersModel, family: PipelineFamily, options: PipelineOptions) -> Any:
    import diffusers
    import torch

    pipeline_class = getattr(diffusers, family.pipeline, None)
    if pipeline_class is None:
        installed = f"diffusers {diffusers.__version__}"
        raise Prerequisite(f"editor '{name}': {installed} has no {family.pipeline}: {readiness.INSTALL}")
    folder = _folder(pipeline_class, model, options)
    if (held := checkpoints.pipeline_class(folder)) != family.pipeline:
        raise StudyError(f"{folder} holds a {held}, not a {family.pipeline}: give editor '{name}' another path")
    own = [part for part in (family.tokenizer, family.processor) if part]
    # torch_dtype is the older name
    word = "dtype" if _version(diffusers.__version__) >= (0, 42) else "torch_dtype"
    arguments: dict[str, Any] = {word: getattr(torch, options.precision), **dict.fromkeys(own)}
    pipeline = pipeline_class.from_pretrained(str(folder), local_files_only=True, **arguments)
    if getattr(pipeline.config, "is_distilled", False) and getattr(options, "guidance", 0) > 1:
        raise StudyError(f"editor '{name}': a distilled model has no guidance; leave 'guidance' out or set it to 1")
    if family.tokenizer:
        pipeline.register_modules(tokenizer=processors.text_tokenizer(folder / family.tokenizer))
    if family.processor:
        pipeline.register_modules(processor=processors.image_text_processor(folder / family.processor))
    if family.batching == "references":
        references.batch_references(pipeline)
    pipeline.set_progress_bar_config(disable=True)
    _place(pipeline, readiness.choose_device(torch, options.device) or "cpu", options.offload)
    return pipeline


def _folder(pipeline_class: Any, model: DiffusersModel, options: PipelineOptions) -> Path:
    found = checkpoints.find(options.path or model.hub, options.revision)
    if found.folder is not None and not checkpoints.missing(found.folder):
        return found.folder
    return Path(pipeline_class.download(found.name, revision=found.revision))


def _place(pipeline: Any, device: str, offload: str) -> None:
    if offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    elif offload == "sequential":
        pipeline.enable_sequential_cpu_offload(device=device)
    else:
        pipeline.to(device)


def _version(text: str) -> tuple[int, int]:
    major, minor, *_ = text.split(".")
    return int(major), int(minor)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the libraries' output while they load."""
    from diffusers.utils import logging as diffusers_logging
    from transformers.utils import logging as transformers_logging

    rooms: tuple[Any, ...] = (diffusers_logging, transformers_logging)
    before = [(room, room.get_verbosity(), room.is_progress_bar_enabled()) for room in rooms]
    try:
        for room in rooms:
            room.set_verbosity_error()
            room.disable_progress_bar()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for room, level, bars in before:
            room.set_verbosity(level)
            if bars:
                room.enable_progress_bar()
