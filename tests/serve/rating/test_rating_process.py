"""The command itself: several raters at once, killed in the middle, started again; nothing lost, nothing twice."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from convergebench.conductor.rating_collect import collect_ratings
from convergebench.store.frames import RunFrames
from convergebench.store.rating_book import RatingBook, book_path
from convergebench.store.run import Run
from tests.cli.in_process import cbench
from tests.serve.rating.process import OPENED, RatingProcess, rating_process

RATERS = 4


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def test_raters_at_once_a_killed_server_and_nothing_lost_or_twice(run: Path) -> None:
    """Every answer that a page was told is kept is in the run afterwards, once, with its last value."""
    first = RatingProcess(run, "--raters", str(RATERS))
    told: dict[int, dict[str, float]] = {number: {} for number in range(RATERS)}
    halfway = threading.Barrier(RATERS + 1)

    def rate(number: int) -> None:
        """Answer until the server is gone; what it did not confirm is not counted."""
        page = first.open(first.links[number])
        for place, item in enumerate(page.items()):
            try:
                for value in (place % 6, (place + number) % 6):  # each is changed once
                    if page.answer(item["id"], {"score": value}).status_code == 200:
                        told[number][item["id"]] = float(value)
            except httpx.HTTPError:
                return
            if place == 4:
                halfway.wait(timeout=60)

    threads = [threading.Thread(target=rate, args=(number,)) for number in range(RATERS)]
    for thread in threads:
        thread.start()
    halfway.wait(timeout=60)
    first.kill()
    for thread in threads:
        thread.join(timeout=60)
    assert all(len(kept) >= 4 for kept in told.values())
    assert first.process.returncode == -signal.SIGKILL

    with rating_process(run) as second:
        assert "every rater already has a link" in "".join(second.lines)
        for number in range(RATERS):
            page = second.open(first.links[number])
            values = {item["id"]: item["values"].get("score") for item in page.items()}
            unsure = {
                item: value for item, value in values.items() if item in told[number] and value != told[number][item]
            }
            assert len(unsure) <= 1, "at most the change whose confirmation was under way"
            for item, value in values.items():
                if value is None:
                    assert page.answer(item, {"score": 3}).status_code == 200
        code, said, beside = second.stop()
    assert (code, beside) == (0, "")
    assert f"{22 * RATERS} ratings added from {22 * RATERS} answers" in said
    frames = RunFrames(run)
    ratings = frames.ratings()
    frames.close()
    assert ratings.height == 22 * RATERS
    assert ratings.select("rater", "detail").n_unique() == 22 * RATERS
    assert collect_ratings(run).ratings == 0


def test_a_rater_goes_on_where_the_killed_server_left_them_with_the_page_still_open(run: Path) -> None:
    first = RatingProcess(run)
    page = first.open(first.links[0])
    items = page.items()
    assert page.answer(items[0]["id"], {"score": 1}).status_code == 200
    first.kill()
    second = RatingProcess(run, port=first.port)
    try:
        assert page.answer(items[1]["id"], {"score": 2}).status_code == 200, "the page was not loaded again"
        assert [item["values"] for item in page.items()][:3] == [{"score": 1.0}, {"score": 2.0}, {}]
    finally:
        second.stop()


def test_sigterm_ends_it_as_ctrl_c_does_and_a_locked_run_gets_the_answers_later(run: Path) -> None:
    with rating_process(run) as server:
        page = server.open(server.links[0])
        page.answer(page.items()[0]["id"], {"score": 1})
        with Run.existing(run):  # something else is writing the run: raters do not notice
            assert page.answer(page.items()[1]["id"], {"score": 1}).status_code == 200
            server.process.send_signal(signal.SIGTERM)
            said, beside = server.process.communicate(timeout=60)
        assert (server.process.returncode, said) == (0, "")
        assert "the answers are kept, but not in the run yet" in beside
        assert f"cbench rate {run} --collect" in beside
    assert cbench("rate", run, "--collect").out.startswith("2 ratings added from 2 answers")


def test_links_go_to_a_file_that_only_its_owner_reads(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "links.txt"
    done = cbench("rate", str(run), "--raters", "3", "--plan-only", "--links", str(file))
    assert (done.code, done.err) == (0, "")
    assert "/r/" not in done.out
    assert len(file.read_text().splitlines()) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = cbench("rate", str(run), "--raters", "4", "--plan-only", "--links", str(file))
    assert again.code == 2
    assert "already exists" in again.err
    with closing(RatingBook.open(book_path(run, "score"))) as book:
        assert book.raters() == [1, 2, 3], "no rater without a link"


def test_a_port_in_use_is_one_line_and_no_links_are_lost(run: Path) -> None:
    with rating_process(run) as server:
        done = cbench("rate", str(run), "--plan", "other", "--port", str(server.port))
        assert (done.code, done.out) == (2, "")
        assert done.err.count("\n") == 1
        assert f"port {server.port} is in use" in done.err
        assert not book_path(run, "other").exists()


def test_other_computers_come_in_only_when_told(run: Path) -> None:
    with rating_process(run) as server:
        assert server.base.startswith("http://127.0.0.1:")
    with rating_process(run, "--plan", "open", "--host", "0.0.0.0") as server:
        name = os.uname().nodename
        assert server.base == f"http://{name}:{server.port}"
        local = f"http://127.0.0.1:{server.port}"
        assert httpx.get(local).status_code == 200
        assert httpx.get(local, headers={"host": f"{name}:{server.port}"}).status_code == 200
        assert httpx.get(local, headers={"host": "evil.example"}).status_code == 421
        _, _, beside = server.stop()
    assert "other computers can reach this server" in beside


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--mode", "pair"], "did you mean 'pairs'"),
        (["--collect"], "has no plan"),
        (["--status"], "has no plan"),
        (["--status", "--collect"], "exclude each other"),
        (["--address", "example.org"], "only scheme and host"),
        (["--host", "203.0.113.77"], "cannot serve on"),
        (["--methods", "nobody"], "has no images here"),
        (["--links", "/nowhere/links.txt"], "there is no folder"),
    ],
)
def test_a_mistake_is_one_line(run: Path, words: list[str], told: str) -> None:
    done = cbench("rate", str(run), "--port", "0", *words)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_slow_client_does_not_keep_others_waiting(run: Path) -> None:
    import socket

    with rating_process(run) as server:
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        for one in idle:
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")  # and never ends
        begun = time.monotonic()
        page = server.open(server.links[0])
        assert page.answer(page.items()[0]["id"], {"score": 1}).status_code == 200
        assert time.monotonic() - begun < 10
        for one in idle:
            one.close()


def test_help_needs_no_server_packages() -> None:
    code = (
        "import convergebench.cli.main, sys; print([name for name in ('starlette', 'uvicorn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
