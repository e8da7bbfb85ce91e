"""`docs/reference/weights.md`: every weight file that is declared."""

from __future__ import annotations

from convergebench.cli.weights import megabytes
from convergebench.documents import read_document
from convergebench.metrics import load_metric
from convergebench.metrics._table import TABLE
from convergebench.weights.catalogue import DATA, WeightsFile
from docs.pages.markdown import code, table

HEAD = """# Weights

Weight files are declared as data, with checksum, licence and sources in order, and are never shipped with this package.
`cbench weights list` says which are here; `cbench weights fetch NAME` gets one; `cbench weights add NAME PATH` keeps a
file you already have. How they are found, checked and read: [weights](../weights.md).
"""


def page() -> str:
    """One row per weight of the package; plug-ins' are listed by the command."""
    users: dict[str, list[str]] = {}
    for name in TABLE:
        for weight in load_metric(name).facts.weights:
            users.setdefault(weight, []).append(code(name))
    weights = [weight for path in sorted(DATA.glob("*.toml")) for weight in read_document(path, WeightsFile).weight]
    rows = (
        [
            code(weight.name),
            weight.about,
            megabytes(weight.size),
            weight.licence + (" **noncommercial**" if weight.noncommercial else ""),
            ", else ".join(source.label for source in weight.sources) or "yourself",
            ", ".join(users.get(weight.name, [])),
        ]
        for weight in weights
    )
    return f"{HEAD}\n{table(['weights', 'what it is', 'size', 'licence', 'from', 'used by'], rows)}"
