"""The network of the tiny autoencoders, beside the one of diffusers, and what it says about files not its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from convergebench.errors import Prerequisite
from convergebench.weights.catalogue import find_weight
from convergebench.weights.loading import safetensors_state, torch_state
from convergebench.weights.store import search

torch = pytest.importorskip("torch")
network = pytest.importorskip("convergebench.editors.autoencoder.network")

IN_DIFFUSERS = {"taesd": 4, "taesdxl": 4, "taesd3": 16, "taef1": 16}


def states(name: str) -> dict[str, dict[str, Any]]:
    found = search(find_weight(name))
    if found is None:
        pytest.skip(f"the weights of {name} are not here")
    files = [file.path for file in find_weight(name).files]
    read = torch_state if files[0].endswith(".pth") else safetensors_state
    return {file: read(found.path / file) for file in files}


def as_diffusers_names(pair: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    one: dict[str, Any] = {}
    for file, state in pair.items():
        half = "decoder" if "decoder" in file else "encoder"
        for name, tensor in state.items():
            number, _, part = name.partition(".")
            one[f"{half}.layers.{int(number) - (half == 'decoder')}.{part}"] = tensor
    return one


def build(content: Mapping[str, Mapping[str, Any]]) -> Any:
    return network.build(content, what="it", device="cpu", dtype=torch.float32)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def picture() -> Any:
    return torch.rand((1, 3, 24, 40), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("name", IN_DIFFUSERS)
def test_it_answers_as_diffusers_does(name: str) -> None:
    diffusers = pytest.importorskip("diffusers")
    own = states(name)
    theirs = diffusers.AutoencoderTiny(latent_channels=IN_DIFFUSERS[name])
    theirs.load_state_dict({key: tensor.float() for key, tensor in as_diffusers_names(own).items()})
    pixels = picture()
    with torch.inference_mode():
        latent = build(own).encode(pixels)
        assert latent.shape == (1, IN_DIFFUSERS[name], 3, 5)
        # their interface takes and gives −1 to 1, inside as outside
        assert (latent - theirs.encode(pixels * 2 - 1).latents).abs().max() < 2e-5
        back = build(own).decode(latent)
        assert (back - (theirs.decode(latent).sample + 1) / 2).abs().max() < 2e-5


@pytest.mark.parametrize("name", [*IN_DIFFUSERS, "taef2"])
def test_the_layout_of_the_file_does_not_matter(name: str) -> None:
    own = states(name)
    one_file = {"anything.safetensors": as_diffusers_names(own)}
    with torch.inference_mode():
        pair, one = (made.decode(made.encode(picture())) for made in (build(own), build(one_file)))
    assert torch.equal(pair, one)


def test_taef2_has_wide_blocks_and_32_channels() -> None:
    made = build(states("taef2"))
    assert made.channels == 32
    assert sum(name.endswith("pool.0.weight") for name in made.encoder) == 3
    assert sum(name.endswith("pool.0.weight") for name in made.decoder) == 3


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda state: state.pop("3.conv.2.bias"), "'3.conv.2.bias' of its encoder is missing"),
        (lambda state: state.update({"99.weight": 0}), "'99.weight' of its encoder is unknown"),
    ],
)
def test_another_kind_of_network_is_refused_by_name(change: Any, complaint: str) -> None:
    own = states("taesd")
    change(own["taesd_encoder.safetensors"])
    with pytest.raises(Prerequisite, match=complaint):
        build(own)
