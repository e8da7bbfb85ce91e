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
from convergebench.metrics._table import TABLE
from convergebench.metrics.base import Metric

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
    module, _, attribute = TABLE[name].partition(":")
    word = name.replace("-", "_")
    assert (module.rpartition(".")[2], attribute) == (word, word)
    assert importlib.import_module(module).__doc__


def test_levels_are_those_of_the_definitions() -> None:
    names = ("ssim", "psnr", "lpips", "clip")
    levels = {name: (load_metric(name).facts.noticeable, load_metric(name).facts.half) for name in names}
    assert levels == {"ssim": (0.90, 0.50), "psnr": (30.0, 20.0), "lpips": (0.10, 0.50), "clip": (0.95, 0.75)}


def test_roles_say_which_comparisons_a_metric_fills_in() -> None:
    def of_set(name: str) -> set[tuple[str, ...]]:
        return {load_metric(each).facts.roles for each in SETS[name]}

    assert of_set("classical") == {("return",)}
    assert of_set("diagnostics") == {("step",)}
    assert of_set("adherence") == {("forward",), ("backward",)}
    assert {"return", "lag", "replicate"} == set(load_metric("rmse").facts.roles)


def test_sets_are_spelt_out_each_name_once() -> None:
    assert expand(["classical", "ssim", "rmse"]) == ["psnr", "ssim", "ms-ssim", "gmsd", "delta-e", "rmse"]
    assert {load_metric(name).facts.kind for name in expand(["default"])} == {
        "full-reference", "semantic", "diagnostic", "adherence",
    }  # fmt: skip
    light = [load_metric(name).facts for name in expand(["default"])]
    assert not any(facts.needs or facts.weights or facts.asks for facts in light), "default runs on the light install"
    assert all(name in NAMES for members in SETS.values() for name in members)


def test_the_audit_has_its_21_metrics_under_the_published_names() -> None:
    published = (
        "arniqa brisque clipiqa cnniqa dbcnn hyperiqa ilniqe liqe maniqa musiq nima niqe nrqm paq2piq pi piqe qalign "
        "qualiclip topiq-nr tres wadiqam-nr"
    )
    assert sorted(expand(["iqa"])) == published.split()


def test_listing_metrics_loads_no_torch() -> None:
    code = (
        "import sys; from convergebench import registry; from convergebench.metrics import load_metric\n"
        "for name in registry.names('metrics'): load_metric(name)\n"
        "heavy = ('torch', 'transformers', 'pyiqa', 'dlib', 'onnxruntime', 'httpx')\n"
        "print([one for one in heavy if one in sys.modules])"
    )
    assert run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "[]"


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(StudyError, match="unknown metric 'sim'; did you mean 'ssim'"):
        load_metric("sim")
    with pytest.raises(
        StudyError, match=r"unknown metric 'clasical'; did you mean 'classical'\? \(cbench list metrics; your own"
    ):
        expand(["clasical"])


def test_looking_up_names_loads_no_numpy() -> None:
    code = "import sys, convergebench.metrics as m; m.expand(['default']); sys.exit('numpy' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
