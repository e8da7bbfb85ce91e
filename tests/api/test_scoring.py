"""`cb.score`: a number for one image and one metric, a frame for more; a value that cannot be had says why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import convergebench as cb
from tests.api.parts import PICTURES, blur, picture


def test_one_image_and_one_metric_give_a_number_whatever_form_the_image_has(tmp_path: Path) -> None:
    one, other = picture(0), blur(picture(0), "")
    one.save(tmp_path / "one.png")
    value = cb.score(other, one, "rmse")
    expected = np.sqrt(np.mean((np.asarray(one, float) - np.asarray(other, float)) ** 2)) / 255
    assert value == pytest.approx(expected, rel=1e-6)
    assert cb.score(other, tmp_path / "one.png", "rmse") == value
    assert cb.score(np.asarray(other), str(tmp_path / "one.png"), "rmse") == value
    assert isinstance(cb.score(one, metric="piqe"), float)


def test_several_images_or_metrics_give_a_frame_that_names_them() -> None:
    frame: Any = cb.score(PICTURES, metric=["piqe", "brisque"])
    assert frame.select("image", "metric").rows() == [(name, one) for name in PICTURES for one in ("piqe", "brisque")]
    assert frame["status"].to_list() == ["ok"] * 6
    listed: Any = cb.score(list(PICTURES.values()), picture(0), "ssim")
    assert listed["image"].to_list() == ["image-0", "image-1", "image-2"]
    assert listed["value"][0] == pytest.approx(1.0)
    assert listed["value"][1] < 0.9


def test_a_folder_stands_for_its_images(tmp_path: Path) -> None:
    for name, one in PICTURES.items():
        one.save(tmp_path / f"{name}.png")
    frame: Any = cb.score(tmp_path, metric="piqe")
    assert [Path(name).stem for name in frame["image"]] == list(PICTURES)


def test_a_value_that_cannot_be_had_has_a_status_and_is_never_a_number() -> None:
    small = picture(size=(40, 40))
    with pytest.raises(cb.Unmeasurable, match="niqe has no value") as caught:
        cb.score(small, metric="niqe")
    assert caught.value.status
    frame: Any = cb.score([small], metric="niqe")
    assert frame["value"].to_list() == [None]
    assert frame["status"].to_list() == [caught.value.status]
    assert frame["detail"][0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((picture(),), "name what to measure"),
        ((picture(), "niqe"), r'score\(images, metric="niqe"\)'),
        (([], None, "niqe"), "no image to score"),
        ((picture(), None, "lpips"), "reference"),
        ((np.zeros((4, 4)), None, "niqe"), "uint8"),
        (([3], None, "niqe"), "3 is not an image"),
        ((3, None, "niqe"), "images = 3"),
        ((picture(), picture(), 3), "metric = 3"),
        (([picture()], [picture()], "ssim"), "reference is one image for all images"),
        (("there/is/none.png", None, "niqe"), "there/is/none.png"),
    ],
)
def test_a_mistake_is_one_line(given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(cb.StudyError, match=said):
        cb.score(*given)


def test_it_works_under_a_running_loop_and_as_a_coroutine() -> None:
    async def cell() -> tuple[Any, Any]:
        return cb.score(picture(), picture(1), "ssim"), await cb.score_async(picture(), picture(1), "ssim")

    plain, awaited = asyncio.run(cell())
    assert plain == awaited == cb.score(picture(), picture(1), "ssim")


def test_modes_of_pil_that_metrics_do_not_know_are_converted() -> None:
    grey = Image.fromarray(np.asarray(picture().convert("L"), np.float32), "F")
    assert isinstance(cb.score(grey, metric="piqe"), float)


def test_an_unknown_option_names_the_closest() -> None:
    with pytest.raises(cb.StudyError, match=r"score\(\) has no option 'worker'; did you mean 'workers'"):
        cb.score(picture(), metric="piqe", worker=1)


def test_a_reason_names_the_picture_and_not_a_temporary_file() -> None:
    frame: Any = cb.score({"glass": Image.new("RGBA", (128, 128), (1, 2, 3, 4))}, metric="piqe")
    assert frame["detail"][0].startswith("glass has transparent pixels")
