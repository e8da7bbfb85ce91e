"""What the page about making editing data tells to type works: from pictures to a training step on exported pairs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from convergebench.datasets.factory.tables import PREFERENCE, SFT
from convergebench.studies.spec import parse_spec
from tests.conductor.test_factory_rated import file_of, quarter, rows_of
from tests.datasets import sets
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader
from tests.docs.tiny import make_pictures

PAGE = ROOT / "docs" / "factory.md"


def test_from_pictures_to_a_training_step(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", reader.root / "cache")
    datasets.disable_progress_bars()
    reader.before["cbench factory ratings"] = lambda: file_of(
        reader.root, rows_of(reader.root / "runs" / "mine", quarter)
    )
    reader.before["cbench run other-judge.toml"] = lambda: other_judge(reader.root)
    reader.before["cbench import pico-banana"] = lambda: published(reader.root)
    make_pictures(reader.root, "my-photos")
    assert reader.page("docs/factory.md") == 17
    assert (reader.root / "sets" / "mine-pico" / "jsonl" / "preference.jsonl").is_file()
    assert (reader.root / "runs" / "again" / "manifest.json").is_file()


def other_judge(root: Path) -> None:
    text = (root / "my-factory.toml").read_text(encoding="utf-8")
    (root / "other-judge.toml").write_text(f'{text}\n[roles.judge]\nkind = "measuring"\n', encoding="utf-8")


def published(root: Path) -> None:
    sets.pico(root / "pico-banana")
    (root / "open-images" / "train").mkdir(parents=True)


def test_the_studies_it_names_are_there_and_valid() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"studies/[\w-]+\.toml", text))
    assert named == {"studies/factory.toml", "studies/factory-quick.toml"}
    for name in named:
        assert parse_spec(tomllib.loads((ROOT / name).read_text(encoding="utf-8"))).study == "factory"


def test_the_columns_it_names_are_those_of_the_tables() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for table in (SFT, PREFERENCE):
        told = text.split(f"- **`{table.name}`**", 1)[1].split("- **", 1)[0]
        named = re.findall(r"`(\w+)`", told)
        assert set(table.picture_columns) <= set(named) <= set(table.columns), Path(table.name)
