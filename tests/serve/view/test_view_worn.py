"""The map of where an image is worn: what the server answers, what it refuses, and that nobody waits for it."""

from __future__ import annotations

import io
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from PIL import Image

from convergebench.images.frame import Frame
from convergebench.report.palette import INFERNO
from convergebench.report.worn import WornReading
from convergebench.serve.guard import Refusal
from convergebench.serve.view import worn
from convergebench.serve.view.worn import draw_worn
from convergebench.store.frames import RunFrames
from tests.serve.view.drawn_runs import drawn_run, textured
from tests.serve.view.site import ServedView, refused

WIDTH, HEIGHT = 260, 140


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One chain of a textured picture: the source and two steps, each of its own pixels."""
    found = tmp_path_factory.mktemp("worn") / "runs"
    drawn_run(
        found / "one", rounds=1, editors={"darker": 30}, metrics=[], report=False, sources=[textured(WIDTH, HEIGHT)]
    )
    return found


@pytest.fixture(scope="module")
def digests(folder: Path) -> list[str]:
    with closing(RunFrames(folder / "one")) as frames:
        files = frames.steps().sort("index")["image"].to_list()
    return [file.removeprefix("images/").replace("/", "").partition(".")[0] for file in files]


@pytest.fixture
def site(folder: Path) -> Iterator[ServedView]:
    """A server that has judged nothing yet, and that nothing unexpected happens to."""
    with ServedView(folder) as found:
        yield found
    assert found.told == []


def test_the_map_is_as_large_as_the_image_and_says_what_it_means(site: ServedView, digests: list[str]) -> None:
    facts = site.data(f"/worn/one/{digests[1]}.json")
    assert (facts["width"], facts["height"], facts["parts"], facts["unknown"]) == (WIDTH, HEIGHT, 2, 0)
    assert (facts["ends"], facts["low"], facts["high"]) == (["as untouched", "worn"], 0, 100)
    assert facts["stops"] == list(INFERNO)
    assert "remakings" in facts["words"]
    reply = site.client.get(f"/worn/one/{digests[1]}.png")
    assert reply.headers["content-type"] == "image/png"
    drawn = Image.open(io.BytesIO(reply.content))
    assert (drawn.mode, drawn.size) == ("RGBA", (WIDTH, HEIGHT))
    again = site.client.get(f"/worn/one/{digests[1]}.png", headers={"if-none-match": reply.headers["etag"]})
    assert again.status_code == 304
    assert "immutable" not in reply.headers["cache-control"], "a new model draws another map of the same image"


def test_what_is_no_image_of_the_run_is_refused_in_one_line(site: ServedView, digests: list[str], folder: Path) -> None:
    (folder.parent / "secret.png").write_bytes(b"no business of the viewer")
    one = digests[0]
    for path in (
        f"/worn/one/{'0' * 64}.png",
        f"/worn/other/{one}.json",
        f"/worn/one/{one}",
        f"/worn/one/{one}.webp",
        f"/worn/one/{one.upper()}A.png",
        f"/worn/one/{one[:-1]}.png",
        f"/worn/one/{one}.png.json",
        "/worn/one/..%2f..%2fsecret.png",
        f"/worn/..%2f..%2fone/{one}.png",
        f"/worn/%2e%2e/{one}.png",
        f"/worn/one%00/{one}.png",
        f"/worn/one/images%2f{one[:2]}%2f{one[2:]}.png",
        f"/worn/one/{one}%0a.png",
        f"/worn/one/{'a' * 3000}.png",
    ):
        reply = site.client.get(path)
        assert refused(reply), f"{path}: {reply.status_code} {reply.text[:200]}"
        assert reply.status_code in (400, 404, 414), path


@pytest.mark.parametrize("query", ["gain=4", "tile=1", "x", "run=..%2f.."])
def test_parameters_are_refused(site: ServedView, digests: list[str], query: str) -> None:
    for kind in ("png", "json"):
        reply = site.client.get(f"/worn/one/{digests[0]}.{kind}?{query}")
        assert (reply.status_code, refused(reply)) == (400, True)
    assert site.client.post(f"/worn/one/{digests[0]}.png").status_code in (403, 405)


def test_gone_and_damaged_images_are_one_line(folder: Path, digests: list[str], tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    for digest, act in ((digests[1], "cut"), (digests[2], "gone")):
        (path,) = (tmp_path / "runs/one/images").rglob(f"{digest[2:]}.*")
        path.write_bytes(path.read_bytes()[:-9]) if act == "cut" else path.unlink()
    with ServedView(tmp_path / "runs") as site:
        for digest in digests[1:]:
            reply = site.client.get(f"/worn/one/{digest}.json")
            assert (reply.status_code, refused(reply)) == (410, True)
        assert site.client.get(f"/worn/one/{digests[0]}.json").status_code == 200
    assert site.told == []


@pytest.mark.parametrize("name", ["a b", "50% off", "naïve #1", "what?", "a&b=c", "<b>'\""])
def test_runs_of_odd_names_have_maps(folder: Path, digests: list[str], tmp_path: Path, name: str) -> None:
    shutil.copytree(folder / "one", tmp_path / "runs" / name)
    with ServedView(tmp_path / "runs") as site:
        assert site.data(f"/worn/{quote(name, safe='')}/{digests[0]}.json")["width"] == WIDTH
    assert site.told == []


@pytest.mark.parametrize("pixels", [np.zeros((1, 1, 3), np.uint8), np.full((200, 200, 3), 7, np.uint8)])
def test_an_image_that_cannot_be_judged_is_refused_in_words(pixels: np.ndarray) -> None:
    with pytest.raises(Refusal, match="cannot be told") as told:
        draw_worn(Frame(pixels))
    assert told.value.status == 422
    assert "\n" not in told.value.words


def test_a_huge_image_is_refused_before_it_is_judged() -> None:
    with pytest.raises(Refusal, match="megapixels") as told:
        draw_worn(Frame(np.zeros((7000, 6000, 3), np.uint8)))
    assert told.value.status == 413


# --- nobody waits ---


class SlowReading:
    """Judges when it is let; counts."""

    def __init__(self) -> None:
        self.let, self.calls, self.at_once, self.most = threading.Event(), 0, 0, 0

    def __call__(self, frame: Frame) -> WornReading:
        self.calls += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        assert self.let.wait(20)
        self.at_once -= 1
        return WornReading(np.zeros((1, 1), np.float32), 0.0, "looks like about 0 remakings (95 %: 0–1)")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowReading:
    found = SlowReading()
    monkeypatch.setattr(worn, "read_worn", found)
    return found


def in_thread(site: ServedView, path: str, **options: float) -> Callable[[], int]:
    """Ask in another thread; the result waits for the status, 0 if nobody answered in time."""
    found: list[int] = []

    def ask() -> None:
        with site.new_client() as client:
            try:
                found.append(client.get(path, **options).status_code)  # type: ignore[arg-type]
            except httpx.TimeoutException:
                found.append(0)

    thread = threading.Thread(target=ask)
    thread.start()

    def result() -> int:
        thread.join(30)
        return found[0]

    return result


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_while_an_image_is_judged_everything_else_is_answered(
    site: ServedView, digests: list[str], slow: SlowReading
) -> None:
    asked = [in_thread(site, f"/worn/one/{digest}.json") for digest in digests for _ in range(2)]
    until(lambda: slow.calls == 1)
    for path in (f"/thumb/one/{digests[0]}", f"/image/one/{digests[1]}", "/api/runs/one/images", "/"):
        assert site.client.get(path, timeout=5).status_code == 200
    slow.let.set()
    assert [one() for one in asked] == [200] * 6
    assert (slow.calls, slow.most) == (3, 1), "each once, one at a time"
    assert site.client.get(f"/worn/one/{digests[0]}.png").status_code == 200
    assert slow.calls == 3


def test_a_map_that_is_known_does_not_wait_for_another(site: ServedView, digests: list[str], slow: SlowReading) -> None:
    slow.let.set()
    assert site.client.get(f"/worn/one/{digests[0]}.json").status_code == 200
    slow.let.clear()
    other = in_thread(site, f"/worn/one/{digests[1]}.json")
    until(lambda: slow.calls == 2)
    assert site.client.get(f"/worn/one/{digests[0]}.json", timeout=5).status_code == 200
    slow.let.set()
    assert other() == 200


def test_a_browser_that_went_on_gets_nothing_judged(site: ServedView, digests: list[str], slow: SlowReading) -> None:
    first = in_thread(site, f"/worn/one/{digests[0]}.json")
    until(lambda: slow.calls == 1)
    gone = in_thread(site, f"/worn/one/{digests[1]}.json", timeout=0.3)
    assert gone() == 0
    slow.let.set()
    assert first() == 200
    assert site.client.get(f"/worn/one/{digests[2]}.json").status_code == 200
    assert slow.calls == 2, "the second was not judged"
