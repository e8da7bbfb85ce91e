"""`--store`, `backup`, `recover URL`, `verify` and `gc`, with a server that speaks S3 and stops when it is told to."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import World
from tests.store.remote.servers import KEY, SECRET, S3Server, s3_server
from tests.store.remote.small_run import eventually

URL = "s3://bucket/runs/one"
RUN = ("run", "study.toml", "--run", "r", "--no-report", "--limit", "1", "--workers", "1", "-m", "psnr")


@pytest.fixture
def s3(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    with s3_server(monkeypatch) as server:
        world.environment |= {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
        }
        yield server


def rows(root: Path, table: str = "steps") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{root / 'run.sqlite'}?mode=ro", uri=True)) as connection:
        return connection.execute(f"select * from {table} order by 1, 2").fetchall()


def nowhere(world: World, secret: str) -> None:
    """No file of this world, and none at the store, has the secret."""
    for path in world.root.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert secret.encode() not in path.read_bytes(), path


def test_a_run_at_a_store_is_continued_checked_recovered_exported_and_swept(world: World, s3: S3Server) -> None:
    world.cbench(*RUN, "--store", URL)
    root = world.root / "r"
    images = s3.names("runs/one/images")
    assert len(images) == len(rows(root, "images"))
    assert "intact" in world.cbench("verify", "r").stdout
    assert f"{URL}: intact" in world.cbench("verify", "r").stdout

    # another computer: an empty folder, another user's cache, the URL alone
    world.environment["CONVERGEBENCH_CACHE"] = str(world.root / "cache-2")
    said = world.cbench("recover", URL, "--run", "r2").stdout
    assert "continue with: cbench run study.toml" in said
    assert "--run r2" in said
    assert rows(world.root / "r2") == rows(root)
    assert rows(world.root / "r2", "measurements") == rows(root, "measurements")
    assert not list((world.root / "r2").glob("images/*/*"))
    more = [word if word != "r" else "r2" for word in RUN]
    world.cbench(*more, "--rounds", "4")
    assert len(rows(world.root / "r2")) > len(rows(root))
    assert f"{URL}: intact" in world.cbench("verify", "r2").stdout
    world.cbench("export", "r2", "--as", "imagefolder", "--out", "s3://bucket/sets/one")
    sent = s3.names("sets/one/")
    assert "sets/one/checksums.sha256" in sent
    assert "sets/one/.unfinished" not in sent
    again = world.cbench("export", "r2", "--as", "imagefolder", "--out", "s3://bucket/sets/one", ok=False)
    assert "is not empty" in again.stderr
    world.cbench("merge", "r", "r2", "--into", "merged")
    assert "intact" in world.cbench("verify", "merged").stdout

    # damage at the store is named, and read by nobody
    name = sorted(images)[0]
    s3.spoil(name, b"not an image")
    s3.lose(sorted(images)[1])
    shutil.rmtree(world.root / "r2" / "images")
    said = world.cbench("verify", "r2", ok=False).stderr
    assert f"{name.removeprefix('runs/one/')} is damaged" in said
    assert f"{sorted(images)[1].removeprefix('runs/one/')} is missing" in said
    assert "2 problems" in said
    nowhere(world, SECRET)


def test_a_password_in_a_url_is_refused_before_anything_is_written(world: World) -> None:
    secret = "wJalrXUtnFEMI-not-real"
    for words in (
        (*RUN, "--store", f"s3://me:{secret}@bucket/x"),
        ("recover", f"s3://bucket/x?key={secret}", "--run", "r2"),
        ("export", "r", "--as", "hf", "--out", f"s3://me:{secret}@bucket/x"),
    ):
        done = world.cbench(*words, ok=False)
        assert done.returncode == 2
        assert secret not in done.stdout + done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (world.root / "r").exists()
    nowhere(world, secret)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((*RUN, "--store", "bucket/x"), "is not a URL"),
        ((*RUN, "--store", "nonsense://x/y"), "pip install 'convergebench[s3]'"),
        ((*RUN, "--cache-mb", "5"), "--cache-mb is for runs with a store"),
        (("recover", "file:///nowhere/at/all", "--run", "r2"), "is not the store of a run"),
        (("recover", "file:///nowhere/at/all"), "name a new folder"),
        (("backup", "r"), "is not a run"),
        (("gc", "r"), "is not a run"),
        (("verify", "r", "--store", "file:///x"), "has no store"),
    ],
)
def test_bad_input_is_told_in_one_line_and_nothing_is_begun(world: World, words: tuple[str, ...], says: str) -> None:
    done = world.cbench(*words, ok=False)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (world.root / "r").exists()
    assert not (world.root / "r2").exists()


def test_a_server_that_refuses_or_is_gone_stops_a_run_before_it_begins(world: World, s3: S3Server) -> None:
    assert "cannot be" in world.cbench(*RUN, "--store", "s3://no-such-bucket/x", ok=False).stderr
    s3.down()
    assert "cannot be" in world.cbench(*RUN, "--store", URL, ok=False).stderr
    assert not (world.root / "r").exists()


def test_a_local_run_is_brought_to_a_store_and_swept(world: World) -> None:
    world.cbench(*RUN)
    url = f"file://{world.root}/store"
    assert "has no store" in world.cbench("backup", "r", ok=False).stderr
    assert "recover" in world.cbench("backup", "r", "--store", url).stdout
    assert world.cbench("backup", "r").stdout.startswith("r: ")
    part = world.root / "r" / "images" / ".part-x"
    part.write_bytes(b"left")
    said = world.cbench("gc", "r").stdout
    assert "would remove 1 temporary files in r: 4 bytes" in said
    assert part.exists()
    assert "removed 1 temporary files" in world.cbench("gc", "r", "--delete").stdout
    assert not part.exists()
    assert "removed" in world.cbench("gc", "r", "--delete", "--cache-mb", "0").stdout
    assert not [path for path in (world.root / "r" / "images").rglob("*") if path.is_file()]
    world.cbench("measure", "r", "-m", "gmsd", "--workers", "1")
    shutil.rmtree(world.root / "r" / "images")
    (world.root / "r" / "manifest.json").write_text("{")
    said = world.cbench("recover", "r").stdout
    assert "images came from the store of r" in said
    assert "r-recovered: intact" in said


def test_a_received_run_is_read_from_its_store_only_after_the_url_was_typed(world: World) -> None:
    url = f"file://{world.root}/store"
    world.cbench(*RUN, "--store", url)
    shutil.rmtree(world.root / "r" / "images")
    world.environment["CONVERGEBENCH_CACHE"] = str(world.root / "cache-2")
    for words in (("verify", "r"), ("measure", "r", "-m", "gmsd"), ("gc", "r")):
        done = world.cbench(*words, ok=False)
        assert "never typed on this computer" in done.stderr
        assert done.returncode == 2
    assert "has its images at" in world.cbench("verify", "r", "--store", "file:///other", ok=False).stderr
    assert "intact" in world.cbench("verify", "r", "--store", url).stdout
    world.cbench("measure", "r", "-m", "gmsd", "--workers", "1")


def test_paid_calls_survive_a_server_that_goes_and_comes_back(
    world: World, s3: S3Server, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """The server is killed in the middle: the run stops in order, pays for nothing twice, and ends when it is back."""
    world.environment["CONVERGEBENCH_STORE_PATIENCE"] = "0.5"
    study = world.root / "study.toml"
    study.write_text(
        study.read_text()
        .replace('["sim-perfect", "sim-tint"]', '[{ name = "paid", use = "paid", seconds = 0.3 }]')
        .replace("rounds = 3", "rounds = 12")
    )
    words = (*RUN, "--store", URL)
    process = start(*words)
    eventually(lambda: world.calls >= 4 or process.poll() is not None, seconds=60)
    s3.down()
    out, err = process.communicate(timeout=90)
    assert process.returncode == 2, out + err
    assert "nothing is lost" in err
    assert "Traceback" not in err
    made, paid = len(rows(world.root / "r")), world.calls
    assert made == paid, "every paid call has its row"
    s3.up()
    world.environment["CONVERGEBENCH_STORE_PATIENCE"] = "60"
    study.write_text(study.read_text().replace("seconds = 0.3", "seconds = 0.0"))
    world.cbench(*words)
    assert world.calls == len(rows(world.root / "r")) == 48
    assert len(s3.names("runs/one/images")) == len(rows(world.root / "r", "images"))
    assert f"{URL}: intact" in world.cbench("verify", "r").stdout
    nowhere(world, SECRET)


@pytest.mark.slow
def test_a_run_whose_server_fails_all_the_time_ends_as_one_in_peace(
    world: World, s3: S3Server, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """A third of the requests fail, the driver is killed again and again, and its disk is lost once."""
    peace = ("run", "study.toml", "--run", "peace", "--no-report", "--workers", "1")
    world.cbench(*peace)
    count = [0]

    def fault(method: str, path: str) -> int | None:
        count[0] += 1
        return {0: 503, 1: 0}.get(count[0] % 6)

    s3.fault = fault
    words = ("run", "study.toml", "--run", "r", "--no-report", "--workers", "1", "--store", URL)
    for turn in range(6):
        process = start(*words)
        time.sleep(2 + turn)
        process.kill()
        process.communicate()
        if turn == 3 and any("head-" in name for name in s3.names("runs/one/journal")):
            s3.fault = lambda method, path: None
            shutil.rmtree(world.root / "r")
            world.cbench("recover", URL, "--run", "r")
            s3.fault = fault
            time.sleep(241)  # until the killed driver counts as gone
    s3.fault = lambda method, path: None
    world.cbench(*words)
    assert rows(world.root / "r") == rows(world.root / "peace")
    assert rows(world.root / "r", "measurements") == rows(world.root / "peace", "measurements")
    assert f"{URL}: intact" in world.cbench("verify", "r").stdout
    assert json.loads((world.root / "r" / "manifest.json").read_text())["name"] == "r"
