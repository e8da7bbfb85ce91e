from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.report.charts.dots import Dot, DotChart
from convergebench.report.charts.labels import spread
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.scale import Scale, span, tick_text, ticks, whole_ticks, within
from convergebench.report.charts.series import LineSeries, Point, endless_names, thin
from convergebench.report.charts.survival import SurvivalChart, SurvivalCurve, SurvivalPoint
from convergebench.report.charts.svg import NARROW, WIDE, element, path
from convergebench.report.palette import DARK, LIGHT, styles

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


def test_tick_numbers_have_the_decimals_of_their_step() -> None:
    assert [tick_text(mark, [0.0, 0.25, 0.5]) for mark in (0.0, 0.25, 0.5)] == ["0.00", "0.25", "0.50"]
    assert tick_text(-5, [-5, 0, 5]) == "−5"


def test_a_curve_that_hardly_falls_does_not_look_like_a_collapse() -> None:
    chart = LineChart(
        [_series("steady", [1.0, 0.9999, 0.9991])], "ssim", "ssim", levels=[("noticeable", 0.9)], include=[1.0]
    )
    drawn = str(chart.svg(720))
    (walked,) = re.findall(r'<path d="M([^"]+)"[^>]*class="curve"', drawn)
    heights = [float(place.split()[1]) for place in walked.split("L")]
    assert max(heights) - min(heights) < 0.01 * (360 - 34)
    assert "noticeable 0.9" in drawn


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
    drawn = str(DotChart([Dot(n, style[n], 100.0, 99.98, 100.0) for n in "ab"], "C", "C").svg(720))
    shown = [float(number) for number in re.findall(r'class="tick"[^>]*>([\d.]+)<', drawn)]
    assert min(shown) <= 92
    assert max(shown) == 100
    places = [float(place) for place in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    assert places == [pytest.approx(616, abs=2)] * 2, "near the right end, and inside"


def test_limits_are_moved_and_not_shrunk() -> None:
    assert within((95, 105), 0, 100) == (90, 100)
    assert within((-5, 5), 0, 100) == (0, 10)
    assert within((20, 80), 0, 100) == (20, 80)
    assert within((-10, 120), 0, 100) == (-10, 120)


def test_a_scale_maps_its_ends_to_its_ends() -> None:
    scale = Scale(0, 20, 100, 0)
    assert (scale(0), scale(20), scale(10), scale(99)) == (100, 0, 50, 0)


def test_markup_in_a_name_is_text_in_a_chart() -> None:
    assert "<b>" not in element("text", "<b>bold</b>", title='"><script>')
    assert "&lt;b&gt;" in element("text", "<b>bold</b>")
    assert "<script>" not in element("text", "x", title='"><script>')


def test_a_missing_value_is_a_gap_and_not_a_guess() -> None:
    drawn = path([(0, 0), None, (2, 2), (3, 3)])
    assert re.findall(r'd="([^"]*)"', drawn) == ["M0 0M2 2L3 3"]


def _series(name: str, values: list[float | None]) -> LineSeries:
    return LineSeries(name, STYLE["a"], tuple(Point(n, value, None, None, 3) for n, value in enumerate(values)))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_curves_begin_at_the_untouched_image_and_are_named(width: int) -> None:
    chart = LineChart([_series("kept", [1.0, 0.9, 0.8])], "ssim (↑ better)", "said aloud", [("noticeable", 0.9)], [1.0])
    drawn = chart.svg(width)
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "said aloud"
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"kept", "0", "2", "noticeable 0.9", "ssim (↑ better)"} <= set(texts)
    curve = next(node for node in root.iter() if node.attrib.get("class") == "curve")
    left = 38 if width == NARROW else 52
    assert curve.attrib["d"].startswith(f"M{left} ")


def test_an_infinite_start_is_said_where_it_cannot_be_drawn() -> None:
    drawn = LineChart([_series("a", [None, 40.0, 30.0])], "psnr", "psnr").svg(WIDE)
    assert "∞ at 0" in drawn


def test_a_ranking_says_why_an_editor_has_no_dot() -> None:
    dots = [Dot("a", STYLE["a"], 90.0, 88.0, 91.0), Dot("b", STYLE["b"], None, None, None, "no score")]
    drawn = DotChart(dots, "score", "ranking").svg(WIDE)
    assert drawn.count("<circle") == 1
    assert "no score" in drawn


def test_survival_marks_the_censored_and_counts_those_at_risk() -> None:
    stairs = (
        SurvivalPoint(0, 1.0, 1.0, 1.0, 9, 0),
        SurvivalPoint(1, 0.5, 0.2, 0.8, 8, 0),
        SurvivalPoint(2, 0.5, 0.2, 0.8, 4, 4),
    )
    drawn = SurvivalChart([SurvivalCurve("a", STYLE["a"], stairs)], "share", "survival").svg(WIDE)
    assert drawn.count('class="censor"') == 1
    counts = re.findall(r"<tspan[^>]*>(\d+)</tspan>", drawn)
    assert counts == ["9", "8", "4"]


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
    marked = SurvivalChart([case], "t", "l", rounds=3).svg(WIDE)
    assert ">3</text>" in marked


def test_editors_that_are_always_infinite_are_named() -> None:
    rows = [
        {"editor": editor, "round": n, "mean": mean}
        for editor, mean in (("perfect", math.inf), ("worn", 30.0))
        for n in (1, 2)
    ]
    assert endless_names(rows) == ["perfect"]
    chart = LineChart([_series("worn", [None, 30.0, 28.0])], "psnr", "label", endless=["perfect"])
    assert "in every round: perfect" in chart.svg(WIDE)
