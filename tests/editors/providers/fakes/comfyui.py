"""ComfyUI: POST /upload/image, POST /prompt, GET /history/ID until it is there, GET /view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider

WORKFLOW = Path(__file__).parents[1] / "workflow.json"


def entry(images: Any, *, error: tuple[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """A job in the history."""
    messages: list[Any] = [["execution_start", {"prompt_id": "x"}]]
    messages += [list(error)] if error else [["execution_success", {"prompt_id": "x"}]]
    status = {"status_str": "error" if error else "success", "completed": not error, "messages": messages}
    return {"prompt": [0, "x", {}, {}, ["9"]], "outputs": {"9": {"images": images}}, "status": status}


class ComfyUI(Provider):
    use = "comfyui:qwen-edit"
    options: ClassVar = {"workflow": str(WORKFLOW)}
    filters = False

    images: Any = ({"filename": "edit of_00001_.png", "subfolder": "a b", "type": "output"},)

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.route == "/upload/image":
            form = asked.form
            return Answer(body={"name": form["image"][0], "subfolder": form["subfolder"][1].decode(), "type": "input"})
        if asked.route == "/prompt":
            return Answer(body={"prompt_id": asked.json["prompt_id"], "number": 1, "node_errors": {}})
        if asked.route.startswith("/history/"):
            job = asked.route.rpartition("/")[2]
            looks = sum(one.route == asked.route for one in server.asked)
            return Answer(body={} if looks == 1 else {job: entry(list(self.images))})
        if asked.route == "/view":
            assert asked.query == {"filename": "edit of_00001_.png", "subfolder": "a b", "type": "output"}
            return Answer(body=picture, headers={"Content-Type": "image/png"})
        return Answer(404, {"error": f"no route {asked.route}"})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        raise AssertionError("it has no filter")

    def failure(self, status: int, message: str) -> Any:
        return {"error": {"type": "invalid_prompt", "message": message, "details": "", "extra_info": {}}}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        if asked.route.startswith("/history/"):
            return Answer(body={asked.route.rpartition("/")[2]: entry([])})
        if asked.method == "POST" and asked.route in ("/upload/image", "/prompt"):
            return self.success(asked, server, b"")
        return Answer(body={})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        (upload,) = [one for one in asked if one.route == "/upload/image"]
        (prompt,) = [one for one in asked if one.route == "/prompt"]
        graph = prompt.json["prompt"]
        name, image = upload.form["image"]
        assert graph["10"]["inputs"]["image"] == f"convergebench/{name}"
        return image, graph["6"]["inputs"]["prompt"]
