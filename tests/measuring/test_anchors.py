"""Chance anchors: noise, grey and another source, each held against the source."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.conductor import run_chains
from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.encode import encode_png
from convergebench.measuring import anchors as room
from convergebench.measuring.anchors import evenly, measure_anchors, noise
from convergebench.metrics.base import Item, batched, metric
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run
from convergebench.store.tables import CaseRow, ImageRow
from convergebench.types import SourceImage
from tests.engine.parts import CountingEditor, case_of, chains_of, faults, query
from tests.store.older import make_older

SIDE = 48
METRICS = ("psnr", "ssim", "gmsd", "gist", "background-ssim", "noise", "happened", "niqe")


def drawn(name: str, seed: int, *, width: int = SIDE, height: int = SIDE) -> SourceImage:
    """A smooth picture with a shape in it, unlike that of another seed."""
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    ramp = np.stack([across, down, (across + down) / 2], axis=-1)[..., np.roll([0, 1, 2], seed)]
    disc = (across - 0.2 - 0.1 * (seed % 7)) ** 2 + (down - 0.5) ** 2 < 0.03
    pixels = (255 * np.where(disc[..., None], 1 - ramp, ramp)).astype(np.uint8)
    return stored(name, pixels)


def stored(name: str, pixels: Any) -> SourceImage:
    data = encode_png(pixels)
    height, width = pixels.shape[:2]
    return SourceImage(name, "scene", hashlib.sha256(data).hexdigest(), width, height, "CC0", "test", lambda: data)


def edited(root: Path, images: list[SourceImage]) -> Path:
    """A run of one round over these sources, not yet measured."""
    cases = [case_of(image) for image in images]
    rows: list[Any] = []
    with Run.create(root) as run:
        for image in images:
            identity = run.images.put(image.read(), "image/png")
            file = run.images.file_of(identity, "image/png")
            rows.append(ImageRow(identity, file, "image/png", image.width, image.height, 1))
        rows += [CaseRow(c.id, c.source_id, c.source.image, "scene", "plus", "test", c.replicate) for c in cases]
        run.journal.commit_now(rows)
        editor = CountingEditor()
        run_chains(run, {editor.name: editor}, chains_of(cases, 1))
    return root


def fill(root: Path, *metrics: str, **how: Any) -> int:
    with Run.create(root) as run:
        return measure_anchors(run, metrics, **how)


def values(root: Path) -> dict[tuple[str, str, str], float | None]:
    rows = query(root, "select source, anchor, metric, value from anchors")
    return {(source, anchor, name): value for source, anchor, name, value in rows}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return edited(tmp_path / "run", [drawn("a", 0), drawn("b", 1)])


def test_every_metric_that_compares_with_the_source_says_what_chance_gets(two: Path) -> None:
    assert fill(two, *METRICS) == 2 * 3 * 4
    found = values(two)
    assert {anchor for _, anchor, _ in found} == {"noise", "grey", "other"}
    assert {name for _, _, name in found} == {"psnr", "ssim", "gmsd", "gist"}
    similar = [value for (_, _, name), value in found.items() if name == "ssim"]
    assert all(value is not None and value < 0.75 for value in similar)
    noisy = found["a", "noise", "ssim"]
    assert noisy is not None
    assert abs(noisy) < 0.1


def test_the_other_picture_is_another_source_brought_to_the_same_size(tmp_path: Path) -> None:
    root = edited(tmp_path / "run", [drawn("small", 0), drawn("large", 3, width=2 * SIDE, height=SIDE)])
    fill(root, "ssim", "psnr")
    statuses = query(root, "select distinct status from anchors where anchor = 'other'")
    assert statuses == [("ok",)]
    found = values(root)
    assert found["small", "other", "psnr"] == pytest.approx(found["large", "other", "psnr"], abs=1.5)


def test_a_picture_that_cannot_be_measured_is_a_row_with_its_reason(two: Path) -> None:
    fill(two, "gist")
    rows = query(two, "select source, value, status from anchors where anchor = 'grey' order by source")
    assert rows == [("a", None, "featureless"), ("b", None, "featureless")]


def test_a_source_that_cannot_be_measured_is_not_the_pictures_fault(tmp_path: Path) -> None:
    even = stored("even", np.full((SIDE, SIDE, 3), 90, np.uint8))
    root = edited(tmp_path / "run", [even, drawn("a", 0)])
    fill(root, "gist")
    rows = query(root, "select anchor, value, status from anchors where source = 'even' order by anchor")
    assert rows == [(anchor, None, "source-unfit") for anchor in ("grey", "noise", "other")]
    assert query(root, "select status from anchors where source = 'a' and anchor = 'grey'") == [("featureless",)]


@pytest.mark.parametrize("damage", ["away", "cut short"])
def test_a_damaged_source_leaves_no_row_and_is_measured_once_it_is_mended(two: Path, damage: str) -> None:
    ((file,),) = query(two, "select i.file from cases c join images i on i.id = c.image where c.source = 'a'")
    data = (two / file).read_bytes()
    (two / file).unlink() if damage == "away" else (two / file).write_bytes(data[: len(data) // 2])
    with pytest.raises(StudyError, match=r"1 damaged image .*cbench verify"):
        fill(two, "ssim")
    assert query(two, "select * from anchors where source = 'a'") == []
    (two / file).write_bytes(data)
    fill(two, "ssim")
    assert query(two, "select distinct source, status from anchors order by 1") == [("a", "ok"), ("b", "ok")]


def test_one_source_alone_has_no_other_picture(tmp_path: Path) -> None:
    root = edited(tmp_path / "run", [drawn("a", 0)])
    assert fill(root, "ssim") == 2
    assert {anchor for _, anchor, _ in values(root)} == {"noise", "grey"}


def test_a_second_source_with_the_same_pixels_is_no_other_picture(tmp_path: Path) -> None:
    image = drawn("a", 0)
    twin = SourceImage("twin", "scene", image.sha256, SIDE, SIDE, "CC0", "test", image.read)
    root = edited(tmp_path / "run", [image, twin])
    fill(root, "ssim")
    assert {anchor for _, anchor, _ in values(root)} == {"noise", "grey"}


def test_what_is_there_stays_and_only_what_is_missing_is_measured(two: Path) -> None:
    assert fill(two, "ssim") == 6
    before = values(two)
    assert fill(two, "ssim") == 0
    assert fill(two, "ssim", "psnr") == 6
    assert before.items() <= values(two).items()


def test_the_same_run_has_the_same_numbers(tmp_path: Path) -> None:
    one, again = (edited(tmp_path / name, [drawn("a", 0), drawn("b", 1)]) for name in ("one", "again"))
    for root in (one, again):
        fill(root, "ssim", "gist")
    assert values(one) == values(again)


def test_noise_is_fixed_by_the_source_and_even_over_all_values() -> None:
    one, again, other = noise("a", (64, 32)), noise("a", (64, 32)), noise("b", (64, 32))
    assert one.size == (64, 32)
    assert np.array_equal(one.pixels, again.pixels)
    assert not np.array_equal(one.pixels, other.pixels)
    assert one.pixels.mean() == pytest.approx(127.5, abs=3)
    assert (one.pixels.min(), one.pixels.max()) == (0, 255)


def test_at_most_twelve_sources_are_asked_for_evenly_and_always_the_same(tmp_path: Path) -> None:
    names = [f"s{number:02}" for number in range(30)]
    chosen = evenly(names, 12)
    assert len(chosen) == 12
    assert chosen == evenly(names, 12)
    assert {later - earlier for earlier, later in pairwise(names.index(name) for name in chosen)} <= {2, 3}
    assert evenly(names[:5], 12) == names[:5]
    root = edited(tmp_path / "run", [drawn(name, number) for number, name in enumerate(names[:14])])
    fill(root, "psnr")
    assert len({source for source, _, _ in values(root)}) == 12


def test_networks_are_asked_for_half_as_many_of_the_same_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @batched("slow", kind="semantic", better="higher", range=(0.0, 1.0), network=True, batch=8)
    def slow(items: Sequence[Item]) -> list[float | Unmeasurable]:
        """A network by name."""
        sizes.append(len(items))
        return [0.5] * len(items)

    sizes: list[int] = []
    root = edited(tmp_path / "run", [drawn(f"s{number:02}", number) for number in range(14)])
    fill(root, "psnr")
    monkeypatch.setattr(room, "load_metric", lambda name: slow)
    fill(root, "slow", workers=1)
    found = values(root)
    few = {source for source, _, name in found if name == "slow"}
    assert len(few) == 6
    assert few < {source for source, _, name in found if name == "psnr"}
    assert sizes == [3] * 6, "the pictures of a source come as one batch"


def test_several_processes_give_what_one_gives(two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(two, "ssim", "gmsd")
    monkeypatch.setattr(room, "IN_PROCESS_PIXELS", 0)
    monkeypatch.setattr(room, "SOURCES_PER_PROCESS", 1)
    other = edited(tmp_path / "shared", [drawn("a", 0), drawn("b", 1)])
    fill(other, "ssim", "gmsd", workers=2)
    assert values(other) == values(two)


def test_a_metrics_slip_is_one_line_and_leaves_no_row(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @metric("slipping", kind="full-reference", better="lower", range=(0.0, 1.0))
    def slipping(item: Item) -> float:
        """Divides by zero."""
        return 1 / 0

    monkeypatch.setattr(room, "load_metric", lambda name: slipping)
    with pytest.raises(StudyError, match=r"metric 'slipping' failed on the chance anchors of a: ZeroDivisionError"):
        fill(two, "slipping")
    assert values(two) == {}


def test_only_what_the_picture_did_is_told_as_its_own(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @metric("choosy", kind="semantic", better="higher", range=(0.0, 1.0))
    def choosy(item: Item) -> float:
        """Measures everything but grey."""
        if item.subject.pixels.std() == 0:
            raise Unmeasurable("featureless", "nothing there")
        return 0.5

    monkeypatch.setattr(room, "load_metric", lambda name: choosy)
    fill(two, "choosy")
    rows = query(two, "select anchor, value, status from anchors where source = 'a' order by anchor")
    assert rows == [("grey", None, "featureless"), ("noise", 0.5, "ok"), ("other", 0.5, "ok")]


def test_the_frame_holds_every_row_and_a_run_without_the_table_has_none(two: Path) -> None:
    fill(two, "ssim", "gist")
    assert faults(two, "counting@1") == []
    frames = RunFrames(two)
    table = frames.anchors()
    frames.close()
    assert table.columns == ["source", "anchor", "metric", "fingerprint", "value", "status", "detail"]
    assert table.height == 12
    assert table.filter(anchor="grey", metric="gist")["value"].null_count() == 2
    make_older(two, 3)
    frames = RunFrames(two)
    older = frames.anchors()
    frames.close()
    assert older.height == 0
    assert older.schema == table.schema


def test_a_run_from_before_the_table_gets_it_when_it_is_measured(two: Path) -> None:
    make_older(two, 3)
    assert fill(two, "ssim") == 6
