"""An editor that returns other sizes than it was given: the everyday case, from `cbench run` to the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from skimage import data

from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from tests.cli.conftest import World

SHRINKING = '''
"""Wears a picture a little at every step; `Shrinking` also returns it 8 pixels narrower."""
import numpy as np

from convergebench import Capabilities, Edited, Limits
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png


class Keeping:
    lost = 0

    def __init__(self, name):
        self.name, self.fingerprint = name, f"{type(self).__name__}@1"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        pixels = decode(request.image).pixels
        noise = np.random.default_rng(request.index).normal(0, 4, pixels.shape)
        worn = np.clip(pixels + noise, 0, 255).round().astype(np.uint8)
        kept = np.ascontiguousarray(worn[:, : worn.shape[1] - self.lost])
        return Edited(encode_png(kept), "image/png", "shrinking")


class Shrinking(Keeping):
    lost = 8
'''


def photograph(name: str) -> Pixels:
    return np.ascontiguousarray(getattr(data, name)()[50:210, 50:250, :3])


@pytest.fixture
def photographs(world: World) -> World:
    """Two photographs of 200 × 160 pixels, and the two editors."""
    for path in (world.root / "pictures" / "scene").iterdir():
        path.unlink()
    for name in ("coffee", "chelsea"):
        (world.root / "pictures" / "scene" / f"{name}.png").write_bytes(encode_png(photograph(name)))
    (world.root / "plugins" / "shrinking.py").write_text(SHRINKING)
    return world


def run(world: World, editor: str, *more: str) -> str:
    words = ("run", "study.toml", "--run", f"runs/{editor}", "--editor", f"shrinking:{editor}")
    return world.cbench(*words, *more).stderr


def ssim(world: World, editor: str) -> list[float | None]:
    rows = pl.read_parquet(world.root / "runs" / editor / "tables" / "measurements.parquet")
    return rows.filter(metric="ssim", role="return").sort("case", "round")["value"].to_list()


def test_an_editor_that_returns_8_pixels_less_is_measured_and_what_it_cropped_away_is_lost(photographs: World) -> None:
    for editor in ("Shrinking", "Keeping"):
        assert "strict" not in run(photographs, editor)
    lost, kept = (ssim(photographs, editor) for editor in ("Shrinking", "Keeping"))
    assert lost == pytest.approx(kept, abs=0.03)
    less, whole = (
        json.loads(photographs.cbench("show", f"runs/{editor}", "--json").stdout)["ranking"][0]["closeness"]
        for editor in ("Shrinking", "Keeping")
    )
    # 16 of 200 columns are gone after each round: 92, 84 and 76 % of the source are in view, and 100 % at the start
    assert less / whole == pytest.approx((0.5 + 0.92 + 0.84 + 0.38) / 3, abs=0.02)
    page = (photographs.root / "runs" / "Shrinking" / "report" / "index.html").read_text(encoding="utf-8")
    assert "aligned: auto (12 of 12 pictures moved: 12 aligned with the source; at least 76 % of the source" in page
    assert "moved" not in (photographs.root / "runs" / "Keeping" / "report" / "index.html").read_text(encoding="utf-8")


def test_strict_stays_available_and_a_line_tells_what_to_type(photographs: World) -> None:
    line = (
        "12 pictures have a different size than the source and no value under strict; to measure them as well: "
        "cbench measure runs/Shrinking --align auto\n"
    )
    assert run(photographs, "Shrinking", "--align", "strict").endswith(line)
    shown = photographs.cbench("show", "runs/Shrinking", "--json")
    assert shown.stderr == line
    photographs.cbench("measure", "runs/Shrinking", "--align", "auto")
    after = photographs.cbench("show", "runs/Shrinking", "--json")
    assert after.stderr == ""
    assert all(row["closeness"] is not None for row in json.loads(after.stdout)["ranking"])


def test_a_run_is_looked_at_under_each_alignment_it_was_measured_under(photographs: World) -> None:
    run(photographs, "Shrinking", "--no-report")
    for command in ("show", "report"):
        failed = photographs.cbench(command, "runs/Shrinking", "--align", "fit", ok=False)
        assert failed.stderr == (
            "error: runs/Shrinking was measured under auto, not under fit; "
            "type: cbench measure runs/Shrinking --align fit\n"
        )
    photographs.cbench("measure", "runs/Shrinking", "--align", "fit")
    under_fit, under_auto = (
        json.loads(photographs.cbench("show", "runs/Shrinking", "--json", *more).stdout)["ranking"][0]
        for more in ((), ("--align", "auto"))
    )
    assert under_fit["closeness"] < under_auto["closeness"] - 10, "what was cut off counts as loss when it is stretched"
    photographs.cbench("report", "runs/Shrinking", "--align", "auto")
    page = (photographs.root / "runs" / "Shrinking" / "report" / "index.html").read_text(encoding="utf-8")
    assert "aligned: auto (" in page


def test_a_run_begun_under_another_alignment_keeps_it_until_it_is_told_otherwise(photographs: World) -> None:
    """As a run of an earlier version, whose study files said nothing and meant strict."""
    run(photographs, "Shrinking", "--align", "strict", "--no-report")
    run(photographs, "Shrinking", "--no-report", "--rounds", "4")
    assert alignments(photographs) == {"strict"}
    study = photographs.root / "study.toml"
    study.write_text(study.read_text().replace("[measure]", '[measure]\nalign = "auto"'))
    run(photographs, "Shrinking", "--no-report", "--rounds", "4")
    assert alignments(photographs) == {"strict", "auto"}
    assert manifest(photographs.root / "runs" / "Shrinking")["spec"]["measure"]["align"] == "auto"


def alignments(world: World) -> set[str]:
    from convergebench.store.frames import RunFrames

    frames = RunFrames(world.root / "runs" / "Shrinking")
    found = set(frames.alignments())
    frames.close()
    return found


def manifest(run: Path) -> dict[str, dict[str, dict[str, str]]]:
    content: dict[str, dict[str, dict[str, str]]] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return content


def test_loose_files_of_other_sizes_have_values_too(photographs: World) -> None:
    whole = photograph("coffee")
    for name, pixels in (("whole", whole), ("cut", np.ascontiguousarray(whole[:, 8:]))):
        (photographs.root / f"{name}.png").write_bytes(encode_png(pixels))
    words = ("measure", "cut.png", "--reference", "whole.png", "--metric", "ssim")
    assert ',1.0,ok,"registered: scale x 1, scale y 1, shift x -4,' in photographs.cbench(*words).stdout
    assert ",size,192×160 vs 200×160" in photographs.cbench(*words, "--align", "strict").stdout


def test_a_slip_in_an_alignment_is_one_line(photographs: World) -> None:
    for command in (("run", "study.toml"), ("measure", "x.png"), ("show", "runs/x"), ("report", "runs/x")):
        said = photographs.cbench(*command, "--align", "fitt", ok=False).stderr
        assert "unknown alignment 'fitt'; did you mean 'fit'? (there are: auto, strict, fit or crop-aware)" in said
