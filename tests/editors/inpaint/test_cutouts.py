"""The cut-outs that are shipped: small, with an origin and a licence, and without a rim of their old background."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from convergebench.editors.inpaint import cutouts
from convergebench.editors.inpaint.cutouts import DATA, CutoutOrigin, checksum, load_cutout, origins, photographs
from convergebench.editors.inpaint.things import THINGS
from convergebench.errors import Prerequisite
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search

SHIPPED = [one for one in origins() if not one.photograph]
FETCHED = [one for one in origins() if one.photograph]


@pytest.mark.parametrize("origin", origins(), ids=lambda one: one.name)
def test_every_cutout_is_small_and_says_where_it_comes_from(origin: CutoutOrigin) -> None:
    assert (DATA / origin.file).stat().st_size <= 40_000
    assert origin.licence
    assert origin.credit
    assert origin.source
    thing = THINGS[origin.thing]
    assert len(origin.anchors) == {"eyes": 2, "head": 2, "ears": 1}.get(thing.where, 0)
    assert (origin.height > 0) == (thing.part is None)
    assert (origin.opening > 0) == (thing.where == "head")


def test_no_file_lies_there_that_no_table_names() -> None:
    assert {path.name for path in DATA.iterdir()} == {"cutouts.toml", *(one.file for one in origins())}


@pytest.mark.parametrize("origin", SHIPPED, ids=lambda one: one.name)
def test_a_shipped_cutout_has_a_licence_of_its_own_and_a_solid_object(origin: CutoutOrigin) -> None:
    assert origin.licence.startswith(("CC0", "CC-BY"))
    cutout = load_cutout(origin)
    assert cutout.pixels.shape == (*cutout.alpha.shape, 3)
    assert (cutout.alpha > 0.9).mean() > 0.02
    assert (cutout.alpha < 0.1).mean() > 0.1


@pytest.mark.parametrize("origin", FETCHED, ids=lambda one: one.name)
def test_a_fetched_photograph_is_never_shipped_only_its_mask(origin: CutoutOrigin) -> None:
    assert origin.photograph_file in {file.path for file in find_weight(origin.photograph).files}
    if search(find_weight(origin.photograph)) is None:
        pytest.skip(f"the weights are not here; type: cbench weights fetch {origin.photograph}")
    cutout = load_cutout(origin)
    inside = cutout.pixels[cutout.alpha > 0.9]
    assert inside.std() > 4  # a photograph, not a flat shape
    assert cutout.pixels.shape == (*cutout.alpha.shape, 3)


def test_without_the_photograph_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    with pytest.raises(Prerequisite, match="cbench weights fetch photographs-vendure"):
        load_cutout.__wrapped__(next(one for one in FETCHED if one.photograph == "photographs-vendure"))


def test_half_clear_pixels_lose_the_colour_of_the_old_background() -> None:
    pixels = np.zeros((20, 20, 3), np.uint8)
    pixels[:, :10] = (200, 40, 40)
    pixels[:, 10:] = (0, 255, 0)  # what was behind it
    alpha = np.zeros((20, 20), np.float32)
    alpha[:, :10], alpha[:, 10] = 1, 0.5
    cleaned = cutouts._without_background(pixels, alpha)
    np.testing.assert_array_equal(cleaned[:, :10], pixels[:, :10])
    assert np.abs(cleaned[10, 10].astype(int) - (200, 40, 40)).max() < 12


def test_another_cutout_is_another_checksum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = checksum()
    copied = tmp_path / "data"
    shutil.copytree(DATA, copied)
    monkeypatch.setattr(cutouts, "DATA", copied)
    assert checksum.__wrapped__() == before
    path = copied / SHIPPED[0].file
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert checksum.__wrapped__() != before


def test_the_photographs_are_weights_from_packages() -> None:
    for name in photographs():
        assert all(source.npm or source.package for source in find_weight(name).sources)
