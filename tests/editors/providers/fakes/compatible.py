"""Servers that speak OpenAI's /v1/images/edits: one multipart request, the picture inside the reply."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, ClassVar

from convergebench.editors.find import make_editor
from convergebench.types import Editor
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


def at_home(name: str, base_url: str = "http://127.0.0.1:1/v1", **options: Any) -> Editor:
    """An editor of one's own in a module of one's own: the address is known, so it need not be said."""
    return make_editor("compatible:Qwen/Qwen-Image-Edit", name, base_url=base_url, **options)


class Compatible(Provider):
    """vLLM-Omni's accent."""

    use = f"{__name__}:at_home"
    options: ClassVar = {"server": "vllm-omni"}
    path = "/v1"
    filters = False

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.route != "/v1/images/edits":
            return Answer(404, self.failure(404, f"no route {asked.route}"))
        return Answer(body={"created": 1, "data": [{"b64_json": base64.b64encode(picture).decode()}]})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        raise AssertionError("it has no filter")

    def failure(self, status: int, message: str) -> Any:
        return {"error": {"message": message, "type": "BadRequestError", "code": status}}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"created": 1, "data": []})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        form = asked[0].form
        image = form.get("image") or form["image[]"]
        return image[1], form["prompt"][1].decode()


class CompatibleKeyed(Compatible):
    """A hosted server that wants a key and money."""

    options: ClassVar = {"server": "plain", "key": "MY_SERVER_KEY", "dollars": 0.01}
    variable = "MY_SERVER_KEY"


class CompatibleInThePrompt(Compatible):
    """stable-diffusion.cpp: another field for the image, and the seed inside the prompt."""

    options: ClassVar = {"server": "stable-diffusion.cpp"}

    def failure(self, status: int, message: str) -> Any:
        return {"error": message}
