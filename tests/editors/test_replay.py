"""Recorded chains, read and played back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.editors.replay import ReplayEditor, read_recordings, replay
from convergebench.editors.simulated.pixels import encode_jpeg, encode_png
from convergebench.errors import Exhausted, StudyError
from convergebench.types import Editor

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "flux-kontext-dev-roundtrips"


def record(folder: Path, *names: str) -> Path:
    """A chain folder with these files, each of its own grey."""
    folder.mkdir(parents=True)
    for level, name in enumerate(names):
        pixels = np.full((4, 4, 3), 10 * level, np.uint8)
        (folder / name).write_bytes(encode_jpeg(pixels, 90) if name.endswith("jpg") else encode_png(pixels))
    return folder


@pytest.fixture
def two(tmp_path: Path) -> Path:
    record(tmp_path / "portrait_01_hat", "I0_source.png", "I1_forward.png", "I1_backward.jpg")
    record(tmp_path / "deep" / "kitchen", "I0_source.png", "I1_forward.png", "I1_backward.png", "I2_forward.png")
    return tmp_path


def test_chains_are_found_at_any_depth_and_described_by_their_names(two: Path) -> None:
    kitchen, hat = read_recordings(two)
    assert (hat.id, hat.kind, hat.pair, hat.source_id) == ("portrait_01_hat", "face", "hat", "portrait_01")
    assert (kitchen.id, kitchen.kind, kitchen.pair) == ("kitchen", "scene", "kitchen")
    assert hat.forward is None
    assert (hat.rounds, len(hat.steps)) == (1, 2)


def test_forward_edit_at_the_end_is_a_half_round(two: Path) -> None:
    kitchen = read_recordings(two / "deep" / "kitchen")[0]
    assert (kitchen.rounds, len(kitchen.steps)) == (1, 3)


def test_list_beside_the_chains_is_believed(two: Path) -> None:
    entry = {
        "chain": "portrait_01_hat",
        "image_kind": "object",
        "pair": "cap",
        "category": "c",
        "forward": "f",
        "rounds": 3,
    }
    (two / "published.json").write_text(json.dumps([entry]))
    hat = read_recordings(two)[1]
    assert (hat.kind, hat.pair, hat.category, hat.forward, hat.backward) == ("object", "cap", "c", "f", None)


def test_files_are_served_as_they_are_by_case_and_step(two: Path, run: Any) -> None:
    editor = ReplayEditor("kontext", two, cases={"c1:abc": "portrait_01_hat"})
    assert isinstance(editor, Editor)
    first = run(editor, b"", "whatever", case="c1:abc", index=1)
    second = run(editor, b"", "whatever", case="c1:abc", index=2)
    assert first.image == (two / "portrait_01_hat" / "I1_forward.png").read_bytes()
    assert (first.mime, second.mime) == ("image/png", "image/jpeg")
    assert second.image == (two / "portrait_01_hat" / "I1_backward.jpg").read_bytes()
    assert run(editor, b"", "", case="kitchen", index=3).image == (two / "deep/kitchen/I2_forward.png").read_bytes()


def test_end_of_a_recording_censors_the_chain(two: Path, run: Any) -> None:
    with pytest.raises(Exhausted, match="ends after 2 steps"):
        run(ReplayEditor("kontext", two), b"", "", case="portrait_01_hat", index=3)


def test_identity_follows_the_files(two: Path) -> None:
    before = ReplayEditor("a", two).fingerprint
    assert ReplayEditor("b", two).fingerprint == before
    (two / "portrait_01_hat" / "I1_forward.png").write_bytes(encode_png(np.zeros((4, 4, 3), np.uint8)))
    assert ReplayEditor("a", two).fingerprint != before


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("I1_forward.png",), "has no I0_source"),
        (("I0_source.png", "I1_forward.png", "I1_backward.png", "I3_forward.png"), "I3_forward.png but no I2_forward"),
        (("I0_source.png", "I1_backward.png"), "I1_backward.png but no I1_forward"),
        (("I0_source.png", "I1_forward.png", "I2_forward.png"), "I2_forward.png but no I1_backward"),
        (("I0_source.png", "I1_forward.png", "I1_forward.jpg"), "keep one"),
    ],
)
def test_broken_chain_is_a_one_line_error(names: tuple[str, ...], message: str, tmp_path: Path) -> None:
    record(tmp_path / "chain", *names)
    with pytest.raises(StudyError, match=message) as error:
        read_recordings(tmp_path)
    assert "\n" not in str(error.value)


def test_empty_and_absent_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no recorded chain"):
        read_recordings(tmp_path)
    with pytest.raises(StudyError, match="no folder"):
        read_recordings(tmp_path / "nowhere")


def test_factory_checks_its_options(two: Path, run: Any) -> None:
    assert replay("kontext", folder=str(two)).name == "kontext"
    for options, message in (
        ({}, "needs the folder"),
        ({"folder": two, "case": {}}, "did you mean 'cases'"),
        ({"folder": two, "cases": {"c": "portrait_01_hut"}}, "did you mean 'portrait_01_hat'"),
        ({"folder": two, "cases": [1]}, "table of case"),
    ):
        with pytest.raises(StudyError, match=message):
            replay("kontext", **options)
    with pytest.raises(StudyError, match="has no recording 'x'"):
        run(replay("kontext", folder=two), b"", "", case="x", index=1)


@pytest.mark.skipif(not REAL.is_dir(), reason="the published chains are not beside the repository")
def test_published_chains_are_read_whole(run: Any) -> None:
    recordings = read_recordings(REAL)
    assert len(recordings) == 9
    assert {recording.rounds for recording in recordings} == {3}
    assert {recording.source_id for recording in recordings} == {"scene_01", "scene_02", "scene_03"}
    chair = recordings[0]
    assert (chair.kind, chair.pair, chair.category) == ("scene", "chair_add_remove", "scene_objects")
    assert chair.forward == "Add a wooden chair on the left side of the image"
    editor = ReplayEditor("flux-kontext-dev", REAL)
    assert run(editor, b"", "", case=chair.id, index=6).image == chair.steps[5].read_bytes()
