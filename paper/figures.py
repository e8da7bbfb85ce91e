"""The paper's figures: from its tables, in the style of the reports, and two strips cut from committed pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from convergebench.report.charts.printed import RC_PARAMS
from convergebench.report.palette import LIGHT, styles
from paper.numbers import PERCENTILE, SKEWED, USUAL, WRECKED
from paper.tables import ROOT, Cell, Table

Tables = Mapping[str, Table]
STYLE: dict[str, Any] = {
    **RC_PARAMS,
    "font.size": 7.5,
    "axes.titlesize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 3,
}
METADATA = {"CreationDate": None, "Creator": "ConvergeBench", "Producer": None}
GREY = "#8a8a90"
STEPS = (1, 2, 5, 10, 20, 50)
NAMED = {
    "realesrgan-x4": (4, 6), "realesr-anime": (-34, -9), "unsharp": (6, -2), "sim-restorer": (-40, 5),
    "waifu2x-denoise-3": (7, -7),
}  # fmt: skip
"""The methods with a label, and where it is relative to the point."""


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _ends(cell: Cell, scale: float = 1.0) -> tuple[float, float]:
    """The lengths of the two arms of an interval."""
    assert cell.low is not None
    assert cell.high is not None
    return max(0.0, (cell.number - cell.low) * scale), max(0.0, (cell.high - cell.number) * scale)


def _line(axes: Any, places: Sequence[float], cells: Sequence[Cell], label: str, colour: str, dash: str = "-") -> None:
    axes.plot(places, [cell.number for cell in cells], dash, marker="o", color=colour, label=label)
    axes.fill_between(
        places, [cell.low for cell in cells], [cell.high for cell in cells], color=colour, alpha=0.13, linewidth=0
    )


def _steps(axes: Any, ticks: Sequence[int], title: str) -> None:
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("copies")
    axes.set_title(title, loc="left")


def copies(tables: Tables) -> Figure:
    """SSIM over copies, and the rank correlation with the order after one copy."""
    figure = _figure(7.0, 2.3)
    curves, orders, kinds = figure.subplots(1, 3)
    found = tables["copies_ssim"]
    for (name, style), row in zip(styles([row["editor"].text for row in found.rows]).items(), found.rows, strict=True):
        _line(curves, STEPS, [row[f"s{step}"] for step in STEPS], name, style.light)
    curves.set_ylim(0, 1)
    curves.legend(frameon=False, fontsize=6.5)
    _steps(curves, STEPS, "SSIM to the source")
    for number, metric in enumerate(("ssim", "psnr", "lpips")):
        rows = tables[f"order_{metric}"].rows
        _line(
            orders, [row["after"].number for row in rows], [row["rank"] for row in rows], metric.upper(), LIGHT[number]
        )
    for number, (label, name) in enumerate((("autoencoders", "order_ssim"), ("restorers", "restorer_order_ssim"))):
        rows = tables[name].rows
        _line(kinds, [row["after"].number for row in rows], [row["rank"] for row in rows], label, LIGHT[(0, 4)[number]])
    for axes, ticks, title in (
        (orders, STEPS[1:], "order after 1 and $n$ copies"),
        (kinds, (2, 5, 10, 20, 50, 100), "the same by SSIM"),
    ):
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_ylim(-1, 1.02)
        axes.legend(frameon=False, fontsize=6.5, loc="lower left")
        _steps(axes, ticks, title.replace("$n$", "n"))
    return figure


def coverage(tables: Tables) -> Figure:
    """Coverage by number of images."""
    figure = _figure(3.4, 2.1)
    axes = figure.subplots()
    sizes = (5, 8, 12, 30)
    lines = (
        *((name, "#a9a9b0", "-", "usual worlds") for name in USUAL),
        (SKEWED, LIGHT[1], "-", "very skewed"),
        (WRECKED, LIGHT[1], ":", "one in four wrecked"),
        (PERCENTILE, LIGHT[0], "--", "percentiles (not used)"),
    )
    named: set[str] = set()
    for name, colour, dash, label in lines:
        row = tables["coverage"].row(quantity=name)
        shown = "_" if label in named else label
        named.add(label)
        axes.plot(sizes, [row[f"n{size}"].number for size in sizes], dash, marker="o", color=colour, label=shown)
    axes.axhline(95, color="#333333", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel="images", ylabel="coverage, %", ylim=(74, 101))
    axes.legend(frameon=False, fontsize=6.5, loc="lower right")
    return figure


def audit(tables: Tables) -> Figure:
    """Share of failing chains by metric, for three sets of editors."""
    figure = _figure(3.4, 2.5)
    axes = figure.subplots()
    metrics = ("brisque", "niqe", "piqe", "ilniqe", "cnniqa-live", "decay")
    sets = (
        ("autoencoders", "audit_autoencoders"),
        ("autoencoders, 1 MP", "audit_large"),
        ("restorers", "audit_restorers"),
    )
    for number, (label, name) in enumerate(sets):
        for place, metric in enumerate(metrics):
            cell = tables[name].cell("chains", metric=metric)
            assert cell.of
            share = Cell("", 100 * cell.number / cell.of, cell.low, cell.high)
            left, right = _ends(share)
            axes.errorbar(
                share.number, place + 0.22 * (number - 1), xerr=[[left], [right]], fmt="os^"[number],
                color=LIGHT[number], elinewidth=1, label=label if place == 0 else "_",
            )  # fmt: skip
    axes.set_yticks(range(len(metrics)), [f"{name} (ours)" if name == "decay" else name for name in metrics])
    axes.invert_yaxis()
    axes.set(xlabel="chains on which the metric fails, %", xlim=(-1, 100))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False, fontsize=6.5)
    return figure


def restoration(tables: Tables) -> Figure:
    """Gain by PSNR against gain by NIQE."""
    figure = _figure(3.4, 2.4)
    axes = figure.subplots()
    gains = {(row["method"].text, row["metric"].text): row["gain"] for row in tables["restoration_gains"].rows}
    learned = ("realesr", "span", "waifu")
    for method in dict.fromkeys(method for method, _ in gains):
        x, y = gains[method, "psnr"], gains[method, "niqe"]
        kind = 2 if method.startswith("sim-") else 0 if method.startswith(learned) else 1
        colour, marker = (LIGHT[0], LIGHT[1], GREY)[kind], "osx"[kind]
        axes.errorbar(
            x.number, y.number, xerr=[[_ends(x)[0]], [_ends(x)[1]]], yerr=[[_ends(y)[0]], [_ends(y)[1]]], fmt=marker,
            color=colour, elinewidth=0.7, alpha=0.9,
        )  # fmt: skip
        if method in NAMED:
            axes.annotate(method, (x.number, y.number), NAMED[method], textcoords="offset points", fontsize=6)
    for colour, marker, label in ((LIGHT[0], "o", "learned"), (LIGHT[1], "s", "classical"), (GREY, "x", "simulated")):
        axes.plot([], [], marker, color=colour, label=label)
    axes.axhline(0, color="#333333", linewidth=0.7)
    axes.axvline(0, color="#333333", linewidth=0.7)
    axes.set(xlabel="gain in PSNR, dB", ylabel="gain in NIQE", xlim=(-1.4, 0.75), ylim=(-2.7, 5))
    axes.legend(frameon=False, fontsize=6.5, loc="lower left")
    return figure


CHARTS: dict[str, Callable[[Tables], Figure]] = {
    "copies": copies, "coverage": coverage, "audit": audit, "restoration": restoration,
}  # fmt: skip


def strip(rows: Sequence[tuple[str, int]], heads: Sequence[str]) -> Figure:
    """Rows of docs/pictures/hundred-steps.jpg: (name, place in the picture)."""
    with Image.open(ROOT / "docs" / "pictures" / "hundred-steps.jpg") as opened:
        sheet = opened.convert("RGB")
    side = 144
    left, top = sheet.width - side * len(heads), sheet.height - side * 5
    figure = _figure(7.0, 7.0 * (len(rows) * side + 26) / (side * len(heads) + 60))
    axes = figure.subplots()
    joined = Image.new("RGB", (side * len(heads), side * len(rows)), "white")
    for number, (_, place) in enumerate(rows):
        box = (left, top + side * place, sheet.width, top + side * (place + 1))
        joined.paste(sheet.crop(box), (0, side * number))
    axes.imshow(joined, interpolation="lanczos")
    axes.set_xticks([side * (number + 0.5) for number in range(len(heads))], heads)
    axes.set_yticks([side * (number + 0.5) for number in range(len(rows))], [name for name, _ in rows])
    _bare(axes)
    return figure


def inpaint(rows: int = 4) -> Figure:
    """The first rows of docs/pictures/inpaint-chains.jpg."""
    with Image.open(ROOT / "docs" / "pictures" / "inpaint-chains.jpg") as opened:
        sheet = opened.convert("RGB")
    height = round(sheet.height * rows / 6)
    figure = _figure(3.4, 3.4 * (height + 40) / (sheet.width + 130))
    axes = figure.subplots()
    axes.imshow(
        sheet.crop((0, 0, sheet.width, height)).resize((sheet.width // 2, height // 2), Image.Resampling.LANCZOS)
    )
    side, deep = sheet.width / 14, height / 2 / rows
    axes.set_xticks([side * (n + 0.5) for n in range(7)], ["source", "edit", "1", "2", "3", "4", "5"])
    axes.set_yticks([deep * (n + 0.5) for n in range(rows)], ["alone", "taesd"] * (rows // 2))
    _bare(axes)
    return figure


def _bare(axes: Any) -> None:
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=7)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def write_figures(tables: Tables, folder: Path) -> list[Path]:
    """Every figure as `figure-NAME.pdf`; the same tables give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        heads = ["source", "1", "2", "5", "10", "20", "50", "100"]
        drawn = {name: chart(tables) for name, chart in CHARTS.items()}
        drawn["strip"] = strip((("taef2", 1), ("taesd3", 3), ("taesd", 2)), heads)
        drawn["inpaint"] = inpaint()
        for name, figure in drawn.items():
            written.append(folder / f"figure-{name}.pdf")
            figure.savefig(written[-1], format="pdf", dpi=220, metadata=METADATA)
    return written
