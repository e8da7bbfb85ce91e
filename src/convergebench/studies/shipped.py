"""The study files that come with the package, by name: in an installed wheel, or in a checkout's folder `studies`."""

from __future__ import annotations

from pathlib import Path

from convergebench.errors import StudyError
from convergebench.registry import suggest

_HERE = Path(__file__).resolve()
INSTALLED = _HERE.parent / "files"
"""Where the build puts the folder `studies`."""
CHECKOUT = _HERE.parents[3]


def shipped_studies() -> dict[str, Path]:
    """Name → file, sorted by name."""
    folder = INSTALLED
    if not folder.is_dir() and _HERE.parents[2].name == "src" and (CHECKOUT / "pyproject.toml").is_file():
        folder = CHECKOUT / "studies"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(given: Path) -> Path:
    """The study file that a word of the command line means: a file of that path, else the shipped study of that name.

    A folder of that name does not stand in the way of a shipped study. `StudyError` names the nearest one.
    """
    try:
        if given.is_file() or (given.exists() and not given.is_dir()):  # a pipe will do
            return given
    except (OSError, ValueError):  # no name that a file can have; whoever reads it says so
        return given
    shipped = shipped_studies()
    bare = given.name.removesuffix(".toml")
    if str(given) in (bare, f"{bare}.toml") and bare in shipped:
        return shipped[bare]
    if given.is_dir():
        inside = given / "study.toml"
        hint = f"; name a file in it, such as {inside}" if inside.is_file() else ""
        raise StudyError(f"{given} is a folder, not a study file{hint} (cbench list studies)")
    if bare in shipped:
        raise StudyError(f"no study file at {given}; the package has a study of that name: cbench run {bare}")
    close = suggest(bare, shipped) or "; shipped studies are named by: cbench list studies"
    raise StudyError(f"no study file at {given}{close}, or make one of your own: cbench init my-study")
