"""The tables and the picture of a restoration run for the results page.

    cbench run studies/restoration-embedded.toml --run runs/restoration-embedded
    python -m benchmarks.restoration runs/restoration-embedded --into docs/results/restoration.md --part methods
    python -m benchmarks.restoration runs/restoration-embedded --sheet docs/pictures/restoration.jpg

Reads the tables that `cbench report` writes. With `--into`, they replace what stands between the page's marks;
`--part` names the parts, else all that the run has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image, ImageDraw, ImageFont

from benchmarks.marks import put_into
from convergebench.analysis.restoration.result import INPUT
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest

DIGITS = {"psnr": 2, "delta-e": 2, "piqe": 1, "niqe": 2, "brisque": 1}
"""Digits after the point; 3 for metrics between 0 and 1."""
TILE = 230


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(metric: str, value: float | None, *, sign: bool = False) -> str:
    """The value with the digits of its metric; a slash where there is none."""
    return "/" if value is None else f"{value:{'+' if sign else ''}.{DIGITS.get(metric, 3)}f}"


def spanned(metric: str, row: dict[str, Any], name: str, low: str, high: str, *, sign: bool = False) -> str:
    """`+1.20 (+0.80–+1.60)`; the interval where there is one."""
    told = number(metric, row[name], sign=sign)
    if row[low] is None or row[high] is None:
        return told
    return f"{told} ({number(metric, row[low], sign=sign)} to {number(metric, row[high], sign=sign)})"


def rows_of(tables: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table of the report."""
    path = tables / f"{name}.parquet"
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def methods(tables: Path) -> str:
    """Table 5: each method's mean over all pictures, and the share of pictures with a gain."""
    rows = rows_of(tables, "method_results")
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    by = {(row["editor"], row["metric"]): row for row in rows}
    lines = []
    for editor in dict.fromkeys(row["editor"] for row in rows):
        cells = []
        for metric in metrics:
            row = by.get((editor, metric))
            told = number(metric, row["mean"]) if row else "/"
            cells.append(f"**{told}**" if row and row["best"] else told)
        lines.append((f"`{editor}`" if editor != INPUT else "input, not restored", *cells))
    return table(("method", *metrics), lines)


def gains(tables: Path) -> str:
    """What each method gains over the degraded input, with intervals, where there is a clean picture or not."""
    rows = rows_of(tables, "method_results")
    lines = [
        (
            f"`{row['editor']}`",
            row["metric"],
            spanned(row["metric"], row, "gain", "gain_low", "gain_high", sign=True),
            "–" if row["improved"] is None else f"{row['improved']:.0%}",
            row["n_cases"],
        )
        for row in rows
        if row["editor"] != INPUT and row["metric"] in ("psnr", "ssim", "lpips", "niqe", "brisque", "piqe")
    ]
    return table(("method", "metric", "gain over the input", "pictures improved", "pictures"), lines)


