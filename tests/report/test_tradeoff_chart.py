"""The chart of two metrics: better is right and up, the front is a staircase, labels keep out of each other's way."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.report.charts.interaction import CellMean, InteractionChart, InteractionLine
from convergebench.report.charts.printed import draw_figure
from convergebench.report.charts.printed_effects import INK
from convergebench.report.charts.tradeoff import TradeoffChart, TradeoffPoint, place_labels
from convergebench.report.palette import styles
from tests.report.drawn import marks, texts

STYLE = styles(["a", "b", "c"])
POINTS = (
    TradeoffPoint("close", STYLE["a"], 30.0, 60.0, True, "close"),
    TradeoffPoint("pretty", STYLE["b"], 20.0, 20.0, True, "pretty"),
    TradeoffPoint("neither", STYLE["c"], 19.0, 70.0, False, "neither"),
    TradeoffPoint("input", None, 25.0, 90.0, False, "input"),
)


def circles(svg: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'translate\(([\d.]+),([\d.]+)\)" d="M[\d.]+,0A', svg)]


@pytest.mark.parametrize("width", [980, 350])
@pytest.mark.parametrize(("x_better", "y_better"), [(1, -1), (-1, 1)])
def test_better_is_right_and_up_whichever_way_a_metric_counts(width: int, x_better: int, y_better: int) -> None:
    svg = TradeoffChart(POINTS, "psnr, dB", "piqe", x_better, y_better, "methods").svg(width)
    ElementTree.fromstring(svg)
    close, pretty, _ = circles(svg)
    assert (close[0] > pretty[0]) == (x_better > 0)
    assert (close[1] > pretty[1]) == (y_better < 0), "the vertical coordinate grows downwards"
    assert len(circles(svg)) == 3, "the input is a cross"


def test_the_front_is_a_staircase_through_its_points_only() -> None:
    chart = TradeoffChart(POINTS, "psnr", "piqe", 1, -1, "methods")
    assert [one.name for one in chart.front] == ["pretty", "close"]
    steps = chart.corners
    assert len(steps) == 3
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(steps))
    assert steps[1] == (20.0, 60.0), "as far right as the one, as low as the other: nobody is there"


def test_points_without_a_finite_value_are_not_drawn() -> None:
    odd = (*POINTS, TradeoffPoint("endless", STYLE["a"], float("inf"), 1.0, True, ""))
    chart = TradeoffChart(odd, "psnr", "piqe", 1, -1, "methods")
    assert "endless" not in chart.svg(980)
    assert [one.name for one in chart.front] == ["pretty", "close"]
    alone = TradeoffChart(POINTS[:1], "psnr", "piqe", 1, -1, "one")
    ElementTree.fromstring(alone.svg(350))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), min_size=1, max_size=12, unique=True))
@settings(max_examples=60, deadline=None)
def test_labels_of_points_that_are_apart_never_cover_each_other(cells: list[tuple[int, int]]) -> None:
    spots = [(60 + 95.0 * x, 40 + 55.0 * y) for x, y in cells]
    names = [f"method-{place}" for place in range(len(spots))]
    places = place_labels(spots, names, (50, 950), (30, 430))
    boxes = []
    for (x, y), place, name in zip(spots, places, names, strict=True):
        wide = 6.7 * len(name)
        left = x + place.x - {"start": 0.0, "middle": wide / 2, "end": wide}[place.anchor]
        boxes.append((left, y + place.y - 11, left + wide, y + place.y + 3))
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_an_interaction_is_drawn_with_both_lines_named_and_gaps_left_out() -> None:
    lines = [
        InteractionLine("with hint", STYLE["a"], (CellMean(20.0, 19.0, 21.0), CellMean(22.0))),
        InteractionLine("without hint", STYLE["b"], (CellMean(None), CellMean(21.0))),
    ]
    chart = InteractionChart(lines, ("short", "long"), "psnr, dB", "psnr by length and hint")
    svg = chart.svg(330)
    ElementTree.fromstring(svg)
    assert len(circles(svg)) == 3
    assert [row["low"] for row in marks(chart, "rule", 330) if "low" in row] == [19]
    assert {"with hint", "without hint", "short", "long"} <= set(texts(svg))
    assert draw_figure(chart).axes[0].get_ylabel() == "psnr, dB"


def test_print_turns_its_axes_the_same_way() -> None:
    axes = draw_figure(TradeoffChart(POINTS, "psnr", "piqe", 1, -1, "methods")).axes[0]
    low, high = axes.get_ylim()
    assert low > high, "less piqe is up"
    assert axes.get_xlim()[0] < axes.get_xlim()[1]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [line.get_color() for line in crosses] == [INK]
