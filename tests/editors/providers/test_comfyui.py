"""ComfyUI: the user's workflow is checked before the first call, filled in for each, and its failures are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.editors.providers import comfyui, download
from convergebench.errors import BadReply, EditorError, StudyError, Transient, Unavailable
from convergebench.wire import poll
from tests.editors.providers.asking import one_edit, request
from tests.editors.providers.fakes.comfyui import WORKFLOW, ComfyUI, entry
from tests.editors.providers.loopback import Answer, Loopback, Request, serving
from tests.editors.providers.test_contract import picture

USE = "comfyui:qwen-edit"
IMAGE, BACK = picture(70, 50), picture(72, 48)
NODES: dict[str, Any] = json.loads(WORKFLOW.read_text())
SPEAKER = ComfyUI()


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "FIRST", 0.005)


def well(asked: Request, server: Loopback) -> Answer:
    return SPEAKER.success(asked, server, BACK)


def ended(what: dict[str, Any]) -> Callable[[Request, Loopback], Answer]:
    """A server whose jobs end like this."""

    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.route.startswith("/history/"):
            return Answer(body={asked.route.rpartition("/")[2]: what})
        return well(asked, server)

    return answer


def written(path: Path, nodes: Any) -> str:
    path.write_text(nodes if isinstance(nodes, str) else json.dumps(nodes))
    return str(path)


def changed(number: str, **inputs: Any) -> dict[str, Any]:
    node = NODES[number]
    return {**NODES, number: {**node, "inputs": {**node["inputs"], **inputs}}}


def test_places_are_filled_and_everything_else_is_left_as_it_was() -> None:
    edited, server = one_edit(USE, well, IMAGE, workflow=str(WORKFLOW), words="make {seed} of “it”")
    graph = server.asked[1].json["prompt"]
    assert graph["3"]["inputs"] == {**NODES["3"]["inputs"], "seed": 5}, "alone it is a number"
    assert graph["9"]["inputs"]["filename_prefix"] == "edit of seed 5", "within words it is words"
    assert graph["6"]["inputs"]["prompt"] == "make {seed} of “it”", "an instruction's braces are its own"
    assert (graph["11"]["inputs"]["width"], graph["11"]["inputs"]["height"]) == (72, 48)
    assert graph["4"]["inputs"] == NODES["4"]["inputs"]
    assert {name: edited.used[name] for name in ("seed", "width", "height")} == {"seed": 5, "width": 72, "height": 48}


def test_the_job_is_asked_for_under_a_number_of_our_own_and_read_under_the_one_it_got() -> None:
    def renumbered(asked: Request, server: Loopback) -> Answer:
        if asked.route == "/prompt":
            return Answer(body={"prompt_id": "its-own", "number": 1, "node_errors": {}})
        return well(asked, server)

    _, server = one_edit(USE, renumbered, IMAGE, workflow=str(WORKFLOW))
    assert len(server.asked[1].json["prompt_id"]) == 36
    assert server.asked[2].path == "/history/its-own"


def test_two_edits_never_share_a_file_on_the_server() -> None:
    names = {one_edit(USE, well, IMAGE, workflow=str(WORKFLOW))[1].first.form["image"][0] for _ in range(2)}
    assert len(names) == 2


def test_a_workflow_without_placeholders_is_told_what_stands_where(tmp_path: Path) -> None:
    nodes = changed("10", image="example.png")
    nodes["6"] = {"class_type": "TextEncodeQwenImageEdit", "inputs": {"prompt": "a cat", "image": ["10", 0]}}
    nodes["3"] = changed("3", seed=1)["3"]
    nodes["9"] = changed("9", filename_prefix="x")["9"]
    path = written(tmp_path / "w.json", nodes)
    edited, server = one_edit(USE, well, IMAGE, workflow=path, places={"image": "10.image", "instruction": "6.prompt"})
    assert server.asked[1].json["prompt"]["6"]["inputs"]["prompt"] == "add a hat"
    assert server.asked[1].json["prompt"]["3"]["inputs"]["seed"] == 1
    assert "seed" not in edited.used
    for places, said in [
        ({"image": "99.image"}, "has no node '99'"),
        ({"image": "10.imago"}, "has no input 'imago'; did you mean 'image'"),
        ({"image": "6.image"}, "comes from another node"),
        ({"picture": "10.image"}, "picture"),
    ]:
        with pytest.raises(StudyError, match=said):
            make_editor(USE, workflow=path, places=places)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (changed("10", image="example.png"), 'write "{image}" where it goes, or say places = { image = "NODE.INPUT" }'),
        (changed("6", prompt="a cat"), "has no place for the words"),
        ({**NODES, "12": NODES["9"]}, "has nodes 9, 12; choose the node whose image is taken"),
        ({number: node for number, node in NODES.items() if number != "9"}, "has no SaveImage node"),
        ({"nodes": [], "links": [], "version": 0.4}, "Export (API)"),
        ({"3": {"inputs": {}}}, "is not a workflow in API format"),
        ([], "is not a workflow in API format"),
        ({}, "is not a workflow in API format"),
        ("{", "is not JSON"),
    ],
)
def test_a_workflow_that_cannot_work_is_refused_before_the_first_call(tmp_path: Path, nodes: Any, said: str) -> None:
    with pytest.raises(StudyError) as wrong:
        make_editor(USE, workflow=written(tmp_path / "w.json", nodes))
    assert said in str(wrong.value)


def test_a_workflow_must_be_named_and_be_there(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r'use = "comfyui:qwen-edit", workflow = "edit_api\.json"'):
        make_editor(USE)
    with pytest.raises(StudyError, match="cannot read the workflow"):
        make_editor(USE, workflow=str(tmp_path / "none.json"))
    with pytest.raises(StudyError, match="has no node '99'"):
        make_editor(USE, workflow=str(WORKFLOW), output="99")


def test_a_title_is_no_place(tmp_path: Path) -> None:
    nodes = changed("10", image="example.png")
    nodes["10"]["_meta"] = {"title": "{image}"}
    with pytest.raises(StudyError, match="has no place for the picture's name"):
        make_editor(USE, workflow=written(tmp_path / "w.json", nodes))


def test_a_seed_is_claimed_only_where_the_workflow_has_a_place_for_it(tmp_path: Path) -> None:
    assert make_editor(USE, workflow=str(WORKFLOW)).capabilities.seed
    fixed = changed("3", seed=7)
    fixed["9"] = {"class_type": "SaveImage", "inputs": {"images": ["3", 0]}}
    assert not make_editor(USE, workflow=written(tmp_path / "w.json", fixed)).capabilities.seed


def test_what_the_workflow_does_is_who_answers_and_where_it_lies_is_not(tmp_path: Path) -> None:
    def fingerprint(nodes: Any, name: str, **options: Any) -> str:
        return make_editor(USE, workflow=written(tmp_path / name, nodes), **options).fingerprint

    first = fingerprint(NODES, "a.json")
    titled = {number: {**node, "_meta": {"title": "renamed"}} for number, node in NODES.items()}
    assert first == fingerprint(titled, "b.json", base_url="http://my-box:8188")
    assert first != fingerprint(changed("3", steps=21), "c.json")
    assert first != fingerprint(NODES, "a.json", output="3")


INVALID = {
    "error": {"type": "prompt_outputs_failed_validation", "message": "Prompt outputs failed validation"},
    "node_errors": {
        "4": {
            "class_type": "UNETLoader",
            "errors": [{"message": "Value not in list", "details": "unet_name: 'qwen.safetensors' not in []"}],
        }
    },
}


@pytest.mark.parametrize("status", [400, 200])
def test_a_graph_that_is_not_taken_ends_this_editor_in_the_node_s_words(status: int) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(status, {**INVALID, "prompt_id": "x"}) if asked.route == "/prompt" else well(asked, server)

    with pytest.raises(Unavailable, match=r"node 4 \(UNETLoader\): Value not in list: unet_name: 'qwen.safetensors'"):
        one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW))


ERROR = {"node_id": "3", "node_type": "KSampler", "exception_message": "shapes differ", "exception_type": "ValueError"}


def test_a_node_that_fails_is_named_with_its_words() -> None:
    with pytest.raises(EditorError, match=r"node 3 \(KSampler\): shapes differ") as failed:
        one_edit(USE, ended(entry([], error=("execution_error", ERROR))), IMAGE, workflow=str(WORKFLOW), dollars=0.1)
    assert type(failed.value) is EditorError
    assert failed.value.dollars == 0.1


@pytest.mark.parametrize(
    "error",
    [
        ("execution_interrupted", {"node_id": "3"}),
        ("execution_error", {**ERROR, "exception_type": "torch.OutOfMemoryError"}),
    ],
)
def test_a_job_that_was_stopped_or_found_no_memory_is_worth_another_try(error: tuple[str, dict[str, Any]]) -> None:
    with pytest.raises(Transient):
        one_edit(USE, ended(entry([], error=error)), IMAGE, workflow=str(WORKFLOW))


FILE = {"filename": "a.png", "subfolder": "", "type": "output"}
ODD = [
    {},
    {"outputs": None},
    {"outputs": []},
    {"outputs": {"9": None}},
    {"outputs": {"9": {"images": "a.png"}}},
    {"outputs": {"9": {"images": ["a.png"]}}},
    {"outputs": {"9": {"images": [{"filename": 3}]}}},
    {"outputs": {"9": {"images": [{"type": "output"}]}}},
    {"outputs": {"8": {"images": [FILE]}}},
    {"outputs": {}, "status": "success"},
    {"outputs": {}, "status": {"messages": "none"}},
    {"outputs": {}, "status": {"messages": [3, ["execution_error"], ["execution_start", None]]}},
]


@pytest.mark.parametrize("what", ODD, ids=str)
def test_a_job_that_ends_without_a_picture_is_a_bad_reply(what: dict[str, Any]) -> None:
    with pytest.raises(BadReply):
        one_edit(USE, ended(what), IMAGE, workflow=str(WORKFLOW))


def test_a_failure_without_words_is_still_a_failure() -> None:
    with pytest.raises(EditorError, match="failed without a reason"):
        one_edit(USE, ended({"outputs": {}, "status": {"status_str": "error"}}), IMAGE, workflow=str(WORKFLOW))


@pytest.mark.parametrize("route", ["/upload/image", "/prompt", "/history/"])
@pytest.mark.parametrize("body", [None, [], "x", b"no json", {"name": 3}])
def test_odd_answers_on_the_way_are_no_tracebacks(route: str, body: Any) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.route == "/queue":
            return Answer(body={"queue_running": None, "queue_pending": [None, ["1"]]})
        return Answer(body=body) if asked.route.startswith(route) else well(asked, server)

    if (route, body) == ("/prompt", {"name": 3}):  # older servers give no number back
        one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW))
        return
    with pytest.raises((BadReply, Transient)):
        one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW))


def test_names_that_are_half_a_character_are_no_fault_of_the_study() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        half = {"/upload/image": b'{"name": "\\ud800"}', "/prompt": b'{"prompt_id": "\\udfff"}'}
        return Answer(body=half[asked.route]) if asked.route in half else well(asked, server)

    with pytest.raises(EditorError):  # the job is not found under what is left of its name
        one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW), seconds=0.3)


def test_several_pictures_where_one_was_wanted_end_this_editor() -> None:
    with pytest.raises(Unavailable, match="gave 2 images instead of one; set its batch to 1"):
        one_edit(USE, ended(entry([FILE, FILE])), IMAGE, workflow=str(WORKFLOW))


def test_another_node_s_picture_is_taken_if_the_study_says_so() -> None:
    what = {**entry([FILE]), "outputs": {"9": {"images": []}, "3": {"images": [*SPEAKER.images]}}}
    edited, _ = one_edit(USE, ended(what), IMAGE, workflow=str(WORKFLOW), output="3")
    assert edited.image == BACK


@pytest.mark.parametrize("route", ["/view", "/history/"])
def test_a_question_that_fails_in_passing_is_repeated_and_the_job_is_not(
    monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))

    def answer(asked: Request, server: Loopback) -> Answer:
        first = asked.route.startswith(route) and sum(one.route.startswith(route) for one in server.asked) == 1
        return Answer(503) if first else well(asked, server)

    edited, server = one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW))
    assert edited.image == BACK
    assert sum(one.route == "/prompt" for one in server.asked) == 1


def test_a_picture_that_cannot_be_fetched_is_tried_again() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(404) if asked.route == "/view" else well(asked, server)

    with pytest.raises(Transient, match="cannot be fetched: 404"):
        one_edit(USE, answer, IMAGE, workflow=str(WORKFLOW))


class Queue:
    """A server with one job that never ends."""

    def __init__(self, *, known: bool = True) -> None:
        self.known, self.deleted, self.interrupted = known, [], []  # type: ignore[var-annotated]
        self.job = ""

    def __call__(self, asked: Request, server: Loopback) -> Answer:
        if asked.route == "/prompt":
            self.job = asked.json["prompt_id"]
        elif asked.route.startswith("/history/"):
            return Answer(body={})
        elif asked.route == "/queue" and asked.method == "GET":
            running = [[0, self.job, {}, {}, []]] if self.known else [[0, "another", {}, {}, []]]
            return Answer(body={"queue_running": running, "queue_pending": []})
        elif asked.route == "/queue":
            self.deleted += asked.json["delete"]
            return Answer()
        elif asked.route == "/interrupt":
            self.interrupted.append(asked.json["prompt_id"])
            return Answer()
        return well(asked, server)


def test_a_call_that_is_called_off_leaves_no_job_behind() -> None:
    queue = Queue()

    async def called_off(address: str) -> None:
        editor = make_editor(USE, base_url=address, workflow=str(WORKFLOW))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await editor.edit(request(IMAGE))
        await close(editor)

    with serving(queue) as server:
        asyncio.run(called_off(server.address))
    assert queue.deleted == [queue.job]
    assert queue.interrupted == [queue.job]


def test_a_job_that_takes_too_long_is_taken_back_and_only_ours_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comfyui, "POLLS_PER_QUEUE_CHECK", 1000)
    queue = Queue(known=False)
    with pytest.raises(Transient, match="not ready after"):
        one_edit(USE, queue, IMAGE, workflow=str(WORKFLOW), seconds=0.2)
    assert queue.deleted == [queue.job]
    assert queue.interrupted == []


def test_a_job_that_is_neither_waiting_nor_done_is_lost_and_worth_another_try() -> None:
    with pytest.raises(Transient, match="has lost the job"):
        one_edit(USE, Queue(known=False), IMAGE, workflow=str(WORKFLOW))
