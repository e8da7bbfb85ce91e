from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.report.charts.base import NARROW, WIDE
from convergebench.report.charts.dots import Dot, DotChart
from convergebench.report.charts.labels import spread
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.plot import rows_of, table
from convergebench.report.charts.scale import Scale, span, ticks, whole_ticks, within
from convergebench.report.charts.series import LineSeries, Point, endless_names, thin
from convergebench.report.charts.survival import SurvivalChart, SurvivalCurve, SurvivalPoint
from convergebench.report.charts.twin import _convert
from convergebench.report.palette import DARK, LIGHT, styles
from tests.report.drawn import axis, marks, texts

STYLE = styles(["a", "b"])


@given(st.lists(st.floats(-50, 350), min_size=1, max_size=15))
@settings(max_examples=80, deadline=None)
def test_labels_never_overlap_and_stay_inside(targets: list[float]) -> None:
    placed = spread(targets, gap=15, low=0, high=300)
    ordered = sorted(placed)
    room = min(15.0, 300 / max(1, len(targets) - 1)) if len(targets) > 1 else 15.0
    assert all(b - a >= room - 1e-6 for a, b in pairwise(ordered))
    assert min(placed) >= -1e-6
    assert max(placed) <= 300 + 1e-6


def test_labels_that_have_room_are_not_moved() -> None:
    assert spread([10, 200, 100], gap=15, low=0, high=300) == [10, 200, 100]


def test_labels_keep_the_order_of_their_lines() -> None:
    placed = spread([100, 101, 99], gap=15, low=0, high=300)
    assert placed[2] < placed[0] < placed[1]


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
@settings(max_examples=80, deadline=None)
def test_ticks_are_few_and_inside(low: float, size: float) -> None:
    marks = ticks(low, low + size)
    assert 1 <= len(marks) <= 8
    assert all(low - 1e-6 * size - 1e-6 <= mark <= low + size + 1e-6 * size + 1e-6 for mark in marks)


@pytest.mark.parametrize("last", [1, 2, 3, 5, 7, 10, 13, 20, 41, 100, 365])
def test_round_ticks_start_at_zero_and_end_at_the_last_round(last: int) -> None:
    marks = whole_ticks(last)
    assert marks[0] == 0
    assert marks[-1] == last
    assert len(marks) <= 12


def test_a_curve_that_hardly_falls_does_not_look_like_a_collapse() -> None:
    chart = LineChart(
        [_series("steady", [1.0, 0.9999, 0.9991])], "ssim", "ssim", levels=[("noticeable", 0.9)], include=[1.0]
    )
    heights = [row["y"] for row in marks(chart, "line")]
    low, high = axis(chart, "y")
    assert max(heights) - min(heights) < 0.01 * (high - low)
    assert "noticeable 0.9" in texts(chart.svg(WIDE))


@pytest.mark.parametrize(
    ("values", "least", "low", "high"),
    [
        ([579.0, 580.0], 2.0, 565, 594),  # a pixel of width
        ([0.01, 0.02], 2.0, -0.985, 1.015),  # a hundredth of a pixel of shift
        ([100.0, 100.0], 10.0, 95, 105),
        ([0.2, 0.9], 0.02, 0.2, 0.9),  # what differs has its own span
        ([0.0, 0.0], 0.0, 0, 0),
    ],
)
def test_an_axis_spans_more_than_a_trifle(values: list[float], least: float, low: float, high: float) -> None:
    assert span(values, pad=0.0, least=least) == pytest.approx((low, high) if low < high else (-0.5, 0.5))


def test_room_is_made_on_the_side_where_values_can_be() -> None:
    assert span([0.9991, 0.9999], include=[1.0], pad=0.0, least=0.1) == pytest.approx((0.9, 1.0))
    assert span([0.001, 0.002], include=[0.0], pad=0.0, least=0.1) == pytest.approx((0.0, 0.1))


def test_a_ranking_of_perfect_scores_ends_at_a_hundred() -> None:
    style = styles(["a", "b"])
    low, high = axis(DotChart([Dot(n, style[n], 100.0, 99.98, 100.0) for n in "ab"], "C", "C"), "x")
    assert low <= 92
    assert 100 < high <= 101, "a dot at 100 is not cut off"


def test_limits_are_moved_and_not_shrunk() -> None:
    assert within((95, 105), 0, 100) == (90, 100)
    assert within((-5, 5), 0, 100) == (0, 10)
    assert within((20, 80), 0, 100) == (20, 80)
    assert within((-10, 120), 0, 100) == (-10, 120)


def test_a_scale_maps_its_ends_to_its_ends() -> None:
    scale = Scale(0, 20, 100, 0)
    assert (scale(0), scale(20), scale(10), scale(99)) == (100, 0, 50, 0)


def test_markup_in_a_name_is_text_in_a_chart() -> None:
    name = 'a"></svg></script><script>x'
    drawn = LineChart([_series(name, [1.0, 0.9])], name, name).__html__()
    assert drawn.count("</script>") == drawn.count("<script") == 1, "the specification"
    (specification,) = re.findall(r"<script[^>]*>(.*)</script>", drawn)
    assert "<" not in specification
    assert json.loads(specification)["label"] == name
    assert "&lt;script&gt;x" in drawn


def test_a_missing_value_is_a_gap_and_not_a_guess() -> None:
    chart = LineChart([_series("a", [1.0, None, 0.8, 0.7])], "ssim", "ssim")
    assert [row.get("y") for row in marks(chart, "line")] == [1, None, 0.8, 0.7]
    (walked,) = re.findall(r'<path d="([^"]*)" stroke="var\(--e1\)"', chart.svg(WIDE))
    assert walked.count("M") >= 2
    assert "NaN" not in walked