def categories(tables: Path) -> str:
    """Table 4: categories × methods."""
    rows = rows_of(tables, "category_results")
    shown = [
        metric
        for metric in ("psnr", "lpips", "ssim", "niqe", "brisque", "piqe")
        if any(r["metric"] == metric for r in rows)
    ]
    chosen = [shown[0], *[metric for metric in shown if metric in ("niqe", "brisque", "piqe")][:1]]
    editors = list(dict.fromkeys(row["editor"] for row in rows))
    by = {(row["category"], row["editor"], row["metric"]): row for row in rows}
    parts = []
    for metric in chosen:
        lines = []
        for category, title in dict.fromkeys((row["category"], row["title"]) for row in rows):
            cells = []
            for editor in editors:
                row = by.get((category, editor, metric))
                told = number(metric, row["mean"]) if row else "/"
                cells.append(f"**{told}**" if row and row["best"] else told)
            lines.append((title, *cells))
        head = ("", *("input" if one == INPUT else f"`{one}`" for one in editors))
        parts.append(f"{metric}:\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def prompts(tables: Path) -> str:
    """Table 2: prompts × metrics, with group and length means."""
    rows = rows_of(tables, "prompt_results")
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    by = {(row["row"], row["metric"]): row for row in rows}
    return table(
        ("prompt", *metrics),
        [
            (name, *(number(metric, by[name, metric]["mean"]) for metric in metrics))
            for name in dict.fromkeys(row["row"] for row in rows)
        ],
    )


def factors(tables: Path) -> str:
    """Effects of length and fidelity with intervals and both p-values."""
    return table(
        ("metric", "effect", "estimate", "p", "p (Holm)", "better"),
        [
            (
                row["metric"],
                row["effect"],
                spanned(row["metric"], row, "estimate", "low", "high", sign=True),
                *("–" if row[one] is None else f"{row[one]:.3f}" for one in ("p", "p_holm")),
                row["better"] or "",
            )
            for row in rows_of(tables, "factor_effects")
        ],
    )


def stability(tables: Path) -> str:
    """Table 3: Friedman per prompt and metric, and the spread within a picture."""
    return table(
        ("method", "prompt", "metric", "χ²", "p", "p (Holm)", "spread within a picture", "pictures"),
        [
            (
                f"`{row['editor']}`",
                row["prompt"],
                row["metric"],
                *("–" if row[one] is None else f"{row[one]:.3f}" for one in ("statistic", "p", "p_holm")),
                number(row["metric"], row["spread"]),
                row["n_sources"],
            )
            for row in rows_of(tables, "stability")
        ],
    )


def refinement(tables: Path) -> str:
    """Means per round."""
    rows = rows_of(tables, "refinement")
    metrics = [one for one in dict.fromkeys(row["metric"] for row in rows) if one in ("psnr", "ssim", "lpips", "niqe")]
    rounds = sorted({row["round"] for row in rows})
    by = {(row["editor"], row["metric"], row["round"]): row["mean"] for row in rows}
    lines = [
        (f"`{editor}`", metric, *(number(metric, by.get((editor, metric, one))) for one in rounds))
        for editor in dict.fromkeys(row["editor"] for row in rows)
        for metric in metrics
    ]
    return table(("method", "metric", *("input" if one == 0 else f"round {one}" for one in rounds)), lines)


def infidelity(tables: Path) -> str:
    """Proposals of rules per mode and method."""
    rows = [row for row in rows_of(tables, "infidelity") if row["prompt"] in ("", "all", None)]
    rows = rows or rows_of(tables, "infidelity")
    return table(
        ("method", "prompt", "proposed", "chains", "of"),
        [(f"`{row['editor']}`", row["prompt"] or "all", row["mode"], row["cases"], row["n"]) for row in rows],
    )


PARTS: dict[str, Callable[[Path], str]] = {
    "methods": methods,
    "gains": gains,
    "categories": categories,
    "prompts": prompts,
    "factors": factors,
    "stability": stability,
    "refinement": refinement,
    "infidelity": infidelity,
}


def sheet(run: Path, out: Path, sources: Sequence[str], editors: Sequence[str], share: float) -> None:
    """Rows of crops: input, methods, clean picture; a square of this share of the picture around its middle."""
    frames = RunFrames(run)
    steps = frames.steps()
    frames.close()
    manifest = read_manifest(run / "manifest.json")
    names = list(editors) or list(dict.fromkeys(steps["editor"]))
    chosen = list(sources) or list(dict.fromkeys(steps["source"]))[:4]
    font = ImageFont.load_default(13)
    page = Image.new("RGB", (TILE * (len(names) + 2), (TILE + 4) * len(chosen) + 22), "white")
    draw = ImageDraw.Draw(page)
    for column, name in enumerate(["input", *names, "clean"]):
        draw.text((column * TILE + 4, 3), name, fill="black", font=font)
    for line, source in enumerate(chosen):
        rows = steps.filter(pl.col("source") == source, pl.col("replicate") == 0, pl.col("round") <= 1)
        pictures: list[Path | None] = [run / rows.filter(pl.col("index") == 0)["image"][0]]
        for name in names:
            made = rows.filter(pl.col("editor") == name, pl.col("index") == 1)["image"].drop_nulls()
            pictures.append(run / made[0] if len(made) else None)
        clean = manifest.sources.get(str(manifest.sources[source].get("clean")), {})
        found = sorted((run / "images").rglob(f"{str(clean['sha256'])[2:]}*")) if clean else []
        found = found or (sorted((run / "images").rglob(f"*{str(clean['sha256'])[4:]}*")) if clean else [])
        pictures.append(found[0] if found else None)
        for column, path in enumerate(pictures):
            if path is not None:
                page.paste(_cropped(path, share), (column * TILE, 22 + line * (TILE + 4)))
    page.save(out, quality=88)


def _cropped(path: Path, share: float) -> Image.Image:
    picture = Image.open(path).convert("RGB")
    side = round(min(picture.size) * share)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    return picture.crop((left, top, left + side, top + side)).resize((TILE - 4, TILE), Image.Resampling.LANCZOS)


def main() -> None:
    """Print, or put into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a finished restoration run with its report")
    parser.add_argument("--into", type=Path, help="a page to put the tables into")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="only these tables")
    parser.add_argument("--sheet", type=Path, help="write a picture of inputs, results and clean pictures")
    parser.add_argument("--source", action="append", default=[], help="sources of the picture")
    parser.add_argument("--editor", action="append", default=[], help="editors of the picture")
    parser.add_argument("--share", type=float, default=0.4, help="of the picture's side that is shown")
    given = parser.parse_args()
    if given.sheet:
        sheet(given.run, given.sheet, given.source, given.editor, given.share)
        return
    tables = given.run / "tables"
    for name in given.part or PARTS:
        text = PARTS[name](tables)
        if given.into:
            put_into(given.into, f"restoration-{name}", text)
        else:
            sys.stdout.write(f"## {name}\n\n{text}\n\n")


if __name__ == "__main__":
    main()
