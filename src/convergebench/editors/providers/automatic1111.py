"""AUTOMATIC1111, Forge and other servers with `/sdapi/v1/img2img` (started with `--api`).

Plain image-to-image reads the prompt as a description of the result. Only with an InstructPix2Pix checkpoint is it an
instruction; with any other, what is measured is how the picture drifts towards the words.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_in
from convergebench.editors.providers.own_server import OwnServerEditor, size_in_steps
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.errors import BadReply, Prerequisite
from convergebench.keys import find_key
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import clean
from convergebench.wire.raw import without_images


class Automatic1111Options(RemoteOptions):
    """Unset options are left to the server, and recorded as it reports them."""

    checkpoint: str = ""
    """The server's name of the model; empty: the loaded one."""
    denoising: Annotated[float, Field(ge=0, le=1)] | None = None
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    guidance: Annotated[float, Field(ge=0, le=100)] | None = None
    image_guidance: Annotated[float, Field(ge=0, le=100)] | None = None
    """Only for InstructPix2Pix."""
    sampler: str | None = None
    negative_prompt: str | None = None


FIELDS = {
    "denoising": "denoising_strength",
    "steps": "steps",
    "guidance": "cfg_scale",
    "image_guidance": "image_cfg_scale",
    "sampler": "sampler_name",
    "negative_prompt": "negative_prompt",
}
REPORTED = {
    "seed": "seed",
    "steps": "steps",
    "cfg_scale": "guidance",
    "sampler_name": "sampler",
    "denoising_strength": "denoising",
    "sd_model_name": "checkpoint",
    "sd_model_hash": "checkpoint_hash",
}
"""Setting in the reply's `info` → name under which it is recorded."""


class Automatic1111Editor(OwnServerEditor):
    """Image-to-image on one's own Stable Diffusion web server."""

    Options = Automatic1111Options
    provider = "automatic1111"
    address = "http://127.0.0.1:7860"
    example = "http://127.0.0.1:7860"
    basic = True
    options: Automatic1111Options

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.capabilities = replace(self.capabilities, seed=True)

    def lacks(self) -> list[str]:
        """Missing user name and password, if a variable is configured for them."""
        missing = super().lacks()
        if self.variables and not missing and ":" not in find_key(self.variables, login=True):
            missing.append(_no_password(self.variables[0]))
        return missing

    def notices(self) -> list[str]:
        """A warning that img2img reads instructions only with some checkpoints."""
        plain = f"{self.name} follows instructions only if an InstructPix2Pix checkpoint is loaded"
        return [*super().notices(), plain]

    async def edit(self, request: EditRequest) -> Edited:
        """One request; the server answers when it is done."""
        value = find_key(self.variables, login=True)
        if value and ":" not in value:
            raise Prerequisite(_no_password(self.variables[0]))
        sent, used = self._arguments(request)
        data, _ = self.sendable(request)
        body = {**sent, "prompt": request.instruction, "init_images": [base64.b64encode(data).decode()]}
        answer = await self._wire.send("POST", "/sdapi/v1/img2img", json=body)
        price = self.price(request)
        reply = self.read(answer, price)
        info = _info(reply)
        # the reply repeats the request, with the input image in it
        raw = without_images({"info": info, "images": reply.get("images")})
        image, mime = self.received(self._image(reply, raw, price), raw=raw, dollars=price)
        reported = {REPORTED[name]: _plain(value) for name, value in info.items() if name in REPORTED}
        reported = {name: value for name, value in reported.items() if value is not None}
        model = reported.get("checkpoint")
        return Edited(
            image,
            mime,
            model if isinstance(model, str) and model else self.model.wire_id,
            price,
            raw=raw,
            used={**used, **reported},
        )

    def _arguments(self, request: EditRequest) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments to send, arguments to record), without instruction and image."""
        width, height = size_in_steps(request.image, 8)
        sent: dict[str, Any] = {
            "seed": request.seed,
            "width": width,
            "height": height,
            "batch_size": 1,
            "n_iter": 1,
            "send_images": True,
            "save_images": False,
            "include_init_images": False,
        }
        used: dict[str, Any] = {"seed": request.seed, "width": width, "height": height}
        for option, name in FIELDS.items():
            value = getattr(self.options, option)
            if value is not None:
                sent[name] = used[option] = value
        if self.options.checkpoint:
            used["checkpoint"] = self.options.checkpoint
            sent["override_settings"] = {"sd_model_checkpoint": self.options.checkpoint}
            # switching back would load the model twice for every edit
            sent["override_settings_restore_afterwards"] = False
        return sent, used

    def _image(self, reply: Mapping[str, Any], raw: str, price: float) -> bytes:
        images = reply.get("images")
        first = images[0] if isinstance(images, list) and images else None
        if not isinstance(first, str):
            raise BadReply(f"{self.name} answered without an image", raw=raw, dollars=price, unsettled=not price)
        return image_in(first, who=self.name, raw=raw, dollars=price)


def _info(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were used, sent as JSON inside JSON; compatible servers may leave them empty."""
    reported = reply.get("info")
    try:
        info = json.loads(reported) if isinstance(reported, str) else reported
    except (ValueError, RecursionError):
        return {}
    return info if isinstance(info, dict) else {}


def _plain(value: Any) -> str | int | float | None:
    """A string or a number, else None."""
    if isinstance(value, str):
        return clean(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _no_password(variable: str) -> str:
    return f"{variable} is not NAME:PASSWORD; set it again: export {variable}=NAME:PASSWORD"
