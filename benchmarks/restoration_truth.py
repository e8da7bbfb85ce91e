"""Whether the analysis of restorations finds what was put in: python -m benchmarks.restoration_truth [--quick]

Simulates studies with known effects of length, fidelity and their interaction, editors that are steady, unsteady or
drift from repeat to repeat, and repeats that went astray; prints as Markdown how often intervals hold the truth, how
often effects are found, and how often they are found where there are none. No editor is run; it takes two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.restoration_world import CELLS, EFFECTS, Generator, PromptWorld, contrasts, empty_scope
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.factors import wordings_p
from convergebench.analysis.restoration.friedman import friedman
from convergebench.analysis.restoration.outliers import TIMES, distances, usual_distance
from convergebench.analysis.restoration.pictures import paired_mean
from convergebench.analysis.restoration.stability import pooled_spread
from convergebench.analysis.trajectories import Floats

SIZES = (5, 12, 21, 35)
LEVEL = 0.05
METRICS = 6
SCOPE = empty_scope()
USUAL = PromptWorld(length=0.1, fidelity=0.5, interaction=-0.4)
WORLDS = {
    "usual": USUAL,
    "skewed: few pictures take most of it": PromptWorld(0.1, 0.5, -0.4, skewed=True),
    "effects differ much": PromptWorld(0.1, 0.5, -0.4, uneven=1.5),
    "two pictures of each photograph": PromptWorld(0.1, 0.5, -0.4, together=2),
}


class TruthRow(NamedTuple):
    """A share per number of pictures; None where there can be none."""

    what: str
    says: str
    shares: tuple[float | None, ...]


def coverage_rows(studies: int) -> Iterator[TruthRow]:
    """How often the interval of an effect holds it."""
    for name, world in WORLDS.items():
        for effect, truth in zip(EFFECTS, (world.length, world.fidelity, world.interaction), strict=True):
            shares = [_held(world, effect.name, truth, studies, size) for size in SIZES]
            yield TruthRow(f"interval, {name}: {effect.name}", "95 %", tuple(shares))
    pairs, pretend = WORLDS["two pictures of each photograph"], USUAL.photographs
    shares = [_held(pairs, "fidelity", pairs.fidelity, studies, size, pretend(2 * size)) for size in SIZES]
    yield TruthRow("interval if such pictures counted as photographs (not done): fidelity", "95 %", tuple(shares))


def _held(
    world: PromptWorld, effect: str, truth: float, studies: int, size: int, units: Sequence[str] = ()
) -> float | None:
    photographs = tuple(units) or world.photographs(size)
    if len(set(photographs)) < 6:
        return None  # no outcome of five could be significant, so there is no interval
    values = contrasts(world.values(_draw(effect, size), studies, size))[effect]
    found = [paired_mean(one, photographs, SCOPE) for one in values]
    return float(np.mean([one.low <= truth <= one.high for one in found]))


def power_rows(studies: int) -> Iterator[TruthRow]:
    """How often effects are found, alone and among the 18 tests of six metrics."""
    for size_of, name in ((0.25, "0.25 dB"), (0.5, "0.5 dB"), (1.0, "1 dB")):
        world = PromptWorld(fidelity=size_of)
        single, corrected = zip(*(_found(world, studies, size) for size in SIZES), strict=True)
        yield TruthRow(f"fidelity of {name} found, p < 0.05", "", single)
        yield TruthRow(f"fidelity of {name} found after Holm, 18 tests", "", corrected)


def _found(world: PromptWorld, studies: int, size: int) -> tuple[float, float]:
    """One metric has the effect, five have none; the share of studies that find it, without and with Holm."""
    draw = _draw("power", size)
    single = corrected = 0
    for _ in range(studies):
        values = np.concatenate([world.values(draw, 1, size), PromptWorld().values(draw, METRICS - 1, size)])
        p = _family(values, size)
        single += p[0] < LEVEL
        corrected += holm(p)[0] < LEVEL
    return single / studies, corrected / studies


def _family(values: Floats, size: int) -> list[float]:
    """The p of all effects and metrics, fidelity of the first metric first."""
    found = contrasts(values)
    order = [found["fidelity"], found["length"], found["interaction"]]
    units = PromptWorld().photographs(size)
    return [paired_mean(one, units, SCOPE).p for effect in order for one in effect]


def alarm_rows(studies: int) -> Iterator[TruthRow]:
    """How often something is found where the prompt does nothing on average."""
    nothing = PromptWorld()
    alone: list[float] = []
    any_raw: list[float] = []
    any_holm: list[float] = []
    for size in SIZES:
        draw = _draw("alarm", size)
        p = np.array([_family(nothing.values(draw, METRICS, size), size) for _ in range(studies)])
        alone.append(float((p < LEVEL).mean()))
        any_raw.append(float((p < LEVEL).any(axis=1).mean()))
        any_holm.append(float(np.mean([min(holm(list(one))) < LEVEL for one in p])))
    yield TruthRow("false alarms of one test", "5 %", tuple(alone))
    yield TruthRow("studies with a false alarm among 18 tests, no correction", "", tuple(any_raw))
    yield TruthRow("studies with a false alarm among 18 tests, Holm", "5 %", tuple(any_holm))
    yield from _wording_rows(studies)


def _wording_rows(studies: int) -> Iterator[TruthRow]:
    """Wordings differ, lengths do not: what p (these prompts) and p_wordings (such prompts) say of length."""
    world = PromptWorld(wording=0.3)
    these: list[float] = []
    such: list[float] = []
    for size in SIZES:
        values = world.values(_draw("wording", size), studies, size)
        found = [paired_mean(one, world.photographs(size), SCOPE) for one in contrasts(values)["length"]]
        over = [
            wordings_p(
                {cell: list(study[place]) for place, cell in enumerate(CELLS)},
                EFFECTS[0].weights,
                error=one.spread**2 / size,
                units=size,
            )
            for study, one in zip(values.mean(axis=1), found, strict=True)
        ]
        these.append(float(np.mean([one.p < LEVEL for one in found])))
        such.append(float(np.mean([p is not None and p < LEVEL for p in over])))
    yield TruthRow("wordings differ by 0.3 dB, lengths do not: length found by p", "", tuple(these))
    yield TruthRow("the same found by p_wordings", "5 %", tuple(such))


def friedman_rows(studies: int) -> Iterator[TruthRow]:
    """What Friedman's test finds: an unsteady editor never, repeats that drift by their number."""
    for name, noise, drift in (
        ("steady editor (0.1 dB)", 0.1, 0.0),
        ("unsteady editor (3 dB)", 3.0, 0.0),
        ("repeats drift by 0.5 standard deviations each", 1.0, 0.5),
    ):
        shares = []
        for size in SIZES:
            p = [friedman(one).p or 1.0 for one in _repeats(_draw(name, size), studies, size, noise, drift)]
            shares.append(float(np.mean(np.array(p) < LEVEL)))
        yield TruthRow(f"Friedman finds: {name}", "5 %" if not drift else "", tuple(shares))
    raw: list[float] = []
    corrected: list[float] = []
    for size in SIZES:
        draw = _draw("24", size)
        tests = [[friedman(one).p or 1.0 for one in _repeats(draw, 24, size, 1.0)] for _ in range(studies // 4)]
        raw.append(float(np.mean([min(p) < LEVEL for p in tests])))
        corrected.append(float(np.mean([min(holm(p)) < LEVEL for p in tests])))
    yield TruthRow("studies with a Friedman test below 0.05 among 24, no correction", "", tuple(raw))
    yield TruthRow("the same with Holm", "5 %", tuple(corrected))


def spread_rows(studies: int) -> Iterator[TruthRow]:
    """Whether the spread, which does measure steadiness, is held by its interval."""
    for name, uneven in (("all pictures alike", 0.0), ("pictures differ twofold", 0.5)):
        shares = []
        for size in SIZES:
            draw = _draw("spread", size)
            held = 0
            for _ in range(studies):
                scale = draw.lognormal(-(uneven**2), uneven, (size, 1))  # the mean of its square is 1
                values = scale * draw.normal(0, 1, (size, 3))
                band = pooled_spread(values, np.arange(size), Bootstrap())
                held += bool(band.low[0] <= 1 <= band.high[0])
            shares.append(held / studies)
        yield TruthRow(f"interval of the spread of repeats: {name}", "95 %", tuple(shares))


def outlier_rows(studies: int) -> Iterator[TruthRow]:
    """Repeats that are flagged: by chance, and because one went astray."""
    for name, tails in (("normal noise", 0), ("heavy tails (t with 5 degrees)", 5)):
        found = [float(np.mean(_flagged(_noise(_draw(name, size), studies, size, tails)))) for size in SIZES]
        yield TruthRow(f"pictures with a flagged repeat: {name}", "", tuple(found))
    for shift in (3.0, 5.0, 8.0):
        shares = []
        for size in SIZES:
            values = _noise(_draw("astray", size), studies, size, 0)
            values[:, 0, 0] += shift
            shares.append(float(np.mean([one[0] for one in _flagged(values)])))
        yield TruthRow(f"flagged: one repeat astray by {shift:g} standard deviations", "", tuple(shares))


def _flagged(studies: Floats) -> list[Floats]:
    """Per study, whether each picture has a flagged repeat; the scale is that of one prompt."""
    found = []
    for values in studies:
        usual = usual_distance([values])
        found.append(distances(values).max(axis=1) >= TIMES * (usual or np.inf))
    return found


def _noise(draw: Generator, studies: int, size: int, tails: int) -> Floats:
    shape = (studies, size, 3)
    return draw.standard_t(tails, shape) if tails else draw.normal(0, 1, shape)


def _repeats(draw: Generator, studies: int, size: int, noise: float, drift: float = 0.0) -> Floats:
    pictures = draw.normal(25, 3, (studies, size, 1))
    return np.asarray(pictures + draw.normal(0, noise, (studies, size, 3)) + drift * noise * np.arange(3))


def _draw(name: str, size: int) -> Generator:
    return np.random.default_rng([*name.encode(), size])


def rows(*, quick: bool = False) -> Iterator[TruthRow]:
    """All rows of the table."""
    few = 10 if quick else 1
    yield from coverage_rows(1000 // few)
    yield from power_rows(200 // few)
    yield from alarm_rows(400 // few)
    yield from friedman_rows(2000 // few)
    yield from spread_rows(2000 // few)
    yield from outlier_rows(2000 // few)


def printed(found: Sequence[TruthRow]) -> str:
    """As a Markdown table, in per cent."""
    lines = [f"| pictures | says | {' | '.join(map(str, SIZES))} |", f"|---|---:|{'---:|' * len(SIZES)}"]
    for row in found:
        cells = ["" if share is None else f"{100 * share:.1f}" for share in row.shares]
        lines.append(f"| {row.what} | {row.says} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restoration_truth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the studies")
    print(printed(list(rows(quick=parser.parse_args(arguments).quick))))


if __name__ == "__main__":
    main(sys.argv[1:])
