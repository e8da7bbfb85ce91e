"""A plain function as a metric: what it must say, where it is found; a run never chooses which code is loaded."""

from __future__ import annotations

import json
import sys
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.errors import Prerequisite, StudyError, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics import expand, load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.functions import (
    OwnFunctionMetric,
    facts_file,
    give,
    load_function,
    metric_from_function,
    read_facts,
)

OWN = '''
import numpy as np

def brightness(image):
    """Mean brightness."""
    return np.asarray(image).mean() / 255

brightness.better = "higher"
brightness.range = (0, 1)

def distance(image, reference, power=1):
    return abs(np.asarray(image, float) - np.asarray(reference, float)).mean() ** power

distance.better, distance.range = "lower", (0, float("inf"))

def silent(image):
    return 0.5

def strange(image, reference, third):
    return 0.5

def psnr(image):
    return 0.5

psnr.better, psnr.range = "higher", (0, 1)

def turned(image):
    return 0.5

turned.better, turned.range = "higher", (1, 0)
NUMBER = 3
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setattr("convergebench.metrics.functions._typed", set())
    return tmp_path


def frame(value: int) -> Frame:
    return Frame(np.full((4, 5, 3), value, np.uint8), str(value))


def typed(name: str) -> OwnFunctionMetric:
    (entry,) = expand([name])
    metric = load_metric(entry)
    assert isinstance(metric, OwnFunctionMetric)
    return metric


@pytest.mark.parametrize("file", ["mine.py", "./mine.py", "mine"])
def test_a_function_of_one_picture_rates_it_by_itself(file: str) -> None:
    metric = typed(f"{file}:brightness")
    assert (metric.facts.name, metric.facts.kind, metric.facts.summary) == (
        "brightness",
        "no-reference",
        "Mean brightness.",
    )
    assert (metric.facts.better, metric.facts.range) == ("higher", (0, 1))
    assert [one.value for one in metric.measure([Item(frame(51)), Item(frame(102))])] == [0.2, 0.4]


def test_a_function_of_two_compares() -> None:
    metric = typed("mine.py:distance")
    assert (metric.facts.kind, metric.facts.roles, metric.facts.range) == ("full-reference", ("return",), (0, inf))
    assert metric.measure([Item(frame(51), frame(61))])[0].value == 10
    assert metric.measure([Item(frame(51))])[0].status == "no-reference"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine.py:silent", 'add two lines below it: silent.better = "higher" (or "lower"), silent.range = (0, 1)'),
        ("mine.py:turned", "range = (1, 0)"),
        ("mine.py:strange", "it should take (image) or (image, reference)"),
        ("mine.py:psnr", "like a metric that there is already"),
        ("mine.py:NUMBER", "is a int; name a function"),
        ("mine.py:gone", "has no 'gone'"),
        ("gone.py:f", "there is no file gone.py"),
        ("gone:f", "there is no module 'gone'"),
        ("brightnes", "your own function: FILE.py:NAME"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_type(name: str, said: str) -> None:
    with pytest.raises(StudyError) as caught:
        expand([name])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_functions_of_one_name_are_refused(folder: Path) -> None:
    (folder / "other.py").write_text(OWN)
    with pytest.raises(StudyError, match="have one name"):
        expand(["mine.py:brightness", "other.py:brightness"])
    assert len(expand(["mine.py:brightness", "./mine.py:brightness", "rmse"])) == 2


def test_code_is_loaded_only_if_the_user_typed_it(folder: Path) -> None:
    (folder / "evil.py").write_text("open('was-here', 'w').close()")
    for name in (f"{folder}/evil.py:f", "evil:f", "os:system", "given:f"):
        with pytest.raises(StudyError, match="a run does not choose"):
            load_metric(name)
    assert not (folder / "was-here").exists()


def test_a_changed_function_is_another_metric(folder: Path) -> None:
    before = typed("mine.py:brightness").code
    (folder / "mine.py").write_text(OWN.replace("/ 255", "/ 254"))
    assert typed("mine.py:brightness").code != before


def test_what_is_no_number_is_named_and_a_missing_value_is_missing() -> None:
    def words(image: Any) -> Any:
        return "good"

    def picky(image: Any) -> float:
        raise Unmeasurable("too-small", "not here")

    functions: list[Any] = [words, picky]
    for one in functions:
        one.better, one.range = "higher", (0, 1)
    with pytest.raises(TypeError, match="it gave str where a number is needed"):
        metric_from_function(words, "words").measure([Item(frame(1))])
    assert metric_from_function(picky, "picky").measure([Item(frame(1))])[0].status == "too-small"


def test_a_function_that_is_given_is_found_in_this_process() -> None:
    def given(image: Any) -> float:
        return 0.25

    given.better, given.range = "lower", (0, 1)  # type: ignore[attr-defined]
    metric = typed(give(given))
    assert metric.in_process
    assert metric.measure([Item(frame(1))])[0].value == 0.25
    with pytest.raises(StudyError, match="define it with def"):
        typed(give(partial(given)))
    with pytest.raises(StudyError, match=r"give it again: metrics=\[forgotten\]"):
        load_function("given:forgotten", trusted=True)


def test_what_a_run_keeps_of_a_function_is_enough_for_a_report_and_measures_nothing(folder: Path) -> None:
    metric = typed("mine.py:distance")
    (folder / "f.json").write_bytes(facts_file(metric))
    kept = load_metric(str(folder / "f.json"))
    assert kept.facts == metric.facts
    with pytest.raises(Prerequisite, match=r"--metric FILE\.py:distance"):
        kept.measure([Item(frame(1), frame(1))])


@pytest.mark.parametrize(
    "change",
    [{"name": "psnr"}, {"name": "<b>"}, {"better": "best"}, {"range": [1, 0]}, {"range": "x"}, {"more": 1}, None],
)
def test_a_file_that_somebody_changed_is_refused(folder: Path, change: dict[str, Any] | None) -> None:
    kept = json.loads(facts_file(typed("mine.py:brightness")))
    (folder / "f.json").write_text("[" * 5000 if change is None else json.dumps({**kept, **change}))
    with pytest.raises(StudyError, match="does not say what its metric is"):
        read_facts(folder / "f.json")
