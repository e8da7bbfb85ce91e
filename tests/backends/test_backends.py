"""What needs no cluster: names, errors of one line, who goes where, and failures on their way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from convergebench.backends.find import open_backend
from convergebench.backends.local import LOCAL
from convergebench.backends.ray.cluster import bundle_of, in_words
from convergebench.backends.ray.placement import calls_per_copy, is_rebuilt, resources_of
from convergebench.backends.ray.worker import EditorWorker, Failure, WorkerRecipe, package_version, work_once
from convergebench.conductor.options import RunOptions
from convergebench.editors.find import make_editor
from convergebench.errors import Prerequisite, Refused, StudyError, Transient, Unavailable
from convergebench.keys import find_key
from convergebench.studies.spec import parse_spec
from convergebench.types import Resources


@pytest.mark.parametrize(
    ("backend", "address", "said"),
    [
        ("rey", "", "unknown backend 'rey'; did you mean 'ray'"),
        ("local", "10.0.0.7:6379", "--address 10.0.0.7:6379 is for a cluster; add --backend ray"),
        ("ray", "nowhere", "--address nowhere: give HOST:PORT"),
        ("ray", "ray://10.0.0.7:10001", "run the command on a machine of the cluster"),
        ("ray", "127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1; start one there: ray start --head --port 1"),
    ],
)
def test_a_wrong_name_or_address_is_one_line(backend: str, address: str, said: str) -> None:
    with pytest.raises((StudyError, Prerequisite)) as told:
        open_backend(backend, address, print)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_options_refuse_an_unknown_backend_before_anything_begins() -> None:
    with pytest.raises(StudyError, match="unknown backend"):
        RunOptions(backend="slurm")


def test_without_the_package_one_line_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Prerequisite, match=r"pip install 'convergebench\[ray\]'"):
        open_backend("ray", "", print)


def test_this_machine_is_the_default_backend() -> None:
    assert open_backend("local", "", print) is LOCAL
    assert list(LOCAL.results(str, [1, 2], 1)) == ["1", "2"]


def test_who_works_on_the_machines_of_a_cluster() -> None:
    def needed(use: str, **options: Any) -> Resources | None:
        return resources_of(make_editor(use, **options), use, None)

    assert needed("sim-jpeg") == needed("paste-back(sim-jpeg)") == needed("wiener") == Resources()
    assert needed("nano banana") is None, "it calls a server"
    assert needed("paste-back(nano banana)") is None, "a paid part is journalled where the command runs"
    with pytest.raises(StudyError, match="calls a server"):
        resources_of(make_editor("nano banana"), "nano banana", Resources())
    half = Resources(gpus=0.5, copies=2)
    assert resources_of(make_editor("sim-jpeg"), "sim-jpeg", half) == half, "the study's word counts"
    assert calls_per_copy(make_editor("sim-jpeg"), Resources(cpus=2)) == 3


def test_needs_are_read_from_the_study_file_and_change_nothing_in_it() -> None:
    entry: dict[str, Any] = {"name": "sim-a", "use": "sim-jpeg", "quality": 50}
    spec = parse_spec({"study": "roundtrip", "editors": [{**entry, "resources": {"gpus": 0.5}}]})
    assert spec.editors[0].resources is not None
    assert spec.editors[0].resources.as_resources() == Resources(gpus=0.5)
    assert spec.editors[0].options == {"quality": 50}
    plain = parse_spec({"study": "roundtrip", "editors": [entry]})
    assert "resources" not in plain.model_dump(mode="json", by_alias=True)["editors"][0]
    with pytest.raises(StudyError, match="whole number"):
        parse_spec({"study": "roundtrip", "editors": [{**entry, "resources": {"gpus": 1.5}}]})


def test_an_object_given_in_python_is_not_taken_for_its_name() -> None:
    from convergebench.backends.base import EditorRecipe

    editor = make_editor("sim-jpeg", "sim-a", quality=50)
    assert is_rebuilt(editor, "sim-a", EditorRecipe("sim-jpeg", {"quality": 50}, 1))
    assert not is_rebuilt(editor, "sim-a", EditorRecipe("sim-jpeg", {"quality": 60}, 1))
    assert not is_rebuilt(editor, "sim-a", EditorRecipe("__main__:gone", {}, 1))


def test_failures_keep_their_meaning_and_lose_the_keys_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-some-machine-123456")
    find_key(["MY_KEY"])
    busy = Failure.of(Transient("busy", retry_after=7.0, unsettled=True, raw="sk-of-some-machine-123456")).error()
    assert isinstance(busy, Transient)
    assert (busy.retry_after, busy.unsettled) == (7.0, True)
    assert "sk-of" not in str(busy.raw)
    refused = Failure.of(Refused("no", reason="policy", dollars=0.5)).error()
    assert isinstance(refused, Refused)
    assert (refused.reason, refused.dollars) == ("policy", 0.5)

    class GoneForGood(Unavailable):
        """Of a plug-in that nobody else has."""

    assert type(Failure.of(GoneForGood("gone")).error()) is Unavailable
    told = Failure.of(OSError("sk-of-some-machine-123456 is wrong")).error()
    assert isinstance(told, StudyError)
    assert "sk-of" not in str(told)


def test_a_worker_of_another_version_does_nothing() -> None:
    failure = work_once(str, 1, "0.0.0-other")
    assert isinstance(failure, Failure)
    assert "install the same" in failure.message
    assert work_once(str, 1, package_version()) == "1"
    recipe = WorkerRecipe("sim-a", "sim-jpeg", {}, "another@1", package_version(), str(Path.cwd()), 1.0)
    worker = EditorWorker(recipe)
    assert worker._fault is not None
    assert "sim-a is another editor on" in worker._fault.message


def test_needs_in_words() -> None:
    assert in_words(bundle_of(Resources(cpus=2, gpus=0.5, memory_gb=16))) == "2 CPU and 0.5 GPU and 16 GB of memory"
    assert bundle_of(Resources(cpus=0)) == {}
