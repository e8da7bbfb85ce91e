"""Servers with OpenAI's `/v1/images/edits` interface, each in its own dialect.

The dialects are data (`SERVERS`): the fields for image and seed, and the supported options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, image_in
from convergebench.editors.providers.own_server import OwnServerEditor, size_in_steps
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.errors import BadReply, StudyError
from convergebench.ids import canonical
from convergebench.types import Edited, EditRequest
from convergebench.wire.raw import truncated, without_images

OPENING_TAG, CLOSING_TAG = "<sd_cpp_extra_args>", "</sd_cpp_extra_args>"
"""stable-diffusion.cpp reads options that OpenAI has no field for from the prompt, and then removes them."""


@dataclass(frozen=True, slots=True)
class ServerDialect:
    """The request format of one kind of server."""

    image: Literal["image", "image[]"] = "image"
    size: str = "auto"
    """Default size: a word of the server's, or `input` for the image's own size."""
    multiple: int = 16
    """Sides that are sent are multiples of this."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Sent with every call."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Option (and `seed`) → form field; inside the prompt → a path into its JSON."""
    in_prompt: bool = False
    """Options are sent in the prompt."""


_DIFFUSION = {
    "seed": "seed",
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "true_cfg": "true_cfg_scale",
    "negative_prompt": "negative_prompt",
}
_AS_PNG = {"response_format": "b64_json", "output_format": "png"}

SERVERS: dict[str, ServerDialect] = {
    "vllm-omni": ServerDialect(size="input", fixed=_AS_PNG, options={**_DIFFUSION, "strength": "strength"}),
    "sglang": ServerDialect(size="input", fixed={**_AS_PNG, "enhance_prompt": "false"}, options=_DIFFUSION),
    # otherwise it answers with addresses on itself
    "xinference": ServerDialect(size="original", fixed={"response_format": "b64_json"}),
    "stable-diffusion.cpp": ServerDialect(
        image="image[]",
        size="input",
        fixed={"output_format": "png"},
        options={
            "seed": "seed",
            "steps": "sample_params.sample_steps",
            "guidance": "sample_params.guidance.distilled_guidance",
            "true_cfg": "sample_params.guidance.txt_cfg",
            "negative_prompt": "negative_prompt",
            "strength": "strength",
        },
        in_prompt=True,
    ),
    "plain": ServerDialect(),
}

_RESERVED = ("prompt", "image", "image[]", "model", "n", "size", "seed")
"""Fields that `extra` must not touch."""


class CompatibleOptions(RemoteOptions):
    """Optional arguments of a call, if the server supports them."""

    server: Literal["vllm-omni", "sglang", "xinference", "stable-diffusion.cpp", "plain"] = "plain"
    size: Annotated[str, StringConstraints(pattern=r"^([a-z]+|\d+x\d+)$")] | None = None
    """`input`: the image's own; `auto` or another word of the server's; `1024x768`; unset: the server's default."""
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    guidance: Annotated[float, Field(ge=0, le=100)] | None = None
    true_cfg: Annotated[float, Field(ge=0, le=100)] | None = None
    negative_prompt: str | None = None
    strength: Annotated[float, Field(ge=0, le=1)] | None = None
    extra: dict[str, str | int | float] = Field(default_factory=dict)
    """Further form fields, sent as they are."""


CHOICES = ("steps", "guidance", "true_cfg", "negative_prompt", "strength")


