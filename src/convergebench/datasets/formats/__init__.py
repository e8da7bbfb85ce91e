"""The forms a data set can be written in: a table of names, each loaded when it is used."""

from __future__ import annotations

from importlib import import_module

from convergebench.datasets.formats.base import Format
from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import suggest

TABLE = {
    "banana100": "convergebench.datasets.formats.banana100:Banana100",
    "imagefolder": "convergebench.datasets.formats.imagefolder:ImageFolder",
    "parquet": "convergebench.datasets.formats.parquet:Parquet",
    "webdataset": "convergebench.datasets.formats.webdataset:WebDataset",
    "hf": "convergebench.datasets.formats.hub:Hub",
    "pico": "convergebench.datasets.formats.pico:Pico",
}


def format_class(name: str) -> type[Format]:
    """The form of this name."""
    if name not in TABLE:
        raise StudyError(f"unknown format '{name}'{suggest(name, TABLE)} (--as takes: {', '.join(TABLE)})")
    module, _, attribute = TABLE[name].partition(":")
    try:
        found: type[Format] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise Prerequisite(f"--as {name} needs {error.name}: pip install 'convergebench[datasets]'") from error
    return found
