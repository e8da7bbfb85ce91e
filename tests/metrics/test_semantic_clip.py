"""CLIP and DINOv2: the code that loads and runs the real ones, on small ones saved in the same way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import BatchMetric, Item
from convergebench.metrics.place import Place, place
from convergebench.metrics.semantic import _clip
from convergebench.metrics.semantic._transformer import Preparation, prepared
from convergebench.metrics.semantic.clip import clip
from convergebench.metrics.semantic.clip_direction import clip_direction
from convergebench.metrics.semantic.clip_text import clip_text
from convergebench.metrics.semantic.dinov2 import dinov2
from convergebench.weights import find_weight, locate
from convergebench.weights.store import search
from tests.metrics.pictures import box_blur, jpeg, photograph, with_disc
from tests.metrics.tiny_models import save_clip, save_dinov2, seeded

pytest.importorskip("torch", reason="torch is not installed (extra learned)")
pytest.importorskip("transformers", reason="transformers is not installed (extra semantic)")

CHAINS = Path(__file__).parents[3] / "shared" / "data" / "flux-kontext-dev-roundtrips"
WITHOUT, WITH = "a photo", "a photo with a red ball"


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    return {"clip-vit-l14": save_clip(root / "clip"), "dinov2-base": save_dinov2(root / "dino")}


@pytest.fixture(params=["clip", "dinov2"])
def similarity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, saved: dict[str, Path]) -> BatchMetric:
    metric, weights = {"clip": (clip, "clip-vit-l14"), "dinov2": (dinov2, "dinov2-base")}[request.param]
    seeded(monkeypatch, weights, saved[weights], added=request.param == "clip")
    return metric


@pytest.fixture
def small_clip(monkeypatch: pytest.MonkeyPatch, saved: dict[str, Path]) -> None:
    seeded(monkeypatch, "clip-vit-l14", saved["clip-vit-l14"])


def pair(metric: BatchMetric, subject: Pixels, reference: Pixels) -> float:
    return metric(Item(Frame(subject), Frame(reference)))


def test_an_image_is_wholly_like_itself_and_less_like_another(similarity: BatchMetric) -> None:
    cat, coffee = photograph("chelsea"), photograph("coffee")
    assert pair(similarity, cat, cat) == 1
    assert -1 <= pair(similarity, cat, coffee) < 0.999
    assert pair(similarity, cat, coffee) == pytest.approx(pair(similarity, coffee, cat), abs=1e-6)


def test_a_batch_gives_what_single_calls_give_and_images_are_seen_once(
    similarity: BatchMetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = Frame(photograph("chelsea"))
    subjects = [Frame(p) for p in (photograph("coffee"), box_blur(reference.pixels, 9), photograph("rocket", 301, 99))]
    single = [similarity(Item(Frame(subject.pixels), Frame(reference.pixels))) for subject in subjects]
    items = [*(Item(subject, reference) for subject in subjects), Item(subjects[0])]
    readings = similarity.measure(items)
    assert [reading.value for reading in readings[:3]] == pytest.approx(single, abs=1e-6)
    assert readings[3].status == "no-reference"
    monkeypatch.setattr("convergebench.metrics.semantic._transformer.prepared", None)
    assert similarity.measure(items) == readings


def test_sizes_and_grey(similarity: BatchMetric) -> None:
    grey = np.ascontiguousarray(photograph("chelsea")[..., 1:2].repeat(3, axis=2))
    assert pair(similarity, grey, grey) == 1
    assert np.isfinite(pair(similarity, photograph("chelsea", 33, 257), photograph("chelsea", 320, 17)))
    with pytest.raises(Unmeasurable, match="has a side shorter than 16 pixels") as caught:
        pair(similarity, photograph("chelsea", 15, 40), grey)
    assert caught.value.status == "too-small"


def test_bfloat16_stays_near_float32(similarity: BatchMetric) -> None:
    exact = pair(similarity, photograph("coffee"), photograph("chelsea"))
    with place(Place("cpu", "bfloat16")):
        short = pair(similarity, photograph("coffee"), photograph("chelsea"))
    assert short == pytest.approx(exact, abs=0.05)
    assert short != exact


def test_the_value_is_that_of_transformers_own_pipeline(small_clip: None, saved: dict[str, Path]) -> None:
    import torch
    from transformers import CLIPModel

    folder = saved["clip-vit-l14"]
    model = CLIPModel.from_pretrained(folder)
    config = json.loads((folder / "preprocessor_config.json").read_text(encoding="utf-8"))
    how = Preparation(28, 28, tuple(config["image_mean"]), tuple(config["image_std"]))
    pictures = [photograph("coffee", 64, 64), photograph("chelsea", 64, 64)]
    pixels = torch.from_numpy(np.stack([prepared(one, how) for one in pictures]))
    with torch.no_grad():
        out = model(pixel_values=pixels, input_ids=torch.tensor([_clip.token_ids(WITH, folder, 12)]))
    first, second = out.image_embeds.double()
    assert pair(clip, *pictures) == pytest.approx(float(first @ second), abs=1e-6)
    value = clip_text(Item(Frame(pictures[0]), after=WITH))
    assert value == pytest.approx(float(first @ out.text_embeds[0].double()), abs=1e-6)


def test_preparation_is_that_of_the_original() -> None:
    # torchvision: Resize(28, bicubic), CenterCrop(28); 20 × 33 → 28 × 46, 9 columns on either side
    how = Preparation(28, 28, (0, 0, 0), (1, 1, 1))
    pixels = np.zeros((20, 33, 3), np.uint8)
    pixels[:, 16:] = 255
    seen = prepared(pixels, how)
    assert seen.shape == (3, 28, 28)
    assert seen[0, :, :11].max() == 0
    assert seen[0, :, 16:].min() == 1
    upright = prepared(np.ascontiguousarray(pixels.transpose(1, 0, 2)), how)
    np.testing.assert_allclose(upright[0].T, seen[0], atol=1e-6)


def test_words_are_lowercased_marked_and_cut(small_clip: None, saved: dict[str, Path]) -> None:
    folder = saved["clip-vit-l14"]
    ids = _clip.token_ids("A Photo", folder, 12)
    assert ids == _clip.token_ids("a photo", folder, 12)
    assert (ids[0], ids[-1]) == (0, 1)
    assert len(_clip.token_ids("a photo " * 50, folder, 12)) == 12


def test_direction_is_up_for_what_was_asked_and_down_for_its_opposite(small_clip: None) -> None:
    plain, ball = photograph("chelsea"), with_disc(photograph("chelsea"))
    there = clip_direction(Item(Frame(ball), Frame(plain), before=WITHOUT, after=WITH))
    back = clip_direction(Item(Frame(plain), Frame(plain), via=Frame(ball), before=WITH, after=WITHOUT))
    against = clip_direction(Item(Frame(plain), Frame(ball), before=WITHOUT, after=WITH))
    assert there == pytest.approx(back)  # both moves and both captions turned round
    assert against == pytest.approx(-there)
    assert clip_direction(Item(Frame(plain), Frame(plain.copy()), before=WITHOUT, after=WITH)) == 0


@pytest.mark.parametrize("metric", [clip_text, clip_direction], ids=lambda metric: str(metric.facts.name))
def test_without_words_there_is_no_value(small_clip: None, metric: BatchMetric) -> None:
    frames = Frame(photograph("chelsea")), Frame(photograph("coffee"))
    readings = metric.measure([Item(*frames), Item(*frames, before=WITHOUT, after=WITH), Item(*frames, before=WITH)])
    assert [reading.status for reading in readings] == ["no-words", "ok", "no-words"]


def test_same_captions_or_a_missing_image_give_no_direction(small_clip: None) -> None:
    frame = Frame(photograph("chelsea"))
    items = [Item(frame, frame, before=WITH, after=WITH), Item(frame, before=WITHOUT, after=WITH)]
    assert [reading.status for reading in clip_direction.measure(items)] == ["no-words", "no-reference"]


def test_a_folder_that_lacks_a_tensor_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = save_clip(tmp_path / "clip", seed=3)
    state = load_file(folder / "model.safetensors")
    del state["visual_projection.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    seeded(monkeypatch, "clip-vit-l14", folder)
    with pytest.raises(Prerequisite, match=r"lacks 1 tensors of CLIPModel, e\.g\. visual_projection\.weight"):
        pair(clip, photograph("chelsea"), photograph("coffee"))


def test_missing_weights_are_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr("convergebench.weights.store._in_hub_cache", lambda weight: None)
    with pytest.raises(Prerequisite, match="cbench weights fetch clip-vit-l14"):
        pair(clip, photograph("chelsea"), photograph("coffee"))


def published() -> Sequence[dict[str, object]]:
    path = CHAINS / "published.json"
    rows: list[dict[str, object]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return rows


@pytest.mark.slow
def test_real_weights_give_the_published_similarities() -> None:
    if search(find_weight("clip-vit-l14")) is None:
        pytest.skip("the weights of CLIP ViT-L/14 are not here (cbench weights fetch clip-vit-l14)")
    if not published():
        pytest.skip("the published chains are not here")
    from convergebench.images.decode import decode

    assert locate("clip-vit-l14").is_dir()
    for row in published():
        folder = CHAINS / str(row["chain"])
        source = decode((folder / "I0_source.png").read_bytes())
        rounds = row["rounds"]
        assert isinstance(rounds, list)
        for one in rounds:
            subject = decode((folder / f"I{one['round']}_backward.png").read_bytes())
            assert clip(Item(subject, source)) == pytest.approx(one["clip_vit_l14"], abs=2e-3)


def test_weak_damage_is_forgiven_and_strong_damage_is_not(small_clip: None) -> None:
    cat = photograph("chelsea")
    values = [pair(clip, damaged, cat) for damaged in (jpeg(cat, 90), box_blur(cat, 25), 255 - cat)]
    assert values == sorted(values, reverse=True)


@pytest.mark.gpu
def test_a_gpu_gives_the_same_values(similarity: BatchMetric) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    pictures = photograph("coffee"), photograph("chelsea")
    here = pair(similarity, *pictures)
    with place(Place("cuda")):
        assert pair(similarity, *pictures) == pytest.approx(here, abs=1e-5)
    with place(Place("cuda", "bfloat16")):
        assert pair(similarity, *pictures) == pytest.approx(here, abs=0.05)
