"""How often are the verdicts on settling right, and how far can q and Banach's estimates be trusted?

python -m benchmarks.settling [--chains 100]

Chains of vectors that stand for pictures (400 pixels, 8 bits) are made by maps whose truth is known, and read at 5, 10,
20 and 40 rounds. Three tables: verdicts per kind of chain; how often the true limit lies beyond the two estimates, in
chains that were said to settle; and how often the interval of q holds the true q. `dull` noise moves all pixels along
12 directions only, as a colour cast or a shift does; it leaves far more to chance than a noise per pixel.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.settling_chains import KINDS, Kind, contracting, path_of, rmse
from convergebench.analysis.contraction import ChainSettling, SettlingRules

FLOOR = 0.5 / 255
LENGTHS = (5, 10, 20, 40)


class Outcome(NamedTuple):
    """One chain that was read, with how far its limit is from the source and from the last image."""

    kind: str
    truth: str
    rounds: int
    reading: ChainSettling
    from_source: float
    from_last: float

    @property
    def exceeded(self) -> tuple[bool, bool]:
        """Whether the limit lies beyond either estimate by more than rounding does."""
        return (
            self.from_source > self.reading.prior_bound + FLOOR,
            self.from_last > self.reading.posterior_bound + FLOOR,
        )


def outcomes(chains: int, kinds: dict[str, Kind] = KINDS, lengths: tuple[int, ...] = LENGTHS) -> Iterator[Outcome]:
    """So many chains of every kind, each read at every length."""
    reader = SettlingRules()
    for place, (name, kind) in enumerate(kinds.items()):
        generator = np.random.default_rng([7, place])
        for _ in range(chains):
            made = kind.make(generator, max(lengths))
            limit = made.limit
            for rounds in lengths:
                images = made.images[: rounds + 1]
                reading = reader.read(path_of(images), FLOOR)
                ends = (
                    (np.nan, np.nan)
                    if limit is None
                    else tuple(float(rmse(images[at][None], limit[None])[0]) for at in (0, -1))
                )
                yield Outcome(name, kind.truth, rounds, reading, ends[0], ends[1])


def verdict_lines(found: list[Outcome]) -> Iterator[str]:
    """Right, and what else was said, per kind and length."""
    yield "| chain | truth | " + " | ".join(f"{rounds} rounds" for rounds in LENGTHS) + " |"
    yield "| --- | --- |" + " --- |" * len(LENGTHS)
    for name, kind in KINDS.items():
        cells = []
        for rounds in LENGTHS:
            said = Counter(one.reading.verdict for one in found if (one.kind, one.rounds) == (name, rounds))
            total = said.total()
            cells.append(", ".join(f"{word} {number / total:.0%}" for word, number in said.most_common()))
        yield f"| {name} | {kind.truth} | " + " | ".join(cells) + " |"


def estimate_lines(found: list[Outcome]) -> Iterator[str]:
    """How often the limit lay farther from the source / from the last image than estimated."""
    made = [one for one in found if not np.isnan(one.reading.prior_bound) and not np.isnan(one.from_source)]
    yield "| chain | " + " | ".join(f"{rounds} rounds" for rounds in LENGTHS[1:]) + " |"
    yield "| --- |" + " --- |" * len(LENGTHS[1:])
    for name in [*dict.fromkeys(one.kind for one in made), "all"]:
        cells = []
        for rounds in LENGTHS[1:]:
            beyond = [one.exceeded for one in made if one.rounds == rounds and name in (one.kind, "all")]
            shares = [f"{share:.0%}" for share in np.mean(beyond, axis=0)] if beyond else ["–"]
            cells.append(f"{' / '.join(shares)} of {len(beyond)}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def factor_lines(chains: int) -> Iterator[str]:
    """Coverage of the interval of q: median q and how often the interval holds the true one."""
    factors, levels = (0.3, 0.6, 0.8, 0.9, 0.95), (0.0, 0.003, 0.01, 0.03)
    yield "| rounds | noise | " + " | ".join(f"q {q}" for q in factors) + " |"
    yield "| --- | --- |" + " --- |" * len(factors)
    for rounds in LENGTHS[1:]:
        for sigma, dull in [(level, False) for level in levels] + [(level, True) for level in levels[1:]]:
            cells = []
            for q in factors:
                kind = contracting(q, q, sigma, dull=dull)
                read = [one.reading for one in outcomes(chains, {"": kind}, (rounds,))]
                stated = [one for one in read if not np.isnan(one.q)]
                covers = np.mean([one.q_low <= q <= one.q_high for one in stated]) if stated else np.nan
                cells.append(f"{np.median([one.q for one in stated]):.2f}, {covers:.0%}" if stated else "none")
            yield f"| {rounds} | {sigma:g}{' dull' if dull else ''} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chains", type=int, default=100, help="chains of each kind")
    arguments = parser.parse_args()
    found = list(outcomes(arguments.chains))
    for lines in (verdict_lines(found), estimate_lines(found), factor_lines(arguments.chains)):
        sys.stdout.write("\n".join(lines) + "\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
