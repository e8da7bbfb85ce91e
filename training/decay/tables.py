"""Tables of features: one row per picture of a chain. `python -m training.decay.tables OUT.npz IN.npz…` joins several.

A joined table holds the features that `decay` reads, in half precision, which is far finer than what they tell.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.metrics.no_reference._decay_features import SMALLEST, picture_features

BASELINES = ("brisque", "niqe", "piqe")
"""What a table holds beside features, for chains of pictures that are kept for judging."""


MIXED, NETWORK = "mixed", "network"
"""Chains of several autoencoders with other wear between, and of the little networks."""


class Row(NamedTuple):
    """One picture of one chain."""

    family: str
    editor: str
    image: str
    chain: str
    step: int
    features: list[float]
    baselines: list[float]


class Table(NamedTuple):
    """Rows as arrays."""

    names: list[str]
    family: NDArray[Any]
    editor: NDArray[Any]
    image: NDArray[Any]
    chain: NDArray[Any]
    step: NDArray[Any]
    features: NDArray[np.floating]
    baselines: NDArray[np.floating]


def feature_names() -> list[str]:
    """The features as they are now."""
    return list(picture_features(np.zeros((SMALLEST, SMALLEST, 3), np.uint8)))


def save(out: Path, rows: Sequence[Row]) -> None:
    """Rows as arrays in one file."""
    columns = {key: np.array([getattr(one, key) for one in rows]) for key in Row._fields}
    columns["features"] = columns["features"].astype(np.float32)
    columns["baselines"] = columns["baselines"].astype(np.float32)
    np.savez_compressed(out, allow_pickle=False, names=np.array(feature_names()), **columns)


def read(*paths: Path) -> Table:
    """Several files as one table, with the features that `decay` reads."""
    names, parts = feature_names(), []
    for path in paths:
        part = np.load(path)
        there = {str(name): place for place, name in enumerate(part["names"])}
        missing = [name for name in names if name not in there]
        if missing:
            raise SystemExit(f"{path} lacks the feature {missing[0]}; make it again: python -m training.decay.chains")
        kept = {key: part[key] for key in Row._fields}
        parts.append({**kept, "features": kept["features"][:, [there[name] for name in names]]})
    return Table(names, *(np.concatenate([part[key] for part in parts]) for key in Row._fields))


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("tables", type=Path, nargs="+")
    chosen = parser.parse_args(given)
    table = read(*chosen.tables)
    columns = {key: getattr(table, key) for key in Row._fields}
    columns |= {key: columns[key].astype(np.float16) for key in ("features", "baselines")}
    np.savez_compressed(chosen.out, allow_pickle=False, names=np.array(table.names), **columns)
    print(f"{chosen.out}: {len(table.step)} pictures of {len(set(table.chain))} chains")  # noqa: T201


if __name__ == "__main__":
    main()
