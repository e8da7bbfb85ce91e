"""Small networks with random weights, saved as the real ones are and put where the real ones are looked for."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from convergebench.weights import catalogue as catalogue_module
from convergebench.weights import find_weight
from convergebench.weights.checksums import sha256_of
from convergebench.weights.store import add_to_store, match_files

CAPTIONS = ("a photo", "a photo with a red ball", "a portrait of a person", "a portrait of a person wearing a hat")


def seeded(monkeypatch: pytest.MonkeyPatch, name: str, folder: Path, *, added: bool = False) -> None:
    """Make the files in `folder` the declared ones of the weight `name`: in a named folder, or added to the store."""
    real = find_weight(name)
    files = [
        file.model_copy(update={"sha256": sha256_of(folder / file.path), "size": (folder / file.path).stat().st_size})
        for file in real.files
    ]
    small = real.model_copy(update={"files": tuple(files)})
    known = {**catalogue_module.catalogue(), name: small}
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: known)
    if added:
        monkeypatch.setenv("CONVERGEBENCH_CACHE", str(folder.parent / "cache"))
        monkeypatch.delenv("CONVERGEBENCH_WEIGHTS", raising=False)
        add_to_store(small, match_files(small, folder))
    else:
        monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(folder))


def save_clip(folder: Path, *, seed: int = 0) -> Path:
    """A CLIP with two layers of 32 numbers that sees 28×28 pixels and reads a vocabulary of its own."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    transformers: Any = import_module("transformers")
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = ["<|startoftext|>", "<|endoftext|>"]
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=marks, end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(CAPTIONS, trainer)
    start, end = (tokenizer.get_vocab()[mark] for mark in marks)
    tokenizer.post_processor = processors.RobertaProcessing((marks[1], end), (marks[0], start))
    half = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    words = {"vocab_size": tokenizer.get_vocab_size(), "max_position_embeddings": 12}
    words |= {"bos_token_id": start, "eos_token_id": end}
    config = transformers.CLIPConfig(
        text_config=half | words, vision_config=half | {"image_size": 28, "patch_size": 7}, projection_dim=24
    )
    torch.manual_seed(seed)
    model = transformers.CLIPModel(config)
    with torch.no_grad():  # as initialised, a random network hardly looks at its input
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"size": 28, "crop_size": 28, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.2, 0.3], "resample": 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def save_dinov2(folder: Path, *, seed: int = 0) -> Path:
    """A DINOv2 with two layers of 32 numbers; as the real one, it sees fewer pixels than its position table is for."""
    import torch

    transformers: Any = import_module("transformers")
    torch.manual_seed(seed)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 70, "patch_size": 7}
    model = transformers.Dinov2Model(transformers.Dinov2Config(**shape))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    config = {
        "size": {"shortest_edge": 32},
        "crop_size": {"height": 28, "width": 28},
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def save_augnet(folder: Path, *, seed: int = 0) -> Path:
    """A ResNet with one block per stage, under the names of the real one."""
    import torch

    torch.manual_seed(seed)
    state: dict[str, torch.Tensor] = {}

    def convolution(name: str, norm: str, out: int, into: int, side: int) -> None:
        state[f"{name}.weight"] = torch.randn(out, into, side, side) / (into * side * side) ** 0.5
        state[f"{norm}.weight"], state[f"{norm}.bias"] = torch.rand(out) + 0.5, torch.randn(out) * 0.3
        state[f"{norm}.running_mean"], state[f"{norm}.running_var"] = torch.randn(out) * 0.3, torch.rand(out) + 0.5

    convolution("conv1", "bn1", 4, 3, 7)
    into = 4
    for stage in (1, 2, 3, 4):
        for index in range(2 if stage == 2 else 1):
            place = f"layer{stage}.{index}"
            for number, (out, width, side) in enumerate(((4, into, 1), (4, 4, 3), (16, 4, 1)), start=1):
                convolution(f"{place}.conv{number}", f"{place}.bn{number}", out, width, side)
            if index == 0:
                convolution(f"{place}.downsample.0", f"{place}.downsample.1", 16, into, 1)
            into = 16
    state["fc.weight"], state["fc.bias"] = torch.randn(12, 16) / 4, torch.randn(12) * 0.1
    folder.mkdir(parents=True)
    torch.save({f"module.pre.{name}": value for name, value in state.items()}, folder / "model.pth")
    return folder
