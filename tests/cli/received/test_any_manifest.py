"""Manifests changed at random while a server, the environment and Python's own audit hook are watched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.received.parts import OUTSIDE, SECRETS, STRANGE, served, typed, with_roles
from tests.cli.received.watching import watching

HOSTILE = [
    lambda witness, made: f"{STRANGE}:thing",
    lambda witness, made: f"best-of({STRANGE}:thing)",
    lambda witness, made: str(made / OUTSIDE / "mood.toml"),
    lambda witness, made: f"../../{OUTSIDE}/mood.toml",
    lambda witness, made: [f"{STRANGE}:thing"],
    lambda witness, made: {str(made / OUTSIDE / "mood.toml"): "mood@1"},
    lambda witness, made: f"{witness.address}/v1",
    lambda witness, made: served(witness),
    lambda witness, made: {"rater": served(witness, key="OPENAI_API_KEY")},
    lambda witness, made: {"judge": served(witness, rubrics={"semantics-forward": str(made / OUTSIDE / "mood.toml")})},
    lambda witness, made: {"metrics": [str(made / OUTSIDE / "mood.toml")], "damage": f"{made / OUTSIDE}/mood.toml"},
    lambda witness, made: "AWS_SECRET_ACCESS_KEY",
    lambda witness, made: {"name": "x", "use": f"{STRANGE}:thing", "base_url": witness.address, "key": "GITHUB_TOKEN"},
]


def leaves(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a document something can be put in another's place."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield (*at, key)
        yield from leaves(value, (*at, key))


def put(content: Any, at: tuple[Any, ...], value: Any) -> None:
    for key in at[:-1]:
        content = content[key]
    content[at[-1]] = value


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_manifest_says_plain_commands_do_nothing_for_a_stranger(
    made: Path, tmp_path: Path, data: st.DataObject
) -> None:
    run = tmp_path / "mutated"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(made / "run", run)
    with watching(SECRETS, STRANGE, OUTSIDE) as witness:
        content = json.loads((run / "manifest.json").read_text())
        with_roles(rater=served(witness), judge={"kind": "measuring"}, reader=served(witness, key=""))(content)
        command = data.draw(st.sampled_from(["measure", "audit", "show", "verify", "run", "examine"]))
        if command == "audit":
            content["study"], content["spec"]["audit"] = "audit", {"metrics": ["brisque"]}
        for _ in range(data.draw(st.integers(1, 3))):
            part = data.draw(st.sampled_from(["spec", "spec", "metrics", "editors", "fixed", "pairs"]))
            inside = [(part,), *leaves(content[part], (part,))]
            put(
                content,
                data.draw(st.sampled_from(sorted(inside, key=repr))),
                data.draw(st.sampled_from(HOSTILE))(witness, made),
            )
        (run / "manifest.json").write_text(json.dumps(content))
        words = ("run", made / "study.toml", "--run", run, "--no-report") if command == "run" else (command, run)
        said = typed(*words, *(["--repeat", "0"] if command == "audit" else []))
    assert witness.nothing, (command, witness)
    assert said.code in (0, 1, 2, 3)
