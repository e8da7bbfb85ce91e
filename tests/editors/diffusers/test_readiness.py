"""What an editor says it lacks: packages, weights, a GPU. Each with what to type, and without fetching anything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from convergebench.editors.diffusers import checkpoints, readiness
from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.editors.diffusers.factories import diffusers, flux_2_klein_4b, flux_kontext_dev, instruct_pix2pix
from convergebench.errors import Prerequisite
from tests.editors.diffusers.calls import Make, edit, request


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    from huggingface_hub import constants, file_download

    for module in (constants, file_download):
        if hasattr(module, "HF_HUB_CACHE"):
            monkeypatch.setattr(module, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def put_into_cache(cache: Path, folder: Path, hub: str, commit: str = "c0ffee") -> Path:
    """As `hf download` would leave it."""
    there = cache / f"models--{hub.replace('/', '--')}"
    shutil.copytree(folder, there / "snapshots" / commit)
    (there / "refs").mkdir()
    (there / "refs" / "main").write_text(commit)
    return there / "snapshots" / commit


def test_missing_packages_are_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "find_spec", lambda name: None if name == "accelerate" else object())
    [lack] = flux_kontext_dev("flux-kontext-dev").lacks()
    assert lack == "accelerate missing: pip install 'convergebench[diffusers]'"


def test_missing_weights_are_one_command_with_the_terms(cache: Path) -> None:
    [lack] = flux_kontext_dev("flux-kontext-dev").lacks()
    assert "weights missing: hf download black-forest-labs/FLUX.1-Kontext-dev --include 'model_index.json'" in lack
    for term in ("34 GB", "FLUX.1 [dev] Non-Commercial License", "not for commercial use", "hf auth login"):
        assert term in lack


def test_open_weights_have_no_strings(cache: Path) -> None:
    [lack] = flux_2_klein_4b("flux-2-klein-4b-local", revision="v1").lacks()
    assert "hf download black-forest-labs/FLUX.2-klein-4B --revision v1" in lack
    assert "Apache-2.0" in lack
    assert "commercial" not in lack


def test_of_somebody_elses_weights_no_terms_are_known(cache: Path) -> None:
    [lack] = diffusers("diffusers", family="flux-2-klein", path="somebody/klein").lacks()
    assert lack == "weights missing: hf download somebody/klein --include 'model_index.json' --include '*/*'"


def test_an_edit_without_weights_says_the_same(cache: Path) -> None:
    with pytest.raises(Prerequisite, match="editor 'flux-kontext-dev': weights missing: hf download"):
        edit(flux_kontext_dev("flux-kontext-dev", device="cpu"), request())


def test_who_may_fetch_lacks_no_weights(cache: Path) -> None:
    assert flux_kontext_dev("flux-kontext-dev", device="cpu", offline=False).lacks() == []


def test_weights_in_the_cache_are_found_and_the_commit_is_told(cache: Path, checkpoint: Callable[[str], Path]) -> None:
    put_into_cache(cache, checkpoint("instruct-pix2pix"), "timbrooks/instruct-pix2pix")
    editor = instruct_pix2pix("instruct-pix2pix", device="cpu", steps=1)
    assert editor.lacks() == []
    [edited] = edit(editor, request(width=32, height=32))
    assert edited.model == "timbrooks/instruct-pix2pix@c0ffee"


def test_a_download_that_broke_off_is_told(cache: Path, checkpoint: Callable[[str], Path]) -> None:
    snapshot = put_into_cache(cache, checkpoint("instruct-pix2pix"), "timbrooks/instruct-pix2pix")
    (snapshot / "unet" / "diffusion_pytorch_model.safetensors").unlink()
    [lack] = instruct_pix2pix("instruct-pix2pix", device="cpu").lacks()
    assert lack.startswith("weights incomplete (unet/*.safetensors): hf download timbrooks/instruct-pix2pix")


def test_missing_shards_are_named(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": "X", "unet": ["diffusers", "UNet"]}))
    (tmp_path / "unet").mkdir()
    shards = {"weight_map": {"a": "m-1-of-2.safetensors", "b": "m-2-of-2.safetensors"}}
    (tmp_path / "unet" / "model.safetensors.index.json").write_text(json.dumps(shards))
    (tmp_path / "unet" / "m-1-of-2.safetensors").write_bytes(b"")
    assert checkpoints.missing(tmp_path) == ["unet/m-2-of-2.safetensors"]


def test_a_folder_that_is_not_there(make: Make, tmp_path: Path) -> None:
    [lack] = make("flux-2", path=str(tmp_path / "nowhere")).lacks()
    assert lack.startswith(f"there is no folder {tmp_path}/nowhere: give the option path")


def test_a_folder_of_something_else(make: Make, tmp_path: Path) -> None:
    [lack] = make("flux-2", path=str(tmp_path)).lacks()
    assert lack == f"{tmp_path} has no model_index.json: it is not a folder that diffusers saved"


def test_a_folder_of_another_family(make: Make, checkpoint: Callable[[str], Path]) -> None:
    [lack] = make("flux-2", path=str(checkpoint("flux-2-klein"))).lacks()
    assert "holds a Flux2KleinPipeline, not a Flux2Pipeline: give another path" in lack


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:1"])
def test_without_a_gpu_it_says_how_much_memory_it_would_take(
    device: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    [lack] = make("flux-2-klein", device=device).lacks()
    assert "torch sees no" in lack
    assert "GB of its memory (on the processor, slowly: the option device='cpu' of 'tiny')" in lack


def _gpu(monkeypatch: pytest.MonkeyPatch, *, memory: float, count: int = 1) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=memory))


def test_a_gpu_that_is_too_small_can_offload(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    _gpu(monkeypatch, memory=1e3)
    [lack] = make("flux-2-klein", device="auto").lacks()
    assert lack.startswith("cuda:0 has 1e-06 GB and the weights take")
    assert lack.endswith("set the option offload='model' of 'tiny'")
    assert make("flux-2-klein", device="auto", offload="model").lacks() == []


def test_a_gpu_that_is_large_enough(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    _gpu(monkeypatch, memory=80e9, count=2)
    assert make("flux-2-klein", device="cuda:1").lacks() == []
    assert make("flux-2-klein", device="cuda:2").lacks() != []


def test_looking_fetches_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    editor: DiffusersEditor = flux_kontext_dev("flux-kontext-dev")
    assert editor.lacks()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "used"), [("auto", "cuda:0 (Some GPU)"), ("cuda:1", "cuda:1 (Some GPU)"), ("cpu", "cpu")]
)
def test_the_device_that_is_used_goes_on_record(asked: str, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _gpu(monkeypatch, memory=1e12, count=2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Some GPU")
    assert readiness.device_description(asked) == used


def test_an_answer_names_its_device(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "device_description", lambda asked: f"what {asked} stands for")
    assert edit(make("flux-2-klein"), request())[0].used["device"] == "what cpu stands for"
