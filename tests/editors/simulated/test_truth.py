"""The laws that simulated editors are published with, checked on real chains."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from convergebench.editors.simulated.family import MODELS
from convergebench.editors.simulated.pixels import decode
from convergebench.editors.simulated.truth import TRUTHS, linear_drift, root_drift, saturating_drift
from convergebench.editors.simulated.wear.resample import snapped
from convergebench.errors import Refused, StudyError, Transient
from convergebench.registry import load
from convergebench.types import Editor, Settings

GLASSES = ("add glasses", "remove glasses")
FLIP = ("flip horizontally", "flip horizontally")


def make(name: str, **options: Any) -> Editor:
    editor: Editor = load("editors", name)(name, **options)
    return editor


def distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    return float(np.sqrt(np.mean((a.astype(float) - b.astype(float)) ** 2)) / 255)


def test_every_simulated_editor_publishes_its_truth() -> None:
    assert set(TRUTHS) == set(MODELS)


def test_perfect_editor_returns_exactly_for_every_pair(pictures: Any, pairs: Any, run: Any) -> None:
    editor = make("sim-perfect")
    for pair in pairs:
        for kind in pair["kinds"]:
            for wording in pair["wordings"]:
                there = run(editor, pictures[kind], wording["forward"])
                back = run(editor, there.image, wording["backward"])
                assert not np.array_equal(decode(there.image), pictures[kind]), (pair["id"], kind, wording)
                assert np.array_equal(decode(back.image), pictures[kind]), (pair["id"], kind, wording)


@pytest.mark.parametrize("order", [("glasses", "hat"), ("hat", "glasses")])
def test_perfect_editor_returns_when_two_edits_are_undone_in_either_order(order: Any, pictures: Any, run: Any) -> None:
    editor = make("sim-perfect")
    data: Any = pictures["face"]
    for words in ("add glasses", "add a hat", *(f"remove the {thing}" for thing in order)):
        data = run(editor, data, words).image
    np.testing.assert_array_equal(decode(data), pictures["face"])


def test_perfect_editor_undoes_across_a_rotation(pictures: Any, run: Any) -> None:
    data: Any = pictures["scene"]
    for words in ("add a cat", "rotate 90° clockwise", "remove the cat", "rotate 90° counter-clockwise"):
        data = run(make("sim-perfect"), data, words).image
    np.testing.assert_array_equal(decode(data), pictures["scene"])


@pytest.mark.parametrize("words", [GLASSES, FLIP])
def test_noise_drifts_as_the_root_of_the_number_of_rounds(words: Any, pictures: Any, chain: Any) -> None:
    law = root_drift(2 / 255)
    for number, image in enumerate(chain(make("sim-noise"), pictures["face"], *words, rounds=6), start=1):
        assert distance(image, pictures["face"]) == pytest.approx(law(number, 0), rel=0.02)


@pytest.mark.parametrize("sigma", [1 / 255, 3.5 / 255, 0.05])
def test_noise_has_the_strength_asked_for_and_no_bias(sigma: float, run: Any) -> None:
    grey = np.full((256, 256, 3), 128, np.uint8)
    noisy = decode(run(make("sim-noise", sigma=sigma), grey, "replicate").image).astype(float) - 128
    assert noisy.std() / 255 == pytest.approx(sigma, rel=0.01)
    assert abs(noisy.mean()) < 4 * 255 * sigma / math.sqrt(noisy.size)


def test_noise_of_different_seeds_is_independent(run: Any) -> None:
    grey = np.full((128, 128, 3), 128, np.uint8)
    first, second = (
        decode(run(make("sim-noise"), grey, "replicate", seed=s).image).astype(float) - 128 for s in (1, 2)
    )
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.02


@pytest.mark.parametrize("words", [GLASSES, FLIP])
def test_tint_marches_straight_away_from_the_source(words: Any, pictures: Any, chain: Any) -> None:
    images = chain(make("sim-tint"), pictures["face"], *words, rounds=8)
    law = linear_drift(0, 1, 0)
    for number, image in enumerate(images, start=1):
        assert distance(image, pictures["face"]) == pytest.approx(law(number, 0), rel=1e-6)
    path = sum(distance(b, a) for a, b in zip([pictures["face"], *images], images, strict=False))
    assert distance(images[-1], pictures["face"]) / path == pytest.approx(1)


def test_tint_of_a_fraction_builds_up(pictures: Any, chain: Any) -> None:
    images = chain(make("sim-tint", green=0.25, red=-0.5), pictures["scene"], *FLIP, rounds=4)
    shift = (images[-1].astype(int) - pictures["scene"]).mean(axis=(0, 1))
    np.testing.assert_allclose(shift, [-4, 2, 0])


@pytest.mark.parametrize("q", [0.5, 0.8, 0.9])
def test_contraction_follows_its_law_to_within_rounding(q: float, pictures: Any, chain: Any) -> None:
    source = pictures["object"]
    target = np.full_like(source, 128)
    law, far = saturating_drift(q), distance(source, target)
    for number, image in enumerate(
        chain(make("sim-contracting", q=q), source, "add a cup", "remove the cup", rounds=12), 1
    ):
        ideal = 128 + q**number * (source.astype(float) - 128)
        assert np.abs(image - ideal).max() <= 1.25
        assert distance(image, source) == pytest.approx(law(number, far), abs=0.75 / 255)


def test_contraction_factor_is_recovered_from_displacements(pictures: Any, chain: Any) -> None:
    images = [pictures["scene"], *chain(make("sim-contracting"), pictures["scene"], *FLIP, rounds=12)]
    steps = [distance(b, a) for a, b in itertools.pairwise(images)]
    usable = [step for step in steps if step > 2 / 255]
    slope = np.polyfit(np.arange(len(usable)), np.log(usable), 1)[0]
    assert len(usable) >= 4
    assert math.exp(slope) == pytest.approx(TRUTHS["sim-contracting"].q, abs=0.02)


def test_contraction_ends_in_its_fixed_point_exactly(pictures: Any, chain: Any) -> None:
    last = chain(make("sim-contracting", q=0.3, target="#4060a0"), pictures["face"], *FLIP, rounds=8)[-1]
    np.testing.assert_array_equal(last, np.broadcast_to(np.array([0x40, 0x60, 0xA0]), last.shape))


def test_cycle_has_period_three_and_loses_nothing(pictures: Any, chain: Any) -> None:
    images = [pictures["face"], *chain(make("sim-cycle"), pictures["face"], *GLASSES, rounds=7)]
    for number in range(len(images) - 3):
        np.testing.assert_array_equal(images[number + 3], images[number])
        assert distance(images[number + 1], images[number]) > 0.01
        assert distance(images[number + 2], images[number]) > 0.01


@pytest.mark.parametrize("words", [GLASSES, FLIP])
@pytest.mark.parametrize("name", ["sim-jpeg", "sim-crop"])
def test_jpeg_and_crop_settle_in_a_few_steps(name: str, words: Any, pictures: Any, chain: Any) -> None:
    wide = pictures["face"][:100].copy()
    images = chain(make(name), wide, *words, rounds=12)
    steps = [distance(b, a) for a, b in itertools.pairwise(images)]
    assert max(steps[5:]) < 0.6 / 255


def test_jpeg_replicas_settle_fast(pictures: Any, chain: Any) -> None:
    images = [pictures["object"], *chain(make("sim-jpeg"), pictures["object"], "replicate", "replicate", rounds=12)]
    steps = [distance(b, a) for a, b in itertools.pairwise(images)]
    assert steps[0] > 5 * steps[6]
    assert steps[-1] < 0.5 / 255


def test_jpeg_output_is_a_choice(pictures: Any, run: Any) -> None:
    as_jpeg, as_png = (run(make("sim-jpeg", output=kind), pictures["face"], "replicate") for kind in ("jpeg", "png"))
    assert (as_jpeg.mime, as_png.mime) == ("image/jpeg", "image/png")
    np.testing.assert_array_equal(decode(as_jpeg.image), decode(as_png.image))


def test_crop_knows_the_published_sizes() -> None:
    assert snapped(5632, 3072) == (1408, 752)


@pytest.mark.parametrize(("resolution", "size"), [("1K", (1408, 752)), ("2K", (2816, 1504))])
def test_crop_answers_in_the_resolution_asked_for(resolution: str, size: tuple[int, int], run: Any) -> None:
    wide = np.full((307, 563, 3), 90, np.uint8)
    edited = decode(run(make("sim-crop"), wide, "replicate", settings=Settings(resolution=resolution)).image)
    assert edited.shape[1::-1] == size


@pytest.mark.parametrize("shape", [(307, 563), (100, 171), (333, 120), (96, 96), (77, 201)])
def test_crop_happens_in_the_first_step_only(shape: tuple[int, int], run: Any) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    first = run(make("sim-crop"), image, "replicate").image
    second = run(make("sim-crop"), first, "replicate").image
    np.testing.assert_array_equal(decode(first), decode(second))


def test_blur_simplify_and_resize_take_texture_away(run: Any, pictures: Any) -> None:
    def roughness(pixels: NDArray[Any]) -> float:
        return float(np.abs(np.diff(pixels.astype(float), axis=1)).mean())

    for name in ("sim-blur", "sim-simplify", "sim-resize"):
        data: Any = pictures["face"]
        for seed in range(3):
            data = run(make(name), data, "replicate", seed=seed).image
        assert roughness(decode(data)) < 0.97 * roughness(pictures["face"]), name


def test_scatter_leaves_most_pixels_alone(pictures: Any, run: Any) -> None:
    edited = decode(run(make("sim-scatter", share=0.003), pictures["face"], "replicate").image)
    touched = (edited != pictures["face"]).any(axis=2).mean()
    assert 0.002 < touched < 0.1


def test_wrinkle_moves_outlines_and_spares_flat_areas(run: Any) -> None:
    board = np.full((128, 128, 3), 60, np.uint8)
    board[:, 64:] = 190
    edited = decode(run(make("sim-wrinkle", pixels_moved=8), board, "replicate").image)
    changed = (edited != board).any(axis=(0, 2))
    assert changed[56:72].any()
    assert not changed[:40].any()


def test_forgetful_editor_ignores_its_share_and_claims_success(pictures: Any, run: Any) -> None:
    editor = make("sim-forgetful", ignores=0.3)
    ignored = 0
    for seed in range(120):
        edited = run(editor, pictures["scene"], "add a red ball", seed=seed)
        ignored += np.array_equal(decode(edited.image), pictures["scene"])
        assert edited.reasoning == "Added the ball."
    assert 0.18 < ignored / 120 < 0.42


def test_flaky_editor_recovers_on_retry_and_is_otherwise_perfect(pictures: Any, run: Any) -> None:
    editor = make("sim-flaky", transient=1, refused=0, retry_after=2.5)
    for attempt in (1, 2):
        with pytest.raises(Transient) as busy:
            run(editor, pictures["face"], "replicate", attempt=attempt)
        assert busy.value.retry_after == 2.5
    np.testing.assert_array_equal(decode(run(editor, pictures["face"], "replicate", attempt=3).image), pictures["face"])


def test_flaky_editor_refuses_its_share_whatever_the_attempt(pictures: Any, run: Any) -> None:
    editor = make("sim-flaky", transient=0, refused=0.25)
    small, refused = pictures["face"][:8, :8].copy(), 0
    for seed in range(120):
        outcomes = set()
        for attempt in (1, 3):
            try:
                run(editor, small, "replicate", seed=seed, attempt=attempt)
                outcomes.add("done")
            except Refused as no:
                outcomes.add(no.reason)
        assert len(outcomes) == 1
        refused += outcomes == {"simulated-policy"}
    assert 0.15 < refused / 120 < 0.35


def test_wears_are_composed_in_order(pictures: Any, run: Any) -> None:
    tint, jpeg = {"kind": "tint", "green": 3}, {"kind": "jpeg", "quality": 60}
    both = make("sim", wear=[jpeg, tint])
    step_by_step = run(
        make("sim-tint", green=3),
        decode(run(make("sim-jpeg", quality=60), pictures["face"], "replicate").image),
        "replicate",
    )
    np.testing.assert_array_equal(decode(run(both, pictures["face"], "replicate").image), decode(step_by_step.image))
    assert both.fingerprint != make("sim", wear=[tint, jpeg]).fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wear": [{"kind": "jpg"}]}, "did you mean 'jpeg'"),
        ({"wear": [{"kind": "jpeg", "qualty": 3}]}, "did you mean 'quality'"),
        ({"wear": [{"kind": "jpeg", "quality": 300}]}, "from 1 to 100"),
        ({"wear": [{"kind": "contract", "target": "grey"}]}, "such as '#808080'"),
        ({"wear": "jpeg"}, "list of tables"),
        ({"wear": ["jpeg"]}, "table with a kind"),
        ({"remove": "magic"}, "'remember' or 'inpaint'"),
    ],
)
def test_bad_options_say_what_to_type(options: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        make("sim", **options)
