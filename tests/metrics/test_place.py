"""Where networks run, and what a metric lacks."""

from __future__ import annotations

from math import inf

import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.metrics import place as room
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.place import Place, choose, here, place
from convergebench.metrics.readiness import lacks, require


def facts(**more: object) -> MetricFacts:
    return MetricFacts("net", "no-reference", "lower", (0.0, inf), "A test.", **more)  # type: ignore[arg-type]


def test_the_choice_holds_for_a_while_and_then_the_old_one_does() -> None:
    assert here() == Place("cpu", "float32")
    with place(Place("cuda", "bfloat16")):
        assert here() == Place("cuda", "bfloat16")
    assert here() == room.PROCESSOR


def test_automatic_is_a_gpu_only_where_torch_sees_one(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    for seen, device in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda seen=seen: seen)
        assert choose("auto").device == device
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose("cuda:1", "bfloat16") == Place("cuda:1", "bfloat16")
    with pytest.raises(Prerequisite, match=r"there is no cuda:2 here; the last of 2 is cuda:1"):
        choose("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(Prerequisite, match="torch sees no GPU here"):
        choose("cuda")


def test_slips_of_the_pen_are_one_line() -> None:
    for slip in ("gpu", "cuda:", "cuda:one", "cuda:-1", "cuda:²", "cpu:1", "auto:0", "CUDA"):
        with pytest.raises(StudyError, match=f"unknown device '{slip}'; give auto, cpu, cuda or cuda:1"):
            choose(slip)
    with pytest.raises(StudyError, match=r"unknown precision 'float23'; did you mean 'float32'\?"):
        choose("cpu", "float23")


def test_a_metric_without_wants_can_run() -> None:
    assert lacks(facts()) == []
    require([facts()])


def test_a_missing_extra_and_missing_weights_are_told_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.metrics import readiness
    from convergebench.weights import store

    monkeypatch.setattr(readiness, "find_spec", lambda module: None)
    monkeypatch.setattr(store, "search", lambda weight: None)
    wanting = facts(needs=("learned",), weights=("lpips-alex",))
    assert lacks(wanting) == [
        'torch, safetensors: pip install "convergebench[learned]"',
        "weights lpips-alex: cbench weights fetch lpips-alex",
    ]
    with pytest.raises(Prerequisite, match=r"^net lacks torch, .*, and weights .* \(or leave it out\)$"):
        require([wanting])