class CompatibleEditor(OwnServerEditor):
    """Any model behind an OpenAI-compatible `/v1/images/edits`."""

    Options = CompatibleOptions
    provider = "compatible"
    example = "http://127.0.0.1:8091/v1"
    options: CompatibleOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self._server = SERVERS[self.options.server]
        self._require_supported()
        self.capabilities = replace(self.capabilities, seed="seed" in self._server.options)

    async def edit(self, request: EditRequest) -> Edited:
        """One multipart request; the reply holds the image or its address."""
        used = self._used(request)
        data, mime = self.sendable(request)
        form = {"prompt": self._prompt(request, used), "model": self.model.wire_id, "n": "1", **self._form(used)}
        files = {self._server.image: (f"image.{mime.partition('/')[2]}", data, mime)}
        answer = await self._wire.send("POST", "/images/edits", data=form, files=files)
        price = self.price(request)
        body = self.read(answer, price)
        raw = without_images(body)
        image, mime = self.received(await self._image(body, raw, price), raw=raw, dollars=price)
        thought = body.get("cot_output")
        reasoning = truncated(thought) if isinstance(thought, str) and thought.strip() else None
        return Edited(image, mime, self.model.wire_id, price, reasoning=reasoning, raw=raw, used=used)

    def _require_supported(self) -> None:
        """`StudyError` for an option that the server would ignore."""
        known, chosen = self._server.options, self.options
        for option in CHOICES:
            if getattr(chosen, option) is not None and option not in known:
                able = ", ".join(one for one in known if one != "seed") or "none of these options"
                raise StudyError(
                    f"editor '{self.name}': server '{chosen.server}' takes no {option} (it takes: {able}); leave it "
                    "out, or send a field of the server's own with extra = { FIELD = VALUE }"
                )
        taken = [one for one in chosen.extra if one in _RESERVED or one in known.values() or one in self._server.fixed]
        if taken:
            raise StudyError(f"editor '{self.name}': the field '{taken[0]}' is already set; leave it out of extra")

    def _used(self, request: EditRequest) -> dict[str, Any]:
        """All arguments except instruction and image, by option name."""
        used: dict[str, Any] = {"server": self.options.server, "size": self._size(request.image)}
        if self.capabilities.seed:
            used["seed"] = request.seed
        chosen = {option: getattr(self.options, option) for option in CHOICES}
        return {
            **used,
            **{option: value for option, value in chosen.items() if value is not None},
            **self.options.extra,
        }

    def _size(self, image: bytes) -> str:
        size = self.options.size or self._server.size
        if size != "input":
            return size
        return "{}x{}".format(*size_in_steps(image, self._server.multiple))

    def _form(self, used: Mapping[str, Any]) -> dict[str, str]:
        """The form fields, without those that are sent in the prompt."""
        fields = {} if self._server.in_prompt else self._server.options
        chosen = {fields[option]: str(value) for option, value in used.items() if option in fields}
        extra = {name: str(value) for name, value in self.options.extra.items()}
        return {"size": str(used["size"]), **self._server.fixed, **chosen, **extra}

    def _prompt(self, request: EditRequest, used: Mapping[str, Any]) -> str:
        if not self._server.in_prompt:
            return request.instruction
        inside: dict[str, Any] = {}
        for option, path in self._server.options.items():
            if option in used:
                *parents, last = path.split(".")
                table = inside
                for parent in parents:
                    table = table.setdefault(parent, {})
                table[last] = used[option]
        return f"{request.instruction} {OPENING_TAG}{canonical(inside)}{CLOSING_TAG}"

    async def _image(self, body: Mapping[str, Any], raw: str, price: float) -> bytes:
        """The first image: from base64 in the reply, or from an address that it names."""
        listed = body.get("data")
        first = listed[0] if isinstance(listed, list) and listed else None
        if not isinstance(first, dict):
            raise BadReply(f"{self.name} answered without an image", raw=raw, dollars=price, unsettled=not price)
        inline, address = first.get("b64_json"), first.get("url")
        if isinstance(inline, str) and inline:
            return image_in(inline, who=self.name, raw=raw, dollars=price)
        if not isinstance(address, str) or not address:
            raise BadReply(f"{self.name} answered without an image", raw=raw, dollars=price, unsettled=not price)
        try:
            return await image_at(self._wire, address, who=self.name, raw=raw, dollars=price)
        except ValueError as error:  # an invalid address cannot be parsed
            message = f"{self.name} names an image without an address"
            raise BadReply(message, raw=raw, dollars=price, unsettled=not price) from error
