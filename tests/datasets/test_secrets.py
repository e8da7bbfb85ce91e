"""No key leaves in a data set, wherever in a run it stands."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.secrets import Redactor, redacted_json

KEY = "sk-hidden-9876543210"


@pytest.fixture
def leaking(small_run: Path, tmp_path: Path) -> Path:
    """The small run with a key in its editor's name, prompts, model and labels."""
    copy = shutil.copytree(small_run, tmp_path / "run")
    with sqlite3.connect(copy / "run.sqlite") as database:
        database.execute("pragma foreign_keys = off")
        for table in ("chains", "chain_steps", "comparisons", "labels"):
            database.execute(f"update {table} set editor = 'jpeg-{KEY}' where editor = 'sim-jpeg'")
        database.execute(f"update steps set instruction = instruction || ' {KEY}'")
        database.execute(f"update attempts set model = 'model-{KEY}'")
        database.execute(f"update labels set detail = '{KEY}'")
    database.close()
    document = (copy / "manifest.json").read_text(encoding="utf-8").replace("sim-jpeg", f"jpeg-{KEY}")
    manifest = json.loads(document)
    for pair in manifest["pairs"].values():
        pair["instructions"] = [f"{words} {KEY}" for words in pair["instructions"]]
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return copy


@pytest.mark.parametrize("form", ["banana100", "imagefolder", "webdataset"])
def test_a_key_of_the_environment_is_in_no_file_and_no_file_s_name(
    leaking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    made = export(leaking, tmp_path / "set", ExportOptions(form))
    files = [path for path in made.out.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [str(path) for path in files if KEY in str(path) or KEY.encode() in path.read_bytes()] == []
    card = (made.out / "README.md").read_text(encoding="utf-8")
    assert "| `jpeg-…` | simulated |" in card, "what is known of the editor is still told"


def test_chains_that_lost_a_key_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_KEY", "one-key-12345")
    monkeypatch.setenv("OTHER_KEY", "other-key-12345")
    records = [{"chain_id": f"{key}/a/b/0", "id": f"{key}/a/b/0/3", "sha256": key} for key in ("one-key-12345", "x")]
    records.append({**records[0], "chain_id": "other-key-12345/a/b/0", "id": "other-key-12345/a/b/0/3"})
    one, free, other = map(Redactor().record, records)
    assert free == records[1]
    assert one["chain_id"].startswith("…/a/b/0~")
    assert one["chain_id"] != other["chain_id"]
    assert one["id"] == f"{one['chain_id']}/3"
    assert one["sha256"] == "one-key-12345", "hashes are ours"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"api_key": "abc", "max_tokens": 100, "a_token": True}, {"api_key": "…", "max_tokens": 100, "a_token": True}),
        ({"keys": ["a", "b"], "quality": "high"}, {"keys": "…", "quality": "high"}),
        ({"credentials": {"user": "anna", "pin": 4}}, {"credentials": "…"}),
        ({"headers": {"Authorization": "Basic abc", "Age": "1"}}, {"headers": {"Authorization": "…", "Age": "1"}}),
        ({"more": [{"Cookie": "a=b"}, "Bearer abcdefghijkl"]}, {"more": [{"Cookie": "…"}, "Bearer …"]}),
        ({"secret": None}, {"secret": None}),
    ],
)  # fmt: skip
def test_whatever_stands_under_the_name_of_a_key_is_blotted_out(given: Any, written: Any) -> None:
    assert json.loads(redacted_json(given)) == written