def _series(name: str, values: list[float | None]) -> LineSeries:
    return LineSeries(name, STYLE["a"], tuple(Point(n, value, None, None, 3) for n, value in enumerate(values)))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_curves_begin_at_the_untouched_image_and_are_named(width: int) -> None:
    chart = LineChart([_series("kept", [1.0, 0.9, 0.8])], "ssim (↑ better)", "said aloud", [("noticeable", 0.9)], [1.0])
    root = ElementTree.fromstring(chart.svg(width))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "said aloud"
    assert {"kept", "0", "2", "noticeable 0.9", "ssim (↑ better)"} <= set(texts(chart.svg(width)))
    assert marks(chart, "line", width)[0]["x"] == 0
    assert axis(chart, "x", width) == (0, 2)


def test_an_infinite_start_is_said_where_it_cannot_be_drawn() -> None:
    drawn = LineChart([_series("a", [None, 40.0, 30.0])], "psnr", "psnr").svg(WIDE)
    assert "↑ ∞ at 0" in texts(drawn)


def test_a_ranking_says_why_an_editor_has_no_dot() -> None:
    dots = [Dot("a", STYLE["a"], 90.0, 88.0, 91.0), Dot("b", STYLE["b"], None, None, None, "no score")]
    chart = DotChart(dots, "score", "ranking")
    assert [(row["name"], row["low"], row["high"]) for row in marks(chart, "point")] == [("a", 88, 91)]
    assert "no score" in texts(chart.svg(WIDE))


def test_survival_marks_the_censored_and_counts_those_at_risk() -> None:
    stairs = (
        SurvivalPoint(0, 1.0, 1.0, 1.0, 9, 0),
        SurvivalPoint(1, 0.5, 0.2, 0.8, 8, 0),
        SurvivalPoint(2, 0.5, 0.2, 0.8, 4, 4),
    )
    chart = SurvivalChart([SurvivalCurve("a", STYLE["a"], stairs)], "share", "survival")
    assert [row["x"] for row in marks(chart, "point", named="censored")] == [2]
    counts = [row["text"] for row in marks(chart, "text", named="risk") if row["text"].isdigit()]
    assert counts == ["9", "8", "4"]


def test_the_same_chart_is_drawn_the_same_every_time() -> None:
    chart = LineChart([_series("a", [1.0, 0.9, 0.8])], "ssim", "ssim")
    first = chart.__html__()
    _convert.cache_clear()
    LineChart([_series("another", [1.0, 0.2])], "between", "the two").svg(WIDE)
    assert chart.__html__() == first


def test_a_chart_asks_for_no_font_and_no_network() -> None:
    drawn = LineChart([_series("a", [1.0, 0.9, 0.8])], "ssim", "ssim").svg(WIDE)
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in drawn


def test_rows_are_packed_without_loss() -> None:
    rows = [{"name": "a", "x": 1, "y": 0.5}, {"name": "a", "x": 2, "y": math.inf}, {"name": "b", "n": 3}]
    assert rows_of(table([*rows, *rows]))[:3] == [
        {"name": "a", "x": 1, "y": 0.5},
        {"name": "a", "x": 2},
        {"name": "b", "n": 3},
    ]


def test_long_lines_are_thinned_but_keep_their_ends() -> None:
    points = [Point(n, 1.0) for n in range(101)]
    kept = thin(points)
    assert len(kept) <= 41
    assert (kept[0].x, kept[-1].x) == (0, 100)


def test_an_editor_keeps_its_colour_when_others_follow() -> None:
    assert styles(["a", "b", "c"])["b"] == styles(["a", "b"])["b"]


def test_twelve_editors_can_be_told_apart() -> None:
    looks = styles([f"editor-{n}" for n in range(12)]).values()
    assert len({(look.slot, look.dash) for look in looks}) == 12


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT, "#fffdf9"), (DARK, "#15171b")])
def test_lines_stand_out_from_the_ground(colours: tuple[str, ...], ground: str) -> None:
    for colour in colours:
        light, dark = sorted([_luminance(colour), _luminance(ground)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.0, colour


def test_after_eight_colours_an_editors_dot_becomes_a_ring() -> None:
    style = styles([f"e{n}" for n in range(12)])
    assert style["e0"].variable == style["e8"].variable
    assert style["e0"].swatch != style["e8"].swatch
    assert style["e0"].dot != style["e8"].dot


def test_the_survival_axis_reaches_the_last_round_although_all_have_passed_before() -> None:
    stairs = (SurvivalPoint(0, 1.0, 1.0, 1.0, 9, 0), SurvivalPoint(1, 0.0, 0.0, 0.0, 9, 0))
    case = SurvivalCurve("a", styles(["a"])["a"], stairs)
    marked = SurvivalChart([case], "t", "l", rounds=3)
    assert axis(marked, "x") == (0, 3)
    assert "3" in texts(marked.svg(WIDE))


def test_editors_that_are_always_infinite_are_named() -> None:
    rows = [
        {"editor": editor, "round": n, "mean": mean}
        for editor, mean in (("perfect", math.inf), ("worn", 30.0))
        for n in (1, 2)
    ]
    assert endless_names(rows) == ["perfect"]
    chart = LineChart([_series("worn", [None, 30.0, 28.0])], "psnr", "label", endless=["perfect"])
    assert "↑ ∞ at 0; in every round: perfect" in texts(chart.svg(WIDE))


def test_values_that_are_all_the_best_possible_still_have_an_axis() -> None:
    low, high = LineChart([_series("perfect", [0.0, 0.0])], "rmse", "said", [], [0.0]).limits
    assert low < high
