"""`cbench view` as people start it, and `run.view()` as a notebook does."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import httpx
import pytest

import convergebench as cb
from convergebench.errors import StudyError
from convergebench.store.lock import RunLock, is_being_written

VIEW = [sys.executable, "-m", "convergebench.cli.main", "view"]


class ViewProcess:
    """`cbench view …`, serving."""

    def __init__(self, *words: str, cwd: Path | None = None) -> None:
        command = [*VIEW, "--no-open", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        self.line = self.process.stdout.readline().strip()

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, beside = self.process.communicate(timeout=60)
        return self.process.returncode, beside


@contextmanager
def viewing(*words: str, cwd: Path | None = None) -> Iterator[ViewProcess]:
    found = ViewProcess(*words, cwd=cwd)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.kill()
            found.process.communicate()


def test_without_words_it_serves_the_folder_runs_to_this_computer(runs: Path) -> None:
    with viewing("--port", "0", cwd=runs.parent) as served:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", served.link)
        assert served.line == f"showing {runs}; Ctrl-C stops the server"
        found = httpx.get(f"{served.link}api/runs", timeout=60).json()
        assert [one["name"] for one in found["runs"]] == ["small"]
        assert served.stop() == (0, "")


def test_on_another_address_a_token_is_needed_and_trying_is_off(runs: Path) -> None:
    with viewing(str(runs), "--host", "0.0.0.0", "--port", "0") as served:
        link = httpx.URL(served.link)
        assert len(link.params["token"]) >= 30
        base = f"http://127.0.0.1:{link.port}"
        with httpx.Client(base_url=base, timeout=60) as client:
            assert client.get("/api/runs").status_code == 401
            assert client.get(f"/?token={link.params['token']}").status_code == 303
            assert client.get("/api/runs").status_code == 200
            assert client.get("/api/editors").json() == []
        code, beside = served.stop()
        assert code == 0
        assert "other computers can reach this server" in beside
        assert link.params["token"] not in beside


def test_a_token_of_ones_own_is_used(runs: Path) -> None:
    with viewing(str(runs), "--port", "0", "--token", "my-own-token-is-long") as served:
        assert served.link.endswith("/?token=my-own-token-is-long")
        assert httpx.get(served.link.partition("?")[0], timeout=60).status_code == 401


def test_a_port_in_use_is_named_and_without_one_another_is_taken(runs: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*VIEW, str(runs), "--port", port], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"port {port} is in use" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "error: there is no folder nowhere"),
        ([".", "--token", "weak"], "error: --token: use at least 16"),
        ([".", "--host", "no.such.host.invalid"], "error: --host no.such.host.invalid"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*VIEW, "--no-open", *words], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(said)


def test_python_shows_the_viewer_in_a_frame_and_names_its_address(made: Path) -> None:
    run = cb.load(made)
    with run.view(height=500) as viewer:
        assert viewer.url in repr(viewer)
        assert f'src="{viewer.url}"' in viewer._repr_html_()
        assert 'height="500"' in viewer._repr_html_()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = opener.open(viewer.url, timeout=30)
        assert page.status == 200
        assert page.url == viewer.url.partition("?")[0]
        assert "frame-ancestors 'self' http://localhost:*" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] is None
        base = viewer.url.partition("/run/")[0]
        assert b'"small"' in opener.open(f"{base}/api/runs", timeout=30).read()
        assert httpx.get(f"{base}/api/runs").status_code == 401
        assert httpx.post(f"{base}/api/try").status_code == 401
    viewer.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(viewer.url)
    with pytest.raises(StudyError, match="height"):
        run.view(height=0)


def test_a_run_counts_as_written_only_while_its_lock_is_held(runs: Path) -> None:
    root = runs / "small"
    assert not is_being_written(root)
    lock = RunLock(root / "run.lock")
    lock.acquire()
    assert is_being_written(root)
    lock.release()
    assert not is_being_written(root)
    (root / "run.lock").write_text("process 999999999 on elsewhere")
    assert not is_being_written(root)
    (root / "run.lock").write_text("process 1 on nowhere; rm -rf")
    assert not is_being_written(root)
    (root / "run.lock").unlink()
    assert not is_being_written(root)
