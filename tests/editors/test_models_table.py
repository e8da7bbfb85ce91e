"""The table of models: what stands in it holds together, and with the editors it tells about."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from convergebench.documents import read_document
from convergebench.editors._table import TABLE
from convergebench.editors.base import lacks, notices
from convergebench.editors.find import COMPOSITES, LOCAL, make_editor
from convergebench.editors.models import table
from convergebench.editors.models.table import ModelEntry, ModelPrice, ModelsFile, find_model, models, slug
from convergebench.editors.providers.table import PROVIDERS
from convergebench.errors import StudyError

ALL = list(models().values())
REMOTE = [model for model in ALL if model.provider != LOCAL]


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.id)
def test_a_row_holds_together(model: ModelEntry) -> None:
    assert model.provider in PROVIDERS or model.provider == LOCAL
    assert model.about
    assert model.licence
    if model.price is not None:
        assert datetime.date.fromisoformat(model.price.read) <= datetime.datetime.now(datetime.UTC).date()
        assert model.price.call is not None or model.price.tokens
    if model.successor:
        found = find_model(model.successor)
        assert found is not None, f"{model.id} is followed by {model.successor}, which nobody knows"
        assert found.id == model.successor
    assert all(name == slug(name) for name in model.aliases), "nicknames are kept in the form they are looked up by"


@pytest.mark.parametrize("model", [one for one in ALL if one.provider == LOCAL], ids=lambda model: model.id)
def test_a_model_that_runs_here_is_what_its_row_says(model: ModelEntry) -> None:
    assert model.id in TABLE
    editor = make_editor(model.id)
    assert editor.capabilities.seed == (model.seed != "none")
    assert editor.capabilities.dollars_per_call == 0


def test_every_real_editor_has_a_row() -> None:
    pretend = {name for name in TABLE if name == "sim" or name.startswith("sim-")}
    others = {"replay", "diffusers", "resave", "http", "gradio", *COMPOSITES}
    assert set(TABLE) - pretend - others <= set(models())


@pytest.mark.parametrize("model", REMOTE, ids=lambda model: model.id)
def test_a_model_that_has_ended_names_its_successor_before_the_first_call(model: ModelEntry) -> None:
    missing = lacks(make_editor(model.id))
    if model.ended():
        assert missing == [f"{model.id} was shut down on {model.retires}; use {model.successor}"]


def test_the_models_that_the_requirements_name_are_there() -> None:
    for name in (
        *("nano banana", "flux-kontext-dev", "flux-kontext-pro", "flux-kontext-max", "qwen-image-edit", "gpt-image-1"),
        *("seedream-4.0", "nano banana 2", "flux-2-dev", "gemini-nano-banana-2.1"),
    ):
        assert find_model(name) is not None, name


def one(**facts: object) -> ModelEntry:
    return ModelEntry.model_validate({"id": "m", "provider": "bfl", "about": "a", "licence": "l", **facts})


def test_an_end_is_told_when_it_is_near_and_after() -> None:
    model = one(retires="2027-03-15", successor="n")
    day = datetime.date
    assert not model.ends_soon(day(2026, 11, 15))
    assert model.ends_soon(day(2027, 2, 1))
    assert not model.ended(day(2027, 3, 14))
    assert model.ended(day(2027, 3, 15))
    assert not model.ends_soon(day(2027, 3, 15))


def test_notices_tell_of_an_end_and_of_an_unknown_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_today", lambda: datetime.date(2027, 2, 1))
    assert any("ends on 2027-03-15" in notice for notice in notices(make_editor("gemini-2.5-flash-image")))
    assert any("is unknown; set it with the option dollars" in notice for notice in notices(make_editor("fal:a/b")))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"retires": "2026-01-01"}, "names no successor"),
        ({"price": {"call": 1, "read": "2026-11-15", "resolutions": {"8K": 2}}}, "8K"),
        ({"price": {"call": -1, "read": "2026-11-15"}}, "price"),
        ({"seed": "perhaps"}, "seed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_row_that_does_not_hold_together_is_refused(facts: dict[str, object], said: str, tmp_path: Path) -> None:
    whole = {"id": "m", "provider": "bfl", "about": "a", **facts}
    lines = [f"{name} = {_toml(value)}" for name, value in whole.items()]
    (tmp_path / "m.toml").write_text("[[model]]\nlicence = 'l'\n" + "\n".join(lines))
    with pytest.raises(StudyError, match=said):
        read_document(tmp_path / "m.toml", ModelsFile)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{name}" = {_toml(one)}' for name, one in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_prices_become_capabilities() -> None:
    price = ModelPrice(call=0.1, resolutions={"4K": 0.3}, turn=0.01, read="2026-11-15")
    able = one(resolutions=("4K",), price=price, seed="best effort", bounds={"sides": (64, 4096)}).capabilities()
    assert (able.dollars_per_call, able.dollars_by_resolution, able.dollars_per_turn) == (0.1, {"4K": 0.3}, 0.01)
    assert able.seed
    assert able.sides == (64, 4096)
    assert one().capabilities().dollars_per_call is None
