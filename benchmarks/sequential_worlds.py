"""Worlds of paired differences whose truth is known, for `benchmarks.sequential`: runs × images, in parts of 1.

Every world takes the difference of the means; its noise has mean 0 over very many images. Scores lie between 0 and 1,
so differences lie between −1 and 1.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from convergebench.analysis.trajectories import Floats

Generator = np.random.Generator
World = Callable[[Generator, int, int, float], Floats]
STORED = Path(__file__).with_name("sequential_chains.csv")
"""SSIM after every round of three autoencoders on sixty photographs of 64 pixels (`--chains RUN` writes it)."""


def even(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """A normal spread of 10 points."""
    return mean + 0.1 * generator.normal(size=(runs, images))


def heavy(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """Heavy tails: Student's t with two degrees of freedom."""
    return mean + 0.05 * generator.standard_t(2, size=(runs, images))


def skewed(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """A long tail against the first editor."""
    return mean - 0.06 * (generator.lognormal(0, 1, size=(runs, images)) - float(np.exp(0.5)))


def refusing(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """The first editor refuses one image in ten, which costs it 85 points, and makes up for it on the others."""
    refused = generator.random((runs, images)) < 0.1
    return mean + np.where(refused, -0.765, 0.085)


def clustered(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """Images of three kinds, between which editors differ more than within."""
    kind = generator.integers(0, 3, (runs, images))
    return mean + np.array([-0.12, 0.0, 0.12])[kind] + 0.04 * generator.normal(size=(runs, images))


def wholly_equal(generator: Generator, runs: int, images: int, mean: float) -> Floats:
    """Deterministic editors that differ by the same amount on every image."""
    return np.full((runs, images), mean)


WORLDS: dict[str, World] = {
    "even": even,
    "heavy tails": heavy,
    "skewed": skewed,
    "one in ten refused": refusing,
    "three kinds": clustered,
    "no spread": wholly_equal,
}


def stored_chains() -> tuple[list[str], Floats]:
    """Editors, and their SSIM: editors × images × rounds."""
    with STORED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    editors = list(dict.fromkeys(row["editor"] for row in rows))
    names = [name for name in rows[0] if name.startswith("round_")]
    values = [[[float(row[name]) for name in names] for row in rows if row["editor"] == one] for one in editors]
    return editors, np.array(values)


def write_chains(run: Path) -> None:
    """Make the table of stored chains from a run that has SSIM."""
    import convergebench as cb

    frame = cb.load(run).measurements.filter(metric="ssim", role="return")
    table = frame.pivot("round", index=["editor", "source"], values="value").sort("editor", "source")
    names = sorted((name for name in table.columns if name.isdigit() and name != "0"), key=int)
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["editor", "image", *(f"round_{name}" for name in names)])
        for row in table.iter_rows(named=True):
            writer.writerow([row["editor"], row["source"], *(f"{row[name]:.4f}" for name in names)])


def areas(chains: Floats, rounds: int | None = None) -> Floats:
    """The area of each chain (… × rounds) over its first rounds, by trapezoids from the untouched image."""
    whole = np.concatenate([np.ones((*chains.shape[:-1], 1)), np.maximum(chains, 0)], axis=-1)[
        ..., : (rounds or 10**9) + 1
    ]
    return np.asarray(((whole[..., 1:] + whole[..., :-1]) / 2).mean(axis=-1))
