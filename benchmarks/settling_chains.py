"""Chains of vectors that stand for pictures, made by maps whose truth is known; `benchmarks.settling` reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from convergebench.analysis.lags import ChainDistances
from convergebench.analysis.trajectories import Floats

Generator = np.random.Generator
PIXELS, LAGS = 400, 6
DIRECTIONS = 12
LONG = 200
"""Rounds after which a contraction is at its limit."""


class Chain(NamedTuple):
    """Images from the source on, and the limit that their map has, if it has one point."""

    images: Floats
    limit: Floats | None


class Kind(NamedTuple):
    """A kind of chain: what is true of it, and how one of so many rounds is made."""

    truth: str
    make: Callable[[Generator, int], Chain]


def source_and_goal(generator: Generator, away: float = 0.1) -> tuple[Floats, Floats]:
    """Two pictures that are `away` from each other."""
    source = generator.uniform(0.3, 0.7, PIXELS)
    step = generator.normal(size=PIXELS)
    return source, source + away * step / np.sqrt(np.mean(step**2))


def noise(generator: Generator, sigma: float, *, dull: bool = False) -> Floats:
    """One round's noise of this size, per pixel or along a few directions."""
    if not dull:
        return generator.normal(0, sigma, PIXELS)
    return np.repeat(generator.normal(0, sigma, DIRECTIONS), -(-PIXELS // DIRECTIONS))[:PIXELS]


def walked(source: Floats, step: Callable[[Floats, int], Floats], rounds: int) -> Floats:
    """The images of a chain, each stored in 8 bits."""
    images = [np.round(source * 255) / 255]
    for number in range(1, rounds + 1):
        images.append(np.round(step(images[-1], number) * 255) / 255)
    return np.stack(images)


def contracting(low: float, high: float, sigma: float = 0.0, *, dull: bool = False, jitter: float = 0.0) -> Kind:
    """Pulled to one picture by factors between `low` and `high`, one per pixel, with noise or an uneven pull."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, goal = source_and_goal(generator)
        factors = generator.uniform(low, high, PIXELS)

        def step(image: Floats, number: int) -> Floats:
            factor = np.minimum(factors * np.exp(generator.normal(0, jitter)), 0.99) if jitter else factors
            return goal + factor * (image - goal) + (noise(generator, sigma, dull=dull) if sigma else 0.0)

        if sigma:
            return Chain(walked(source, step, rounds), None)
        images = walked(source, step, rounds + LONG)  # in 8 bits it stops short of the goal
        return Chain(images[: rounds + 1], images[-1])

    return Kind("settles", make)


def spiral(q: float, angle: float) -> Kind:
    """Pulled to one picture while turning around it."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, goal = source_and_goal(generator)
        other = generator.permutation(source - goal)
        numbers = np.arange(rounds + 1)[:, None]
        images = goal + q**numbers * (np.cos(numbers * angle) * (source - goal) + np.sin(numbers * angle) * other)
        return Chain(np.round(images * 255) / 255, goal)

    return Kind("settles", make)


def march(pace: Callable[[int], float], jitter: float = 0.05) -> Kind:
    """Straight away from the source, by a step that only depends on the round."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, goal = source_and_goal(generator, away=1.0)
        steps = [pace(number) * np.exp(generator.normal(0, jitter)) for number in range(1, rounds + 1)]
        images = source + np.concatenate([[0.0], np.cumsum(steps)])[:, None] * (goal - source)
        return Chain(images, None)  # not stored in 8 bits: steps below one level would all be lost

    return Kind("drifts", make)


def walk(sigma: float, *, dull: bool = False, held: float = 0.0) -> Kind:
    """A random walk; a share of the pixels may be held by a pull instead."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, goal = source_and_goal(generator)
        factors = np.where(np.arange(PIXELS) < held * PIXELS, 0.5, 1.0)
        images = walked(
            source, lambda image, _: goal + factors * (image - goal) + noise(generator, sigma, dull=dull), rounds
        )
        return Chain(images, None)

    return Kind("drifts", make)


def ball(pull: float, sigma: float, *, dull: bool = False, away: float = 0.1) -> Kind:
    """Noise around one picture (the source itself with `away` 0), to which a pull leads back."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, goal = source_and_goal(generator, away)
        step = lambda image, _: goal + pull * (image - goal) + noise(generator, sigma, dull=dull)  # noqa: E731
        return Chain(walked(source, step, rounds), None)

    return Kind("settles", make)


def cycle(period: int, sigma: float = 0.0) -> Kind:
    """The same few pictures in turn, with noise."""

    def make(generator: Generator, rounds: int) -> Chain:
        source, _ = source_and_goal(generator)
        stations = [source, *(source_and_goal(generator)[1] for _ in range(period - 1))]
        images = walked(source, lambda _, number: stations[number % period] + noise(generator, sigma), rounds)
        return Chain(images, None)

    return Kind("cycles", make)


def growing(q: float) -> Kind:
    """Straight away by steps that grow."""
    return Kind("diverges", march(lambda number: 0.004 * q**number).make)


KINDS: dict[str, Kind] = {
    "contracts, q 0.5": contracting(0.5, 0.5),
    "contracts, q 0.8": contracting(0.8, 0.8),
    "contracts, q 0.9": contracting(0.9, 0.9),
    "contracts, q 0.3 to 0.9": contracting(0.3, 0.9),
    "contracts, q 0.3 to 0.97": contracting(0.3, 0.97),
    "contracts, q 0.8, uneven pull": contracting(0.8, 0.8, jitter=0.1),
    "contracts in a spiral, q 0.8": spiral(0.8, 0.9),
    "contracts, q 0.6, noise 0.01": contracting(0.6, 0.6, 0.01),
    "contracts, q 0.8, noise 0.01": contracting(0.8, 0.8, 0.01),
    "contracts, q 0.8, dull noise 0.01": contracting(0.8, 0.8, 0.01, dull=True),
    "noise ball, no memory": ball(0.0, 0.02),
    "noise ball, pull 0.3, dull": ball(0.3, 0.02, dull=True),
    "noise ball around the source": ball(0.3, 0.02, away=0.0),
    "even march": march(lambda number: 0.01),
    "march slowing to half": march(lambda number: 0.005 * (1 + 0.8**number)),
    "march slowing as 1/√n": march(lambda number: 0.02 / np.sqrt(number)),
    "march slowing as 1/n": march(lambda number: 0.05 / number),
    "random walk": walk(0.02),
    "random walk, dull": walk(0.02, dull=True),
    "random walk, half of it held": walk(0.02, held=0.5),
    "cycle of 2": cycle(2),
    "cycle of 3, noise 0.01": cycle(3, 0.01),
    "grows, q 1.1": growing(1.1),
    "grows, q 1.3": growing(1.3),
}


def path_of(images: Floats) -> ChainDistances:
    """Drift and lagged distances."""
    drift = rmse(images, images[:1])
    lags = np.full((LAGS, len(images)), np.nan)
    for lag in range(1, min(LAGS, len(images) - 1) + 1):
        lags[lag - 1, lag:] = rmse(images[lag:], images[:-lag])
    return ChainDistances(drift, lags)


def rmse(one: Floats, other: Floats) -> Floats:
    """Distance of each image of one list from that of another."""
    return np.asarray(np.sqrt(np.mean((one - other) ** 2, axis=1)))
