"""Options of local pipelines, checked before anything is loaded.

`identity` gives the settings that change answers and so enter the fingerprint. The device, offloading and the path of a
folder do not. The number of samples per call does: another shape selects another kernel, which changes the last bit
(`python -m benchmarks.pipelines` measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from convergebench.documents import Strict, check_document
from convergebench.editors.diffusers.families import FAMILIES, DiffusersModel, PipelineFamily
from convergebench.errors import StudyError
from convergebench.registry import suggest

Dtype = Literal["bfloat16", "float16", "float32"]
Offload = Literal["none", "model", "sequential"]
Area = Annotated[int, Field(ge=16 * 16, le=4096 * 4096)]
Scale = Annotated[float, Field(ge=0, le=100)]
Length = Annotated[int, Field(ge=1, le=4096)]

MEGAPIXEL = 1024 * 1024
_PLACES = ("device", "offload", "offline", "path", "revision")


class PipelineOptions(Strict):
    """Options of every family."""

    path: str | None = None
    """A folder, or another id on the hub."""
    revision: str | None = None
    """A branch, tag or commit on the hub."""
    steps: Annotated[int, Field(ge=1, le=1000)]
    dtype: Dtype | None = None
    """None: float32 on the CPU, bfloat16 elsewhere."""
    device: str = "auto"
    """`auto` is a GPU; the CPU must be requested."""
    offload: Offload = "none"
    """Weights stay in main memory and move to the GPU model by model, or layer by layer."""
    batch: Annotated[int, Field(ge=1, le=64)] = 1
    """Samples per call on a GPU."""
    offline: bool = True
    """False: missing files are downloaded from the hub at the first call."""

    @field_validator("device")
    @classmethod
    def _known_device(cls, device: str) -> str:
        kind, colon, number = device.partition(":")
        numbered = kind == "cuda" and number.isascii() and number.isdecimal()
        if device not in ("auto", "cpu", "cuda", "mps") and not (colon and numbered):
            raise ValueError("give auto, cpu, cuda, cuda:1 or mps")
        return device

    @model_validator(mode="after")
    def _offload_needs_a_gpu(self) -> PipelineOptions:
        if self.offload != "none" and self.device == "cpu":
            raise ValueError("offload moves weights off a GPU; leave it out with device 'cpu'")
        return self

    @property
    def precision(self) -> Dtype:
        """Type of weights and features."""
        return self.dtype or ("float32" if self.device == "cpu" else "bfloat16")

    @property
    def batch_size(self) -> int:
        """Samples per call; always one on a CPU, for reproducibility: see `calling`."""
        return 1 if self.device == "cpu" else self.batch

    def identity(self) -> dict[str, Any]:
        """The settings that change answers."""
        settings = self.model_dump(mode="json", exclude=set(_PLACES))
        return {**settings, "dtype": self.precision, "batch": self.batch_size}


class KontextOptions(PipelineOptions):
    """FLUX.1 Kontext."""

    guidance: Scale
    max_sequence_length: Length = 512
    max_area: Area = MEGAPIXEL
    """Most pixels of an answer."""
    auto_resize: bool = True
    """Resize the input to one of the sizes that the model was trained with."""
    negative_prompt: str | None = None
    true_cfg: Scale = 1.0

    @model_validator(mode="after")
    def _both_or_neither(self) -> KontextOptions:
        _true_guidance(self.negative_prompt, self.true_cfg)
        return self


class Flux2Options(PipelineOptions):
    """FLUX.2 and FLUX.2 klein."""

    guidance: Scale
    max_sequence_length: Length = 512
    max_area: Annotated[int, Field(ge=16 * 16, le=MEGAPIXEL)] = MEGAPIXEL
    """Larger inputs are answered at this many pixels; the pipeline uses at most a megapixel of the input."""
    text_encoder_out_layers: tuple[int, ...] | None = None
    """Layers of the text encoder to use; None: those of the published models."""


class QwenOptions(PipelineOptions):
    """Qwen-Image-Edit, with one image or several."""

    negative_prompt: str | None = " "
    """None: no classifier-free guidance."""
    true_cfg: Scale = 4.0
    max_sequence_length: Annotated[int, Field(ge=1, le=1024)] = 512
    max_area: Area = MEGAPIXEL

    @model_validator(mode="after")
    def _both_or_neither(self) -> QwenOptions:
        _true_guidance(self.negative_prompt, self.true_cfg)
        return self


class InstructPix2PixOptions(PipelineOptions):
    """InstructPix2Pix."""

    guidance: Scale
    image_guidance: Annotated[float, Field(ge=1, le=100)] = 1.5
    negative_prompt: str | None = None


_MODELS: Mapping[str, type[PipelineOptions]] = {
    "flux-kontext": KontextOptions,
    "flux-2": Flux2Options,
    "flux-2-klein": Flux2Options,
    "qwen-edit": QwenOptions,
    "qwen-edit-plus": QwenOptions,
    "instruct-pix2pix": InstructPix2PixOptions,
}


def read_options(name: str, model: DiffusersModel, given: Mapping[str, Any]) -> PipelineOptions:
    """Check the options and add the model's defaults; an error is a one-line `StudyError`."""
    family = FAMILIES[model.family]
    defaults = {"steps": model.steps} | ({} if model.guidance is None else {"guidance": model.guidance})
    options = check_document({**defaults, **given}, _MODELS[family.name], where=f"editor '{name}'")
    if options.batch > 1 and family.batching == "alone":
        raise StudyError(f"editor '{name}': {family.pipeline} takes one image at a time; leave 'batch' at 1")
    return options


def read_family(name: str, given: Mapping[str, Any]) -> PipelineFamily:
    """The family that the options of the generic editor name."""
    family = given.get("family")
    known = ", ".join(FAMILIES)
    if family is None or given.get("path") is None:
        raise StudyError(f"editor '{name}' needs the options 'family' ({known}) and 'path' (a folder or a hub id)")
    if family not in FAMILIES:
        raise StudyError(f"editor '{name}': unknown family {family!r}{suggest(str(family), FAMILIES)} (known: {known})")
    return FAMILIES[family]


def _true_guidance(negative: str | None, scale: float) -> None:
    # the pipelines only log a warning and run without guidance
    if negative is not None and scale <= 1:
        raise ValueError(f"negative_prompt has no effect with true_cfg {scale:g}; give a true_cfg above 1, or neither")
    if negative is None and scale > 1:
        raise ValueError(
            f"true_cfg {scale:g} has no effect without a negative_prompt; give one (' ' will do), or neither"
        )
