"""Judge `decay` as an audit would: does it find steps 5, 10 and 20 of a chain worse than step 1?

    python -m training.decay.evaluate left-out [TABLE.npz…] trained without a family or an editor, judged on it alone
    python -m training.decay.evaluate run RUN --without FAMILY  a run of copies, by numbers learned without a family
    python -m training.decay.evaluate round-trips FOLDER    recorded round trips of an editor never learned from
    python -m training.decay.evaluate cost                  time beside BRISQUE's, as a ratio, in one run

A chain fails when any of its later pictures does not score worse than its first; a tie is a failure. Only pictures that
are kept for judging count in `left-out`. Intervals are Wilson's of 95 %, over source images.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from convergebench.analysis.failures import wilson
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference._decay_features import picture_features
from convergebench.store.frames import RunFrames
from training.decay.pairing import chains_of
from training.decay.tables import BASELINES, MIXED, Table, read
from training.decay.train import TABLE, learned, training_rows

GAPS = (5, 10, 20)
RIVALS = ("brisque", "niqe", "piqe", "ilniqe", "cnniqa-live")


def failures(table: Table, scores: NDArray[np.floating], rows: NDArray[np.bool_]) -> dict[str, list[bool]]:
    """Per source image, whether each of its chains fails; lower scores are better, a missing one is a failure."""
    found: dict[str, list[bool]] = defaultdict(list)
    for steps in chains_of(table, rows):
        found[str(table.image[steps[1]])].append(any(not scores[steps[gap]] > scores[steps[1]] for gap in GAPS))
    return found


def cell(found: Mapping[str, Sequence[bool]]) -> str:
    """Chains that fail, images with any failure and the interval of their share."""
    chains = [one for many in found.values() for one in many]
    images = sum(any(many) for many in found.values())
    low, high = wilson(images, len(found))
    return f"{sum(chains)}/{len(chains)} ({images}/{len(found)} images, {low or 0:.0%}–{high or 0:.0%})"


def has(table: Table, editor: str) -> NDArray[np.bool_]:
    """Rows of chains in which an editor had a part."""
    return np.array([editor in str(name).split("+") for name in table.editor])


def left_out(table: Table) -> list[tuple[str, list[str]]]:
    """For each family and each learned editor: learned from everything else, judged on it, on unseen pictures.

    Mixtures of autoencoders with other wear count as autoencoders in learning, and are judged by themselves.
    """
    training = training_rows(table)
    mixture = np.array([str(chain).startswith(MIXED) for chain in table.chain])
    both = np.isin(table.family, ["autoencoder", "network"])
    coded = table.family == "autoencoder"
    nothing = np.zeros(len(training), bool)
    groups = {
        "nothing, judged on autoencoders": (nothing, coded & ~mixture),
        "nothing, judged on everything": (nothing, ~nothing),
        "all autoencoders": (coded, coded & ~mixture),
        "all autoencoders, judged on their mixtures": (coded, coded & mixture),
        "all autoencoders and little networks": (both, coded & ~mixture),
    }
    for family in sorted(set(map(str, table.family)) - {"autoencoder"}):
        groups[f"all of {family}"] = (table.family == family, table.family == family)
    learned_ones = ~mixture & np.isin(table.family, ["autoencoder", "restorer"])
    for editor in sorted(set(map(str, table.editor[learned_ones]))):
        groups[editor] = (has(table, editor), has(table, editor) & ~mixture)
    return [(name, _judged(table, training & ~gone, ~training & on)) for name, (gone, on) in groups.items()]


def _judged(table: Table, training: NDArray[np.bool_], judged: NDArray[np.bool_]) -> list[str]:
    model = learned(table, training)
    own = failures(table, model.raw(np.asarray(table.features, np.float64)), judged)
    others = [failures(table, table.baselines[:, place], judged) for place in range(len(BASELINES))]
    return [cell(own), *(cell(other) for other in others)]


def round_trips(folder: Path) -> list[tuple[str, list[str]]]:
    """Failures per metric on recorded round trips: returns 2, 3 against 1, and forward pictures 2, 3 against 1."""
    lines = []
    chains = sorted(path.parent for path in folder.glob("*/I0_source.png"))
    for name in ("decay", *RIVALS):
        metric = load_metric(name)
        sign = 1 if metric.facts.better == "lower" else -1
        cells = []
        for kind in ("backward", "forward"):
            bad: dict[str, list[bool]] = defaultdict(list)
            gaps = []
            for chain in chains:
                scores = [sign * _value(name, chain / f"I{number}_{kind}.png") for number in (1, 2, 3)]
                # chains that start from the same picture are no independent witnesses
                source = hashlib.sha256((chain / "I0_source.png").read_bytes()).hexdigest()
                bad[source].append(any(not later > scores[0] for later in scores[1:]))
                gaps += [later > scores[0] for later in scores[1:]]
            cells += [cell(bad), f"{gaps.count(False)}/{len(gaps)}"]
        lines.append((name, cells))
    return lines


def run_of_copies(run: Path, without: str) -> list[tuple[str, list[str]]]:
    """Failures per editor on the chains of a run, by numbers that never saw a family; network is left out with it.

    The pictures of a run may be pictures that were learned from; its editors are not.
    """
    table = read(TABLE)
    family = np.isin(table.family, [without, "network"] if without == "autoencoder" else [without])
    if not family.any():
        raise SystemExit(
            f"nothing was learned from a family '{without}'; there are: {', '.join(sorted(set(table.family)))}"
        )
    model = learned(table, training_rows(table) & ~family)
    frames = RunFrames(run)
    steps = frames.steps().filter(pl.col("index").is_in((1, *GAPS)), pl.col("image").is_not_null())
    frames.close()
    chains: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for editor, source, case, index, image in steps.select("editor", "source", "case", "index", "image").iter_rows():
        pixels = np.ascontiguousarray(np.asarray(Image.open(run / image).convert("RGB"), np.uint8))
        values = model.select(picture_features(pixels))
        chains[editor, source, case][index] = float(model.score(values[None])[0])
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for (editor, source, _), scores in chains.items():
        if len(scores) == len(GAPS) + 1:
            for name in (editor, "all"):
                found[name][source].append(any(not scores[gap] > scores[1] for gap in GAPS))
    return [(name, [cell(images)]) for name, images in sorted(found.items())]


def _value(name: str, path: Path) -> float:
    pixels = np.ascontiguousarray(np.asarray(Image.open(path).convert("RGB"), np.uint8))
    reading = load_metric(name).measure([Item(Frame(pixels))])[0]
    return float("nan") if reading.value is None else reading.value


def cost(side: int = 512, repeats: int = 7) -> tuple[float, float]:
    """Seconds of `decay` for a picture, and how many times BRISQUE's that is, measured in turns."""
    from training.decay.sources import square

    pixels = square("coffee-cup", side)
    taken: dict[str, list[float]] = {"decay": [], "brisque": []}
    for _ in range(repeats + 1):
        for name, times in taken.items():
            began = perf_counter()
            load_metric(name).measure([Item(Frame(pixels))])
            times.append(perf_counter() - began)
    own, other = (median(times[1:]) for times in taken.values())
    return own, own / other


def show(head: Sequence[str], lines: Sequence[tuple[str, Sequence[str]]]) -> None:
    """A table in Markdown."""
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))  # noqa: T201
    for name, cells in lines:
        print("| " + " | ".join([name, *cells]) + " |")  # noqa: T201


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("left-out").add_argument("tables", type=Path, nargs="*", default=[TABLE])
    parts.add_parser("round-trips").add_argument("folder", type=Path)
    copies = parts.add_parser("run")
    copies.add_argument("run", type=Path)
    copies.add_argument("--without", required=True)
    parts.add_parser("cost")
    arguments = parser.parse_args(given)
    if arguments.part == "left-out":
        show(["left out", "decay", *BASELINES], left_out(read(*arguments.tables)))
    elif arguments.part == "run":
        show(["editor", f"decay without {arguments.without}"], run_of_copies(arguments.run, arguments.without))
    elif arguments.part == "round-trips":
        head = ["metric", "returns: chains", "returns: pictures", "forward: chains", "forward: pictures"]
        show(head, round_trips(arguments.folder))
    else:
        seconds, ratio = cost()
        print(f"{seconds:.3f} s for 512 × 512, {ratio:.2f} times BRISQUE")  # noqa: T201


if __name__ == "__main__":
    main()
