"""From a study file to chains: settings reach the editors that take them, and nobody else; mistakes come first."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.conductor.begin import manifest_of
from convergebench.conductor.prepare import prepare
from convergebench.engine.plan import forecast, hours_in_all
from convergebench.engine.prepared import Prepared
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.images.encode import encode_png
from convergebench.store.manifest import grow
from convergebench.studies.spec import parse_spec
from convergebench.types import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, size in enumerate((64, 640)):
        picture = np.random.default_rng(number).integers(0, 256, (size, size, 3), np.uint8)
        (tmp_path / f"scene-{number}.png").write_bytes(encode_png(picture))
    return tmp_path


def prepared(folder: Path, *editors: Any, rounds: int = 5, **content: Any) -> Prepared:
    whole = {
        "editors": list(editors),
        "images": {"suite": str(folder)},
        "roundtrip": {"rounds": rounds},
        "edits": {"pairs": ["red-ball"]},
        "measure": {"metrics": ["psnr"]},
        **content,
    }
    return prepare(parse_spec(whole))


def settings_of(given: Prepared) -> dict[str, Settings]:
    return {chain.editor: chain.settings for chain in given.chains}


def test_an_editor_may_have_settings_of_its_own(folder: Path) -> None:
    hot = {
        "name": "hot",
        "use": "gemini-3-pro-image",
        "settings": {"temperature": 0.4, "resolution": ["1K", "2K", "4K"]},
    }
    given = prepared(folder, "gemini-3-pro-image", hot, "flux-kontext-pro")
    found = settings_of(given)
    assert (found["hot"].temperature, found["hot"].interleaved) == (0.4, ("1K", "2K", "4K"))
    assert found["flux-kontext-pro"] == found["gemini-3-pro-image"] == Settings()
    assert manifest_of("x", given).editors["hot"]["settings"] == hot["settings"]


def test_a_setting_of_the_whole_study_must_suit_every_editor(folder: Path) -> None:
    with pytest.raises(StudyError, match=r"flux-kontext-pro takes no temperature.*settings = \{ … \}"):
        prepared(folder, "gemini-3-pro-image", "flux-kontext-pro", settings={"temperature": 0.4})


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"temprature": 1}, "temprature"), ({"temperature": 9}, "temperature"), ({"resolution": []}, "resolution")],
)
def test_a_mistake_in_an_editor_s_settings_is_named_with_the_editor(folder: Path, settings: Any, said: str) -> None:
    with pytest.raises(StudyError, match=f"editor 'hot': settings.*{said}"):
        prepared(folder, {"name": "hot", "use": "gemini-3-pro-image", "settings": settings})


def test_the_same_editor_twice_needs_other_options_or_settings(folder: Path) -> None:
    with pytest.raises(StudyError, match="are the same editor"):
        prepared(folder, "gemini-2.5-flash-image", {"name": "again", "use": "nano banana"})
    given = prepared(
        folder, "gemini-2.5-flash-image", {"name": "cold", "use": "nano banana", "settings": {"temperature": 0}}
    )
    assert set(given.editors) == {"gemini-2.5-flash-image", "cold"}


def test_a_nickname_stands_in_the_run_under_the_model_s_id(folder: Path) -> None:
    assert list(prepared(folder, "nano banana").editors) == ["gemini-2.5-flash-image"]


def test_a_nickname_beside_the_model_s_id_is_one_editor_too_many(folder: Path) -> None:
    """It would take the other's place, and its options with it."""
    with pytest.raises(StudyError, match=r"'nano banana' is 'gemini-2\.5-flash-image', which the study lists twice"):
        prepared(
            folder, {"name": "gemini-2.5-flash-image", "use": "gemini-2.5-flash-image", "dollars": 1}, "nano banana"
        )


def test_no_seed_and_the_seed_0_are_the_same_settings(folder: Path) -> None:
    with pytest.raises(StudyError, match="are the same editor"):
        prepared(folder, "sim-noise", {"name": "sim-zero", "use": "sim-noise", "settings": {"seed": 0}})


