"""What is published: the wheel runs without a checkout, and the files about the project agree with the package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
YAML = sorted([ROOT / "CITATION.cff", *(ROOT / ".github").rglob("*.yml")])


def read_yaml(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (told,) = re.findall(r"^version: (\S+)$", text, re.M)
    assert told == PROJECT["project"]["version"] == version("convergebench")


def test_the_citation_has_what_the_format_requires() -> None:
    content = read_yaml(ROOT / "CITATION.cff")
    assert content["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= content.keys()
    assert content["license"] == PROJECT["project"]["license"]
    assert all("name" in author or "family-names" in author for author in content["authors"])


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_files_for_the_forge_can_be_read(path: Path) -> None:
    content = read_yaml(path)
    if path.parent.name == "ISSUE_TEMPLATE" and path.stem != "config":
        assert {"name", "description", "body"} <= content.keys()
        names = [part["id"] for part in content["body"]]
        assert len(names) == len(set(names))
    if path.name == "ci.yml":
        steps = [step.get("run") for job in content["jobs"].values() for step in job["steps"]]
        assert ".ci/run" in steps
        assert "make dist" in steps


def test_the_wheel_is_told_to_hold_the_study_files() -> None:
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["force-include"] == {"studies": "convergebench/studies/files"}
    assert {"/src", "/studies", "/tests", "/pyproject.toml", "/LICENSE"} <= set(targets["sdist"]["include"])
    assert all((ROOT / name.lstrip("/")).exists() for name in targets["sdist"]["include"])


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "convergebench", "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == f"convergebench {version('convergebench')}\n"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed")
def test_an_installed_wheel_runs_a_shipped_study_in_an_empty_folder(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (source,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"studies/demo.toml", "pyproject.toml", "LICENSE", "tests/test_packaging.py", ".ci/run"} <= names
    target, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*install, str(target), str(wheel)], check=True, capture_output=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": str(target), "CONVERGEBENCH_PLOTS": "none"}

    def typed(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "convergebench", *words],
            cwd=empty,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    small = ("--limit", "1", "--rounds", "1", "--pair", "flip-horizontal", "--editor", "sim-perfect")
    said = typed("run", "demo-light", *small)
    assert str(target / "convergebench" / "studies" / "files" / "demo-light.toml") in said
    assert (empty / "runs" / "demo-light" / "report" / "index.html").is_file()
    assert "restoration-quick" in typed("list", "study-files")
    typed("init", "mine")
    assert (empty / "mine" / "study.toml").is_file()
