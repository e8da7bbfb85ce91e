"""Learn the numbers of `decay`: `python -m training.decay.train TABLE.npz…`; writes the package's data file.

Nothing here looks at a picture of a model that edits by instruction; what it is judged on is in `evaluate`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from convergebench.metrics.no_reference._decay_model import NUMBERS, DecayModel, to_document
from training.decay import sources
from training.decay.model import Settings, fit
from training.decay.pairing import pairs_of
from training.decay.tables import Table, read

TABLE = Path(__file__).with_name("table.npz")
"""The features that the shipped numbers were learned from."""


def learned(table: Table, rows: NDArray[np.bool_], settings: Settings = Settings()) -> DecayModel:  # noqa: B008
    """What some rows teach, on the scale of 0 (untouched) to 100 (the twentieth step)."""
    clean = np.flatnonzero(rows & (table.step == 0))
    features = np.asarray(table.features, np.float64)
    model = fit(features, tuple(table.names), pairs_of(table, rows), clean, settings)
    raw = model.raw(features)
    late = np.flatnonzero(rows & (table.step == 20))
    return replace(model, zero=float(np.median(raw[clean])), hundred=float(np.median(raw[late])))


def training_rows(table: Table) -> NDArray[np.bool_]:
    """Rows of pictures that are not kept for judging."""
    return np.array([not sources.is_judged(str(image)) for image in table.image])


def packed(table: Table) -> bytes:
    """The data file that a table gives."""
    document = to_document(learned(table, training_rows(table)))
    lines = [f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in document["features"].items()]
    ends = [f'  "{key}": {document[key]}' for key in ("zero", "hundred")]
    return ('{\n  "features": {\n' + ",\n".join(lines) + "\n  },\n" + ",\n".join(ends) + "\n}\n").encode()


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="*", default=[TABLE])
    parser.add_argument("--out", type=Path, default=NUMBERS)
    chosen = parser.parse_args(given)
    data = packed(read(*chosen.tables))
    chosen.out.write_bytes(data)
    print(f"{chosen.out}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")  # noqa: T201


if __name__ == "__main__":
    main()
