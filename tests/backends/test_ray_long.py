"""The same on a cluster, at length: storms, machines that come, too little room, networks, and the command itself."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from convergebench.backends.base import EditorRecipe
from convergebench.backends.ray import balance
from convergebench.backends.ray.shipping import SHARE
from convergebench.editors.find import make_editor
from convergebench.errors import Prerequisite, StudyError
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.store.run import Run
from convergebench.types import EditRequest
from tests.backends.cluster_runs import OWN, STORE_BYTES, RayCluster, backend, entries, own, pictures, same, study
from tests.backends.piece_work import Piece, fail, loaded_in, survive, total
from tests.engine.parts import query

pytestmark = pytest.mark.slow


def test_a_storm_of_dying_machines_changes_nothing(cluster: RayCluster, tmp_path: Path) -> None:
    calm, struck = tmp_path / "calm", tmp_path / "struck"
    study(calm, own(), "sim-noise", count=8, rounds=4)
    randomness, kills = random.Random(3), 0
    entry = own(resources={"cpus": 1}, at_once=2, wait=0.4, log=str(tmp_path / "log"))
    ray: dict[str, Any] = {"backend": "ray", "address": cluster.address}
    with ThreadPoolExecutor(1) as beside:  # Ray starts machines from the main thread only
        running = beside.submit(study, struck, entry, "sim-noise", count=8, rounds=4, **ray)
        while not entries(tmp_path / "log"):
            time.sleep(0.05)
        while not running.done() and kills < 6:
            time.sleep(randomness.uniform(0.5, 1.5))
            cluster.kill()
            kills += 1
            cluster.add()
    outcome = running.result()
    assert kills >= 3, "the test must really have killed"
    assert outcome.statuses == {"finished": 16}
    same(calm, struck)
    assert query(struck, "select count(*) from attempts where outcome = 'ok'") == [(2 * 8 * 4 * 2,)]


def test_a_machine_that_comes_later_is_used(cluster: RayCluster, tmp_path: Path) -> None:
    log = tmp_path / "log"

    entry = own(resources={"cpus": 1}, wait=1.0, log=str(log))
    ray: dict[str, Any] = {"backend": "ray", "address": cluster.address}
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(study, tmp_path / "run", entry, count=8, rounds=6, metrics=(), **ray)
        while not entries(log):
            time.sleep(0.05)
        cluster.add(num_cpus=2)
    assert running.result().statuses == {"finished": 8}
    cluster.kill()
    assert len({one["pid"] for one in entries(log)}) > 3, "the first three machines have one core each"


def test_more_editors_than_cores_take_turns(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance, "PATIENCE", 0.5)
    editors = [own(resources={"cpus": 1}) | {"name": f"editor-{number}", "version": str(number)} for number in range(5)]
    outcome = study(tmp_path / "run", *editors, count=2, metrics=(), backend="ray", address=cluster.address)
    assert outcome.statuses == {"finished": 10}


def test_an_editor_that_differs_on_the_machines_is_refused(cluster: RayCluster, tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text("import os\n\nPLACE = os.getpid()\n\n\ndef mine(image, instruction):\n    return PLACE and image\n")
    entry = {"name": "mine", "use": f"{code}:mine", "resources": {"cpus": 1}}
    with pytest.raises((StudyError, Prerequisite), match=r"mine is another editor on .*use the same code"):
        study(tmp_path / "run", entry, count=1, rounds=1, metrics=(), backend="ray", address=cluster.address)


def test_an_editor_can_be_used_again_after_it_was_closed(cluster: RayCluster) -> None:
    with backend(cluster) as opened:
        recipe = EditorRecipe("sim-jpeg", {}, chains=4)
        placed: Any = opened.place_editors({"sim-jpeg": make_editor("sim-jpeg")}, {"sim-jpeg": recipe})["sim-jpeg"]
        request = EditRequest(pictures(1)[0].read(), "image/png", "flip the image horizontally")
        first = asyncio.run(placed.edit(request))
        asyncio.run(placed.close())
        assert not placed.crew.copies
        assert asyncio.run(placed.edit(request)) == first


def test_ctrl_c_in_a_terminal_lets_calls_finish_and_the_same_command_goes_on(tmp_path: Path) -> None:
    log, study_file = tmp_path / "log", tmp_path / "study.toml"
    entry = f'{{ name = "darken", use = "{OWN}:darken", version = "1", wait = 0.5, log = "{log}", resources = {{}} }}'
    study_file.write_text(
        f'study = "roundtrip"\neditors = [{entry}]\n[roundtrip]\nrounds = 4\n'
        '[images]\nsuite = "quick"\nlimit = 2\n[edits]\npairs = ["flip-horizontal"]\n[measure]\nmetrics = ["rmse"]\n'
    )
    command = [sys.executable, "-m", "convergebench", "run", str(study_file), "--run", "run", "--no-report"]
    ray = ["--backend", "ray", "--address", "local"]
    process = subprocess.Popen([*command, *ray], cwd=tmp_path, stdout=subprocess.PIPE, text=True, process_group=0)
    while len(entries(log)) < 3:
        time.sleep(0.05)
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everything that the command has started
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130, out
    assert "Nothing is lost" in out
    made = len(entries(log))
    assert query(tmp_path / "run", "select outcome, count(*) from attempts group by 1") == [("ok", made)]
    assert subprocess.run([*command, *ray], cwd=tmp_path, capture_output=True, timeout=300, check=False).returncode == 0
    assert len(entries(log)) == 2 * 4 * 2, "no call was made twice"


def test_fractions_of_a_gpu_are_given_out(cluster: RayCluster, tmp_path: Path) -> None:
    cluster.add(num_gpus=1, num_cpus=4)
    log = tmp_path / "log"
    entry = own(resources={"cpus": 0, "gpus": 0.5}, wait=0.2, log=str(log))
    study(tmp_path / "run", entry, count=6, rounds=2, metrics=(), backend="ray", address=cluster.address)
    with backend(cluster) as opened:
        assert opened.place("auto", "float32", networks=True) == Place("cuda")
        assert opened.place("auto", "float32", networks=False) == PROCESSOR
        assert opened.network_workers(8, Place("cuda")) == 2
        with pytest.raises(StudyError, match="Ray gives GPUs out"):
            opened.place("cuda:1", "float32", networks=True)
    cluster.kill()
    assert len({one["pid"] for one in entries(log)}) == 2, "two halves of one GPU"


def test_networks_are_loaded_once_per_worker_and_lost_work_is_repeated(cluster: RayCluster, tmp_path: Path) -> None:
    with backend(cluster) as opened:
        loads = list(opened.results(loaded_in, list(range(12)), 2, place=PROCESSOR))
        by_worker = {pid: max(count for one, count in loads if one == pid) for pid, _ in loads}
        assert len(by_worker) <= 2
        assert set(by_worker.values()) == {1}, "each worker has loaded it once, for all of its tasks"
        for place in (None, PROCESSOR):
            fatal = tmp_path / f"fatal-{place}"
            fatal.touch()
            found = list(opened.results(survive, [str(fatal)] * 4, 2, place=place))
            assert not fatal.exists()
            assert len(found) == 4
        with pytest.raises(StudyError, match="a metric's own words"):
            list(opened.results(fail, [1, 2, 3], 2))


def test_images_under_way_are_bounded_and_a_damaged_one_is_told_as_on_one_machine(
    cluster: RayCluster, tmp_path: Path
) -> None:
    size = 2_000_000
    with Run.create(tmp_path / "run") as run, backend(cluster) as opened:
        names = [run.images.put(os.urandom(size), "image/png") for _ in range(60)]
        files = [run.images.file_of(name, "image/png") for name in names]
        pieces = [Piece(run.images, tuple(files[start : start + 4])) for start in range(0, 60, 4)]
        assert sum(opened.results(total, pieces, 3)) == 60 * size, "more than the object store of a machine holds"
        assert opened.shipping.most_bytes <= SHARE * STORE_BYTES + 4 * size
        (tmp_path / "run" / files[7]).write_bytes(b"other")
        with pytest.raises(StudyError, match="cbench recover"):
            list(opened.results(total, pieces, 3))


def test_a_learned_metric_has_the_same_values(cluster: RayCluster, tmp_path: Path) -> None:
    for name, options in (("here", {}), ("there", {"backend": "ray", "address": cluster.address})):
        study(tmp_path / name, "sim-jpeg", count=3, rounds=2, metrics=("ssim", "lpips"), workers=2, **options)  # type: ignore[arg-type]
    assert query(tmp_path / "here", "select count(*) from measurements where metric = 'lpips'")[0][0] > 0
    same(tmp_path / "here", tmp_path / "there")


def test_the_command_itself(cluster: RayCluster, tmp_path: Path) -> None:
    study_file = tmp_path / "study.toml"
    study_file.write_text(
        'study = "roundtrip"\neditors = [{ name = "sim-a", use = "sim-jpeg", resources = { cpus = 0.5 } }]\n'
        '[roundtrip]\nrounds = 1\n[images]\nsuite = "quick"\nlimit = 2\n'
        '[edits]\npairs = ["flip-horizontal"]\n[measure]\nmetrics = ["rmse"]\n'
    )
    command = [sys.executable, "-m", "convergebench", "run", str(study_file), "--run", "run", "--no-report"]
    ray = ["--backend", "ray", "--address", cluster.address]
    done = subprocess.run([*command, *ray], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert f"note: Ray at {cluster.address}: 3 machines with 3 CPU" in done.stderr
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert again.returncode == 0, "the same run goes on without the cluster"
