"""What `decay` is taught and tested with: photographs, random editors, counting, and the file that comes out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.metrics.no_reference._decay_network import from_arrays
from tests.metrics.pictures import photograph
from training.decay import photographs
from training.decay.calibrate import packed, quantile, remakings, weights_of
from training.decay.counting import failures, standing_still

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
COFFEE = photograph("coffee", 128, 128)


def picture(side: int = 64) -> Any:
    pixels = photograph("coffee", 2 * side, side).copy()
    return torch.from_numpy(np.stack([pixels[:, :side], pixels[:, side:]])).permute(0, 3, 1, 2).float() / 255


# Photographs


def test_a_package_is_on_one_side_of_the_split_only() -> None:
    sides: dict[str, set[str]] = {}
    for one in photographs.listed():
        sides.setdefault(one.package, set()).add(photographs.part_of(one))
    assert all(len(parts) == 1 for parts in sides.values())
    assert {part for parts in sides.values() for part in parts} == {"train", "tune", "test"}


def test_no_photograph_is_in_a_suite_of_the_package() -> None:
    known = set()
    for file in (ROOT / "src/convergebench/images/data/suites").glob("*.toml"):
        for image in tomllib.loads(file.read_text())["image"]:
            known.add(image.get("origin", {}).get("sha256"))
    listed = photographs.listed()
    assert len(listed) > 400
    assert not {one.sha256 for one in listed} & known


def test_a_copy_at_another_size_is_recognised() -> None:
    from PIL import Image

    whole = Image.fromarray(photograph("coffee", 600, 400))
    small = whole.resize((301, 200), Image.Resampling.BILINEAR)
    other = Image.fromarray(photograph("chelsea", 451, 300))
    assert int((photographs.fingerprint(whole) != photographs.fingerprint(small)).sum()) <= photographs.ALIKE
    assert int((photographs.fingerprint(whole) != photographs.fingerprint(other)).sum()) > photographs.ALIKE


# Random editors


@pytest.mark.parametrize("family", ["enhanced", "coded", "drifting", "single", "taught", "diffusion", "restored"])
def test_an_editor_is_fixed_by_its_seed_and_keeps_size_and_range(family: str) -> None:
    from training.decay.random_editors import Networks, draw_editor
    from training.decay.taught import Taught

    networks = Networks(taught=[Taught(seed).eval().requires_grad_(False) for seed in (0, 1, 2)])
    for seed in range(3):
        made = []
        for _ in range(2):
            torch.manual_seed(seed)
            editor = draw_editor(np.random.default_rng(seed), family, networks)
            made.append(editor.step(editor.first(picture()) if editor.first else picture()))
        assert torch.equal(made[0], made[1])
        assert made[0].shape == picture().shape
        assert torch.isfinite(made[0]).all()
        assert torch.equal(made[0], (made[0] * 255).round() / 255), "pictures are 8 bits between steps"


@pytest.mark.parametrize("family", ["codec", "resampled", "worn", "mimic", "single", "enhanced", "frozen", "last"])
def test_an_editor_of_the_test_is_fixed_by_its_seed_and_changes_the_picture(family: str) -> None:
    from training.decay.trials import DRAWN

    changed = 0
    for seed in range(6):
        made = []
        for _ in range(2):
            random = np.random.default_rng(seed)
            step = DRAWN[family](random)
            made.append(step(step(COFFEE, random), random))
        assert np.array_equal(made[0], made[1])
        assert made[0].shape == COFFEE.shape
        assert made[0].dtype == np.uint8
        changed += not np.array_equal(made[0], COFFEE)
    assert changed == 6


def test_restorers_are_given_faulty_pictures_of_the_same_size() -> None:
    from training.decay.taught import FAULTS, KINDS, Taught, faulty

    given = picture()
    for fault in sorted(set(FAULTS)):
        worse = faulty(given, fault, np.random.default_rng(3))
        assert worse.shape == given.shape
        assert 0.001 < float((worse - given).abs().mean()) < 0.1
    kinds = [Taught(seed).kind for seed in range(6)]
    assert kinds == [*KINDS, *KINDS]
    mended = [Taught(seed).mends for seed in range(2, 24, 3)]
    assert mended == [*["enlarged"] * 6, *["saved"] * 2], "as the shipped network had them"


def test_an_autoencoder_of_known_weights_takes_part_in_an_editor() -> None:
    from convergebench.editors.autoencoder.network import DECODER, ENCODER, _names, build
    from training.decay.random_editors import Networks, draw_editor

    generator = torch.Generator().manual_seed(0)

    def state(layers: object, latent: str) -> dict[str, Any]:
        found = {}
        for name in sorted(_names(layers, False)):  # type: ignore[arg-type]
            out, into = (4 if name.startswith(latent) else 64), 64
            if layers is ENCODER and name.startswith("0."):
                out, into = 64, 3
            if layers is DECODER and name.startswith("1."):
                out, into = 64, 4
            if layers is DECODER and name.startswith(f"{len(DECODER) - 1}."):
                out, into = 3, 64
            shape = (out, into, 3, 3) if name.endswith("weight") else (out,)
            found[name] = 0.02 * torch.randn(shape, generator=generator)
        return found

    states = {"encoder": state(ENCODER, f"{len(ENCODER) - 1}."), "decoder": state(DECODER, "none")}
    network = build(states, what="a test", device="cpu", dtype=torch.float32)
    editor = draw_editor(np.random.default_rng(4), "autoencoder", Networks({"tiny": network}))
    assert "tiny" in editor.parts
    with torch.no_grad():
        assert editor.step(picture()).shape == picture().shape


def test_saving_as_jpeg_in_batches_is_near_to_what_a_library_does() -> None:
    from tests.metrics.pictures import jpeg
    from training.decay.operations import saved

    given = torch.from_numpy(COFFEE.copy()).permute(2, 0, 1)[None].float() / 255
    ours = (saved(given, 60, halved=False)[0].permute(1, 2, 0).numpy() * 255).round()
    library = jpeg(COFFEE, 60).astype(np.float32)
    damage = np.abs(library - COFFEE).mean()
    assert np.abs(ours - library).mean() < 0.8 * damage
    assert 0.5 < np.abs(ours - COFFEE).mean() / damage < 1.5


# From a taught network to the file


def test_what_is_exported_says_what_the_network_says() -> None:
    from training.decay.detector import Detector, exported, inputs_of

    torch.manual_seed(1)
    network = Detector()
    tiles = torch.rand(6, 3, 128, 128)
    for _ in range(3):  # so that the normalisations have something to fold
        network.train()(inputs_of(tiles))
    packed_arrays = exported(network)
    arrays = {f"kernel-{place}": one for place, one in enumerate(packed_arrays.kernels)}
    arrays |= {f"bias-{place}": one for place, one in enumerate(packed_arrays.biases)}
    arrays |= {"hidden-weight": packed_arrays.hidden[0], "hidden-bias": packed_arrays.hidden[1]}
    arrays |= {"score-weight": packed_arrays.score[0], "score-bias": packed_arrays.score[1]}
    given = torch.from_numpy(COFFEE.copy()).permute(2, 0, 1)[None].float() / 255
    with torch.no_grad():
        expected = float(network.eval()(inputs_of(given))[0])
    assert from_arrays(arrays).wear(COFFEE)[0] == pytest.approx(expected, abs=1e-4)


def test_the_file_is_the_same_for_the_same_numbers() -> None:
    arrays = {"b": np.arange(4.0), "a": np.float64(2.5), "note": np.array("as it was")}
    assert packed(arrays) == packed(dict(reversed(arrays.items())))


def test_remakings_never_fall_as_wear_rises() -> None:
    random = np.random.default_rng(0)
    steps = np.repeat([0.0, 1, 2, 3, 5, 10, 20], 40)
    raw = np.log2(1 + steps) + random.normal(0, 0.5, len(steps))
    found = remakings(raw, steps, np.ones(len(steps)))
    for key in ("about", "low", "high"):
        assert (np.diff(found[key]) >= 0).all()
    middle = [float(np.interp(np.log2(1 + 5), found["grid"], found[key])) for key in ("low", "about", "high")]
    assert middle[0] < 5 < middle[2]
    assert middle[1] == pytest.approx(5, abs=2)


def test_families_and_steps_count_the_same() -> None:
    table = {"family": np.array(["a", "a", "a", "b"]), "step": np.array([0, 0, 1, 0])}
    assert weights_of(table).tolist() == [0.5, 0.5, 1.0, 1.0]
    assert quantile(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0]), 0.5) == 3.0


# Counting


def table_of(*chains: tuple[str, list[float]]) -> dict[str, np.ndarray]:
    rows = [
        (number, photo, step, value)
        for number, (photo, values) in enumerate(chains)
        for step, value in zip((1, 5, 10, 20), values, strict=True)
    ]
    return {
        "family": np.array(["one"] * len(rows)),
        "chain": np.array([f"chain-{row[0]}" for row in rows]),
        "photograph": np.array([row[1] for row in rows]),
        "step": np.array([row[2] for row in rows]),
        "score": np.array([row[3] for row in rows]),
        "network-hidden": np.array([[row[3]] for row in rows]),
    }


def test_a_tie_a_fall_and_a_missing_value_are_failures() -> None:
    table = table_of(
        ("cat", [1, 2, 3, 4]),
        ("cat", [1, 1, 3, 4]),
        ("dog", [1, 2, 3, 0.5]),
        ("cow", [1, 2, float("nan"), 4]),
        ("hen", [1, 2, 3, 4]),
    )
    found = failures(table, table["score"], ["one"])
    assert found == (5, 3, 4, 3)
    assert str(found).startswith("3/4 (")


def test_chains_that_stand_still_are_counted_apart() -> None:
    table = table_of(("cat", [1, 1, 1, 1]), ("dog", [1, 2, 3, 4]))
    assert failures(table, table["score"], ["one"]) == (1, 0, 1, 0)
    assert standing_still(table, ["one"]) == 1
