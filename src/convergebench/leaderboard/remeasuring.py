"""The sample images of a bundle, measured again: the table must say what the images say.

The rows of the sampled chains become a run in a private temporary folder, and the package measures it like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from convergebench.errors import ConvergeBenchError
from convergebench.images.align import AlignMode
from convergebench.images.decode import decode
from convergebench.leaderboard.bundle import ResultBundle, limited
from convergebench.leaderboard.layout import Tables
from convergebench.leaderboard.rebuilding import rebuild
from convergebench.leaderboard.sampling import member_of_image, sampled_chains, sampled_images
from convergebench.measuring.measure import measure
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.readiness import lacks
from convergebench.store.queries.submitting import table_rows
from convergebench.store.run import Run

PIXEL_TOLERANCE = 1e-3
NETWORK_TOLERANCE = 1e-2
"""Largest difference that other versions of libraries may cause, as a share of the metric's range (of the value, where
the range has no end)."""


class Remeasured(NamedTuple):
    """What measuring again showed."""

    faults: list[str]
    values: int
    """How many values were compared."""
    skipped: tuple[str, ...]
    """Metrics that could not be measured here."""


def sample_faults(bundle: ResultBundle, head: str, challenge: str) -> list[str]:
    """Images that the head of the chain does not choose, that are missing, or that are not what their row says."""
    chains = sampled_chains(head, challenge, bundle.manifest.sources, bundle.tables)
    rows = {row["id"]: row for row in bundle.tables["images"]}
    chosen = sampled_images(chains, bundle.tables)
    members = {member_of_image(rows[image]) for image in chosen}
    present = {name for name in bundle.members if name.startswith("images/")}
    faults = [f"sample image: {name} is missing" for name in sorted(members - present)]
    faults += [f"sample image: {name} is not one that the hash chain chooses" for name in sorted(present - members)]
    for image in chosen:
        data = bundle.images.get(image)
        if data is not None:
            faults += _image_faults(image, data, rows[image])
    return limited(faults)


def _image_faults(image: str, data: bytes, row: dict[str, object]) -> list[str]:
    from convergebench.ids import image_id

    if image_id(data) != image:
        return [f"sample image: {image} has other bytes than its name says"]
    if len(data) != row["bytes"]:
        return [f"sample image: {image} has {len(data)} bytes, its row says {row['bytes']}"]
    try:
        height, width = decode(data, what=image, alpha="white").pixels.shape[:2]
    except ConvergeBenchError as error:
        return [f"sample image: {image} cannot be read ({' '.join(str(error).split())[:80]})"]
    if (width, height) != (row["width"], row["height"]):
        return [f"sample image: {image} is {width} × {height}, its row says {row['width']} × {row['height']}"]
    return []


def remeasure(bundle: ResultBundle) -> Remeasured:
    """Measure every comparison whose images are all in the bundle."""
    tables = _sampled_tables(bundle)
    ready: list[str] = []
    skipped: list[str] = []
    for name in bundle.manifest.metrics:
        facts = load_metric(name).facts
        (skipped if facts.asks or lacks(facts) else ready).append(name)
    if not tables["comparisons"] or not ready:
        return Remeasured([], 0, tuple(skipped))
    claimed = {(row["comparison"], row["metric"]): row for row in bundle.tables["measurements"]}
    align: AlignMode = bundle.manifest.align  # type: ignore[assignment]
    with TemporaryDirectory(prefix="convergebench-") as folder:
        root = rebuild(bundle, tables, Path(folder) / "samples", images=bundle.images)
        with Run.existing(root) as run:
            measure(run, ready, align_mode=align, workers=1)
            rows = list(table_rows(run.journal, "measurements", ("comparison", "metric", "value", "status")))
    faults = []
    for row in rows:
        said = claimed.get((row["comparison"], row["metric"]))
        if said is None or not agree(said["value"], row["value"], load_metric(row["metric"]).facts):
            shown = "nothing" if said is None else said["value"]
            faults.append(f"metric {row['metric']}: the table says {shown}, its sample images give {row['value']}")
    return Remeasured(limited(faults), len(rows), tuple(skipped))


def _sampled_tables(bundle: ResultBundle) -> Tables:
    there = bundle.images.keys()
    tables = {name: list(rows) for name, rows in bundle.tables.items()}
    tables["comparisons"] = [
        row
        for row in tables["comparisons"]
        if all(row[one] is None or row[one] in there for one in ("subject", "reference", "via"))
    ]
    sources = {row["id"]: row["image"] for row in tables["cases"]}
    tables["comparisons"] = [row for row in tables["comparisons"] if sources[row["case"]] in there]
    return {**tables, "measurements": [], "anchors": [], "attempts": []}


def agree(said: float | None, found: float | None, facts: MetricFacts) -> bool:
    """Whether two values of a metric are the same but for the libraries that computed them."""
    if said is None or found is None:
        return said is found
    if math.isinf(said) or math.isinf(found):
        return said == found
    low, high = facts.range
    scale = high - low if math.isfinite(high - low) else max(1.0, abs(said), abs(found))
    return abs(said - found) <= (NETWORK_TOLERANCE if facts.network else PIXEL_TOLERANCE) * scale


def skipped_text(skipped: Iterable[str]) -> str:
    """For a label: which metrics were not measured again."""
    return ", ".join(sorted(skipped))
