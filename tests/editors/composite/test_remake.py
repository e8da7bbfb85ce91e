"""remake: an editor at the size and in the file format of a large model; and the floors made of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from convergebench.editors._table import TABLE
from convergebench.editors.base import ImageSize, lacks
from convergebench.editors.composite.remake import FloorOptions, model_size, remake
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, StudyError
from convergebench.images.align import align
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.types import Capabilities, Edited, Settings
from tests.editors.autoencoder.learned import photograph
from tests.editors.composite.scripted import Scripted, call, picture, pixels, same

FLOORS = [name for name in TABLE if name.startswith("remake-")]
PART = {
    "remake-span": "span-x2",
    "remake-realesr-anime": "realesr-anime",
    "remake-realesrgan": "realesrgan-x4",
    **{f"remake-{name}": name for name in ("taesd", "taesdxl", "taesd3", "taef1", "taef2")},
}
SMALL = 0.02
"""Megapixels: 144 × 144 for a square picture."""


def size_of(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


def psnr(subject: Any, reference: Any) -> float:
    reading = load_metric("psnr").measure([Item(Frame(subject), Frame(reference))])[0]
    assert reading.value is not None
    return float(reading.value)


@pytest.mark.parametrize(
    ("given_size", "multiple", "expected"),
    [
        ((512, 512), 16, (1024, 1024)),
        ((1500, 1000), 16, (1248, 832)),
        ((1920, 1080), 16, (1360, 768)),
        ((768, 1024), 32, (896, 1184)),
        ((4000, 100), 16, (2048, 512)),
        ((1, 1), 16, (1024, 1024)),
    ],
)
def test_the_model_works_at_a_megapixel_on_its_grid(
    given_size: tuple[int, int], multiple: int, expected: tuple[int, int]
) -> None:
    assert model_size(ImageSize(*given_size), FloorOptions(multiple=multiple)) == expected


sides = st.integers(1, 5000)


@given(sides, sides, st.sampled_from([1, 8, 16, 32, 64]), st.sampled_from([0.01, 0.25, 1.0, 4.0]))
def test_a_size_that_the_model_made_is_kept(width: int, height: int, multiple: int, megapixels: float) -> None:
    options = FloorOptions(multiple=multiple, megapixels=megapixels)
    made = model_size(ImageSize(width, height), options)
    assert made.width % multiple == made.height % multiple == 0
    assert model_size(made, options) == made


@given(st.integers(300, 5000), st.integers(300, 5000))
def test_a_usual_picture_is_hardly_stretched(width: int, height: int) -> None:
    made = model_size(ImageSize(width, height), FloorOptions())
    assert made.width * made.height == pytest.approx(1024**2, rel=0.03)
    if 0.25 <= width / height <= 4:
        assert made.width / made.height == pytest.approx(width / height, rel=0.02)


def test_the_part_sees_the_model_s_size_and_the_answer_is_a_jpeg_of_that_size() -> None:
    part = Scripted(same())
    image = picture(side=96)[:72]
    done = call(remake("x", of=part, megapixels=SMALL), image, "add a hat")
    assert size_of(part.asked[0].image) == size_of(done.image) == (176, 128)
    assert (part.asked[0].mime, part.asked[0].instruction) == ("image/png", "add a hat")
    assert done.mime == "image/jpeg"
    assert Image.open(io.BytesIO(done.image)).format == "JPEG"
    assert done.used == {"given": "96x72", "size": "176x128", "format": "jpeg", "quality": 90, "back": "model"}


def test_only_the_first_step_of_a_chain_resizes_the_picture() -> None:
    part = Scripted(same())
    editor = remake("x", of=part, megapixels=SMALL)
    first = call(editor, picture(side=96)[:72])
    second = call(editor, first.image)
    assert part.asked[1].image == first.image
    assert size_of(second.image) == size_of(first.image)


def test_the_picture_can_come_back_at_its_own_size() -> None:
    part, image = Scripted(same()), picture(side=96)[:72]
    done = call(remake("x", of=part, megapixels=SMALL, back="same", format="png"), image)
    assert size_of(part.asked[0].image) == (176, 128)
    assert size_of(done.image) == (96, 72)
    assert 35 < psnr(pixels(done.image), image) < 60, "it was resampled twice"


@pytest.mark.parametrize(("kind", "name"), [("jpeg", "JPEG"), ("webp", "WEBP")])
def test_the_quality_of_the_file_is_honoured(kind: str, name: str) -> None:
    image = photograph(144, 144)
    done = {
        quality: call(remake("x", of=Scripted(same()), megapixels=SMALL, format=kind, quality=quality), image)
        for quality in (30, 95)
    }
    assert {one.mime for one in done.values()} == {f"image/{kind}"}
    assert {Image.open(io.BytesIO(one.image)).format for one in done.values()} == {name}
    assert len(done[30].image) < len(done[95].image) / 2
    assert psnr(pixels(done[30].image), image) < psnr(pixels(done[95].image), image) - 3


def test_a_png_is_the_part_s_answer_pixel_for_pixel() -> None:
    image = picture(side=144)
    done = call(remake("x", of=Scripted(same()), megapixels=SMALL, format="png"), image)
    np.testing.assert_array_equal(pixels(done.image), image)
    assert "quality" not in done.used


@pytest.mark.parametrize("dollars", [0.0, 0.2])
def test_a_damaged_answer_of_the_part_is_a_bad_reply_at_its_price(dollars: float) -> None:
    def damaged(request: Any) -> Edited:
        return Edited(request.image[:100], "image/png", "m", dollars)

    with pytest.raises(BadReply, match="the image from scripted") as caught:
        call(remake("x", of=Scripted(damaged), megapixels=SMALL), picture(side=144))
    assert caught.value.dollars == pytest.approx(dollars)


def test_the_part_gets_no_setting_that_it_does_not_take_and_no_limit_of_sides_holds() -> None:
    part = Scripted(same(), capabilities=Capabilities(seed=True, sides=(384, 3072)))
    editor = remake("x", of=part, megapixels=SMALL)
    assert editor.capabilities.sides is None
    call(editor, picture(), settings=Settings(resolution="2K"))
    assert part.asked[0].settings.resolution is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "png", "quality": 80}, "PNG has no quality; leave 'quality' out, or set format = 'jpeg'"),
        ({"format": "gif"}, "format"),
        ({"quality": 0}, "quality"),
        ({"megapixels": 0}, "megapixels"),
        ({"back": "input"}, "back"),
        ({"megapixel": 1}, "unknown key 'megapixel'; did you mean 'megapixels'"),
    ],
)
def test_a_wrong_option_is_one_line(options: dict[str, Any], said: str) -> None:
    for use in ("remake(span-x2)", "remake-span"):
        with pytest.raises(StudyError) as caught:
            make_editor(use, **options)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_simulated_part_shows_in_the_name() -> None:
    with pytest.raises(StudyError, match="call it 'sim-mine'"):
        make_editor("remake", "mine", of="sim-jpeg")
    assert make_editor("remake(sim-jpeg)").capabilities.simulated


def test_every_option_is_part_of_the_identity() -> None:
    def identity(**options: Any) -> str:
        return make_editor("remake-span", **options).fingerprint

    others = ({"megapixels": 0.5}, {"multiple": 32}, {"format": "webp"}, {"quality": 80}, {"back": "same"})
    assert len({identity(), *(identity(**options) for options in others)}) == len(others) + 1
    assert identity(quality=90) == identity()
    assert make_editor("remake", "x", of={"use": "span-x2", "shrink": "before"}).fingerprint == identity()
    assert make_editor("remake(span-x2)").fingerprint != identity()


@pytest.mark.parametrize("name", FLOORS)
def test_a_floor_is_its_network_and_lacks_what_that_lacks(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    editor = make_editor(name)
    can = editor.capabilities
    assert (can.deterministic, can.instructed, can.simulated, can.dollars_per_call) == (True, False, False, 0)
    assert lacks(editor) == lacks(make_editor(PART[name]))
    assert f"type: cbench weights fetch {PART[name]}" in lacks(editor)[-1]
    assert can.seconds_per_call == pytest.approx(4 * make_editor(PART[name]).capabilities.seconds_per_call)


def floor(name: str, **options: Any) -> Any:
    editor = make_editor(name, **options)
    if lacks(editor):
        pytest.skip("; ".join(lacks(editor)))
    return editor


@pytest.mark.parametrize("name", ["remake-span", "remake-realesr-anime", "remake-taef2"])
def test_a_floor_wears_a_photograph_and_its_chain_is_measured_at_another_size(name: str) -> None:
    source = photograph(200, 300, "coffee")
    editor, image, lost = floor(name, megapixels=0.08), encode_png(source), []
    for _ in range(3):
        image = call(editor, image).image
        assert size_of(image) == (352, 240)
        pair = align(Frame(pixels(image)), Frame(source), "auto")
        assert pair.done == "registered"
        lost.append(psnr(pair.subject.pixels, pair.reference.pixels))
    assert 45 > lost[0] > lost[1] > lost[2] > 12


def test_the_latent_is_rounded_to_16_bits_as_large_models_keep_it() -> None:
    image = photograph(64, 64)
    rounded = call(floor("remake-taesd", megapixels=0.004, format="png"), image)
    exact = call(floor("remake(taesd)", megapixels=0.004, format="png"), image)
    assert rounded.used["of"]["latent_dtype"] == "bfloat16"
    assert "latent_dtype" not in exact.used["of"]
    assert 0 < np.abs(pixels(rounded.image).astype(int) - pixels(exact.image)).mean() < 1


def test_words_change_nothing() -> None:
    image = photograph(96, 96)
    answers = {call(floor("remake-span", megapixels=SMALL), image, words).image for words in ("add a hat", "flip it")}
    assert len(answers) == 1