@pytest.mark.parametrize("name", ["", " ", "sim-a\nb", "sim-\0", " sim-a"])
def test_a_name_that_nobody_could_read_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(StudyError, match="should be printable"):
        prepared(folder, {"name": name, "use": "sim-jpeg"})


def test_images_that_a_provider_would_send_back_are_found_before_the_first_call(folder: Path) -> None:
    with pytest.raises(StudyError, match=r"from 384 to 3072 pixels; 1 of 2 are not \(first: scene-0, 64 × 64\)"):
        prepared(folder, "qwen-image-edit-plus")


def test_a_single_session_is_forecast_to_grow_with_the_square_of_its_steps(folder: Path) -> None:
    def dollars(rounds: int, session: str) -> float:
        given = prepared(folder, "gemini-3-pro-image", rounds=rounds, settings={"session": session})
        (row,) = forecast(given.chains, given.editors, {})
        assert row.dollars is not None
        return row.dollars

    able = prepared(folder, "gemini-3-pro-image").editors["gemini-3-pro-image"].capabilities
    assert dollars(10, "fresh") == pytest.approx(2 * 20 * (able.dollars_per_call or 0))
    more = [dollars(rounds, "single") - dollars(rounds, "fresh") for rounds in (5, 10, 20)]
    # 2 chains; n steps carry 0 + 1 + … + (n − 1) earlier turns
    assert more == pytest.approx([2 * able.dollars_per_turn * n * (n - 1) / 2 for n in (10, 20, 40)])


def test_interleaved_resolutions_are_forecast_at_the_price_of_each(folder: Path) -> None:
    given = prepared(folder, "gemini-3-pro-image", rounds=3, settings={"resolution": ["1K", "2K", "4K"]})
    (row,) = forecast(given.chains, given.editors, {})
    assert row.dollars == pytest.approx(2 * 2 * (0.134 + 0.134 + 0.24 + 3 * 0.0031))


def test_editors_that_share_a_machine_are_forecast_one_after_the_other(folder: Path) -> None:
    def hours(*names: str) -> float:
        given = prepared(folder, *names)
        return hours_in_all(forecast(given.chains, given.editors, {}), given.editors)

    one, other, far = hours("waifu2x-denoise"), hours("span-x2"), hours("gemini-3-pro-image")
    assert hours("waifu2x-denoise", "span-x2") == pytest.approx(one + other)
    assert hours("gemini-3-pro-image", "span-x2") == pytest.approx(max(far, other))


def test_what_nobody_knows_is_not_forecast_as_nothing(folder: Path) -> None:
    given = prepared(folder, "fal:somebody/model")
    (row,) = forecast(given.chains, given.editors, {})
    assert row.dollars is None


def test_a_server_may_move_and_a_price_may_change_while_a_run_grows(folder: Path) -> None:
    def manifest(**options: Any) -> Any:
        return manifest_of("x", prepared(folder, {"name": "k", "use": "flux-kontext-pro", **options}))

    before = manifest(base_url="http://127.0.0.1:1", dollars=0.1)
    after = grow(before, manifest(base_url="http://127.0.0.1:2", at_once=3))
    assert after.editors["k"]["options"] == {"base_url": "http://127.0.0.1:2", "at_once": 3}
    with pytest.raises(ChangedMeaning, match="editor k, options"):
        grow(before, manifest(output_format="jpeg"))
    with pytest.raises(ChangedMeaning, match="editor k, settings"):
        grow(before, manifest(settings={"aspect": "16:9"}))


def test_a_run_from_before_there_were_further_settings_goes_on(folder: Path) -> None:
    now = manifest_of("x", prepared(folder, "sim-jpeg"))
    then = dataclasses.replace(
        now,
        fixed={
            **{"order": "single", "seed": 0, "seed_policy": "per-step"},
            **{"temperature": None, "resolution": None, "session": "fresh"},
        },
    )
    assert grow(then, now).fixed == then.fixed
