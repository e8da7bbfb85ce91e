"""*Try it*: a picture that is dropped becomes a run, from the page alone, one at a time, and what is odd is refused."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from convergebench.cli.viewing import trying_for
from convergebench.conductor.trying import METRICS, Trying, TryRequest, check_try, ready_editors
from convergebench.errors import StudyError
from convergebench.images.encode import encode_png
from convergebench.metrics import load_metric
from convergebench.serve.view.shelf import RunShelf
from convergebench.serve.view.trying import LARGEST
from convergebench.store.verify import problems
from tests.serve.view.site import ServedView, refused

PICTURE = encode_png(np.random.default_rng(5).integers(40, 215, (48, 64, 3), np.uint8))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedView]:
    folder = tmp_path_factory.mktemp("tried")
    trying = trying_for(RunShelf([folder]), wanted=True)
    try:
        with ServedView(folder, trying=trying) as found:
            yield found
    finally:
        trying.close()


def page_headers(site: ServedView) -> dict[str, str]:
    (word,) = re.findall(r'name="word" content="(\w+)"', site.client.get("/try").text)
    return {"origin": site.base, "x-view-word": word}


def send(site: ServedView, picture: bytes = PICTURE, headers: Any = None, **fields: Any) -> httpx.Response:
    form = {"editor": "sim-jpeg", "pair": "flip-horizontal", "rounds": "2", **fields}
    files = {"picture": ("my cat.png", picture, "image/png")}
    return site.client.post(
        "/api/try", data=form, files=files, headers=page_headers(site) if headers is None else headers
    )


def ended(site: ServedView, run: str) -> Any:
    for _ in range(600):
        found = site.data(f"/api/runs/{run}/live")
        if not found["live"] and "open" not in found["statuses"]:
            return found
        time.sleep(0.1)
    raise AssertionError("it does not end")


def test_editors_that_are_ready_without_key_and_download_are_offered(site: ServedView) -> None:
    found = {one["name"]: one for one in site.data("/api/editors")}
    assert {"sim-jpeg", "sim-perfect", "unsharp", "bilateral"} <= set(found)
    assert not {name for name in found if name.startswith(("gemini", "openai", "fal", "gpt"))}
    assert {"name", "forward", "backward"} == set(found["sim-jpeg"]["pairs"][0])
    assert all(one["pairs"] for one in found.values())


def test_a_dropped_picture_becomes_a_run_that_is_watched_and_kept(site: ServedView) -> None:
    reply = send(site)
    assert reply.status_code == 201, reply.text
    run = reply.json()["run"]
    live = ended(site, run)
    assert (live["statuses"], live["steps"]) == ({"finished": 1}, 4)
    rows = site.rows(f"/api/runs/{run}/images")
    assert {row["source"] for row in rows} == {"your-picture-my-cat"}
    (chain,) = site.rows(f"/api/runs/{run}/chains")
    stored = site.client.get(f"/image/{run}/{chain['first']}").content
    assert stored == PICTURE
    for _ in range(100):
        values = {row["ssim"] for row in site.rows(f"/api/runs/{run}/images") if "ssim" in row}
        if len(values) > 1:
            break
        time.sleep(0.1)
    assert len(values) == 3, "after each of two rounds, and nothing between"
    root = Path(site.data("/api/runs")["folder"]) / run
    assert problems(root) == []
    assert "your picture" in site.data(f"/api/runs/{run}")["title"]


def test_one_at_a_time_and_it_can_be_stopped(site: ServedView) -> None:
    reply = send(site, encode_png(np.full((900, 900, 3), 127, np.uint8)), rounds="50")
    assert reply.status_code == 201, reply.text
    second = send(site)
    assert refused(second)
    assert "still being made" in second.json()["error"]
    stopped = site.client.post(f"/api/try/{reply.json()['run']}/stop", headers=page_headers(site))
    assert stopped.status_code == 200
    left = site.data(f"/api/runs/{reply.json()['run']}/live")
    assert left["live"] is False
    assert left["steps"] < 100
    third = send(site, rounds="1")
    assert third.status_code == 201, third.text
    ended(site, third.json()["run"])


def test_only_the_page_may_start_or_stop_a_run(site: ServedView) -> None:
    good = page_headers(site)
    before = site.data("/api/runs")["runs"]
    for headers in (
        {},
        {"origin": good["origin"]},
        {"x-view-word": good["x-view-word"]},
        {**good, "x-view-word": "0" * 64},
        {**good, "origin": "http://evil.example"},
        {**good, "origin": "null"},
        {**good, "sec-fetch-site": "cross-site"},
    ):
        for reply in (send(site, headers=headers), site.client.post("/api/try/x/stop", headers=headers)):
            assert (reply.status_code, refused(reply)) == (403, True)
    assert [one["name"] for one in site.data("/api/runs")["runs"]] == [one["name"] for one in before]


def transparent() -> bytes:
    file = io.BytesIO()
    Image.new("RGBA", (20, 20), (1, 2, 3, 4)).save(file, "PNG")
    return file.getvalue()


def animated() -> bytes:
    file = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), (shade, 0, 0)) for shade in (0, 200)]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def claiming(width: int, height: int) -> bytes:
    data = bytearray(PICTURE)
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return bytes(data)


ODD: dict[str, dict[str, Any]] = {
    "no-picture": {"picture": b""},
    "text": {"picture": b"<svg onload=alert(1)>"},
    "cut": {"picture": PICTURE[:200]},
    "bomb": {"picture": claiming(60_000, 60_000)},
    "transparent": {"picture": transparent()},
    "animated": {"picture": animated()},
    "unknown-editor": {"editor": "nobody"},
    "path-editor": {"editor": "../../evil.py:editor"},
    "paid-editor": {"editor": "nano-banana"},
    "unknown-pair": {"pair": "nothing"},
    "file-pair": {"pair": "/etc/passwd.toml"},
    "no-rounds": {"rounds": "0"},
    "many-rounds": {"rounds": "51"},
    "huge-rounds": {"rounds": "9" * 30},
    "odd-rounds": {"rounds": "-1"},
    "extra-field": {"other": "1"},
    "nul": {"editor": "sim-jpeg\0"},
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_request_is_one_line_and_leaves_nothing(site: ServedView, what: str) -> None:
    folder = Path(site.data("/api/runs")["folder"])
    before = set(folder.iterdir())
    reply = send(site, **ODD[what])
    assert refused(reply), reply.text
    assert set(folder.iterdir()) == before
    assert site.told == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b""),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\n\r\n--b--"),
        ("multipart/form-data; boundary=" + "b" * 500, b"--b--"),
    ],
)
def test_a_body_that_is_no_form_is_refused(site: ServedView, kind: str, body: bytes) -> None:
    headers = {**page_headers(site), "content-type": kind}
    assert refused(site.client.post("/api/try", content=body, headers=headers))


def test_a_picture_that_is_too_large_is_refused_before_it_is_read(site: ServedView) -> None:
    reply = send(site, bytes(LARGEST + 1))
    assert (reply.status_code, refused(reply)) == (413, True)


def test_where_trying_is_off_nothing_is_offered_or_started(made: Path) -> None:
    with ServedView(made.parent) as site:
        assert site.data("/api/editors") == []
        reply = send(site)
        assert (reply.status_code, refused(reply)) == (403, True)
    assert trying_for(RunShelf([made]), wanted=True).offered() == [], "a single run has no folder for others"
    assert trying_for(RunShelf([made.parent]), wanted=False).offered() == []


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    trying = Trying(gone)
    try:
        with pytest.raises(StudyError, match="cannot be written"):
            trying.begin(TryRequest(PICTURE, "a.png", "sim-jpeg", "red-ball", 1))
    finally:
        trying.close()


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("cat.png", "your-picture-cat"),
        ("../../etc/passwd.png", "your-picture-passwd"),
        ("C:\\Users\\me\\Ünïcode <b>.jpg", "your-picture-n-code-b"),
        ("", "your-picture"),
        ("x" * 300 + ".png", "your-picture-" + "x" * 40),
    ],
)
def test_the_pictures_name_says_that_it_is_the_users(name: str, known: str) -> None:
    ready = {one.name: one for one in ready_editors() if one.name == "sim-jpeg"}
    assert check_try(TryRequest(PICTURE, name, "sim-jpeg", "red-ball", 1), ready).id == known


def test_the_metrics_of_a_try_need_nothing_more() -> None:
    assert not [name for name in METRICS if load_metric(name).facts.needs or load_metric(name).facts.weights]
