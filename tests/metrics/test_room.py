"""The room as a whole: names, sets, facts."""

from __future__ import annotations

import importlib
import sys
from math import isfinite
from subprocess import run

import pytest

from convergebench import registry
from convergebench.errors import StudyError
from convergebench.metrics import SETS, expand, load_metric
from convergebench.metrics.base import FunctionMetric, Metric

NAMES = registry.names("metrics")


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_declares_the_facts_that_a_table_needs(name: str) -> None:
    metric = load_metric(name)
    facts = metric.facts
    assert isinstance(metric, Metric)
    assert facts.name == name
    assert facts.summary.endswith(".")
    assert len(facts.summary) <= 110
    assert facts.range[0] < facts.range[1]
    if facts.self_value is not None:
        assert isfinite(facts.self_value)
        assert facts.range[0] <= facts.self_value <= facts.range[1]
    for level in (facts.noticeable, facts.half):
        assert level is None or facts.range[0] <= level <= facts.range[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_lives_in_a_file_of_its_own_name(name: str) -> None:
    metric = load_metric(name)
    assert isinstance(metric, FunctionMetric)
    assert metric.function.__module__.rpartition(".")[2] == name.replace("-", "_")
    assert importlib.import_module(metric.function.__module__).__doc__


def test_levels_are_those_of_the_definitions() -> None:
    levels = {name: (load_metric(name).facts.noticeable, load_metric(name).facts.half) for name in ("ssim", "psnr")}
    assert levels == {"ssim": (0.90, 0.50), "psnr": (30.0, 20.0)}


def test_roles_say_which_comparisons_a_metric_fills_in() -> None:
    def of_set(name: str) -> set[tuple[str, ...]]:
        return {load_metric(each).facts.roles for each in SETS[name]}

    assert of_set("classical") == {("return",)}
    assert of_set("diagnostics") == {("step",)}
    assert of_set("adherence") == {("forward",), ("backward",)}
    assert {"return", "lag", "replicate"} == set(load_metric("rmse").facts.roles)


def test_sets_are_spelt_out_each_name_once() -> None:
    assert expand(["classical", "ssim", "rmse"]) == ["psnr", "ssim", "ms-ssim", "gmsd", "delta-e", "rmse"]
    assert set(expand(["default"])) == set(NAMES) - {"ssim-skimage"}


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(StudyError, match="unknown metric 'sim'; did you mean 'ssim'"):
        load_metric("sim")
    with pytest.raises(
        StudyError, match=r"unknown metric 'clasical'; did you mean 'classical'\? \(cbench list metrics\)"
    ):
        expand(["clasical"])


def test_looking_up_names_loads_no_numpy() -> None:
    code = "import sys, convergebench.metrics as m; m.expand(['default']); sys.exit('numpy' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
