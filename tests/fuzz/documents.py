"""Files that users write or receive: TOML of every kind, and JSON beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from convergebench.claims.read import read_claims
from convergebench.conductor.measuring import read_roles
from convergebench.documents import read_document
from convergebench.editors.models.table import ModelsFile
from convergebench.editors.providers.comfyui_workflow import read_workflow
from convergebench.edits.pairs import load_pairs
from convergebench.edits.restoration_prompts import load_prompts
from convergebench.edits.sessions import load_sessions
from convergebench.edits.variants import load_variants
from convergebench.images.manifest import read_manifest
from convergebench.leaderboard.settings import read_board_settings
from convergebench.metrics.functions import read_facts
from convergebench.rubrics.rubric import load_rubric
from convergebench.studies.spec import read_spec
from convergebench.weights.catalogue import WeightsFile
from tests.fuzz.pictures import picture
from tests.fuzz.target import FuzzTarget, as_folder, of_file

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "convergebench"
ROLES = b"""[roles.judge]
kind = "served"
base_url = "http://127.0.0.1:9/v1"
model = "m"
"""
BOARD = b"""[[board]]
study = "roundtrip"
suite = "builtin 2"
rules = "r1:00"
[keys]
0123456789abcdef = "Example Lab"
"""
SUITE = """name = "mine"
[[image]]
id = "a"
path = "a.png"
kind = "scene"
sha256 = "{}"
width = 12
height = 12
licence = "CC0-1.0"
source = "drawn"
"""
PAIRS = b"""[sets]
mine = ["hat"]
[[pair]]
id = "hat"
category = "accessories"
reversibility = "preserving"
kinds = ["face"]
adds = ["hat"]
forward_operation = "add"
backward_operation = "remove"
before = "a person"
after = "a person wearing a hat"
wordings = [{ forward = "add hat", backward = "remove hat" }]
"""
FACTS = {"name": "mine", "kind": "no-reference", "better": "higher", "range": [0, 1], "summary": "s", "code": "c"}


def shipped(*files: str, longest: int = 6000) -> Callable[[], Sequence[bytes]]:
    """Files of this package as seeds, each up to the end of a line."""

    def read() -> list[bytes]:
        found = []
        for name in files:
            data = (ROOT / name).read_bytes()
            found.append(data if len(data) <= longest else data[: data.rindex(b"\n[[", 0, longest) + 1])
        return found

    return read


def _suite(data: bytes) -> None:
    with as_folder({"suite.toml": data, "a.png": picture("PNG")}) as folder:
        read_manifest(folder / "suite.toml")


def _board(data: bytes) -> None:
    with as_folder({"board.toml": data}) as folder:
        read_board_settings(folder)


def _named(find: Callable[[Sequence[str]], object]) -> Callable[[bytes], None]:
    return of_file(lambda path: find([str(path)]), ".toml")


DATA = "src/convergebench"
TARGETS = {
    "study": FuzzTarget(
        of_file(read_spec, ".toml"),
        shipped(*(f"studies/{name}.toml" for name in ("roundtrip", "factory-quick", "restoration-quick", "audit"))),
    ),
    "pairs": FuzzTarget(_named(load_pairs), lambda: (PAIRS,)),
    "variants": FuzzTarget(_named(load_variants), shipped(f"{DATA}/edits/data/variants.toml")),
    "prompts": FuzzTarget(_named(load_prompts), shipped(f"{DATA}/edits/data/restoration_prompts.toml")),
    "sessions": FuzzTarget(of_file(load_sessions, ".toml"), shipped(f"{DATA}/edits/data/sessions.toml")),
    "rubric": FuzzTarget(
        of_file(lambda path: load_rubric(str(path)), ".toml"), shipped(f"{DATA}/rubrics/data/judge-two-edits.toml")
    ),
    "suite": FuzzTarget(_suite, lambda: (SUITE.format(hashlib.sha256(picture("PNG")).hexdigest()).encode(),)),
    "claims": FuzzTarget(of_file(read_claims, ".toml"), shipped(f"{DATA}/claims/data/banana100.toml")),
    "roles": FuzzTarget(of_file(read_roles, ".toml"), lambda: (ROLES,)),
    "board": FuzzTarget(_board, lambda: (b'[keys]\n0123456789abcdef = "Example Lab"\n', BOARD)),
    "models": FuzzTarget(
        of_file(partial(read_document, model=ModelsFile), ".toml"), shipped(f"{DATA}/editors/models/data/fal.toml")
    ),
    "weights": FuzzTarget(
        of_file(partial(read_document, model=WeightsFile), ".toml"), shipped(f"{DATA}/weights/data/no_reference.toml")
    ),
    "workflow": FuzzTarget(
        of_file(lambda path: read_workflow(path, {}, ""), ".json"),
        lambda: ((ROOT / "tests/editors/providers/workflow.json").read_bytes(),),
    ),
    "metric-facts": FuzzTarget(of_file(read_facts, ".json"), lambda: (json.dumps(FACTS).encode(),)),
}
