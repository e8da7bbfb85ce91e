"""The no-reference metrics of Banana100's audit: published range, direction, and the code that computes each here.

The ranges are the ones printed there (mostly pyiqa's). They scale a score to 0…100; real scores may leave them, and
nothing is clipped. PI has no upper end, so scaling it needs a chosen one; the sign of a gap does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, Literal, NamedTuple

Route = Literal["native", "pyiqa", "served", "plug-in"]


class Published(NamedTuple):
    """One row of the table."""

    title: str
    """As the paper spells it."""
    low: float
    high: float
    better: Literal["higher", "lower"]
    route: Route
    """`native`: our own code. `pyiqa`: the extra `iqa`. `served`: a vision model is asked. `plug-in`: entry point."""

    @property
    def flip(self) -> bool:
        """Whether scaling inverts it, so that higher is better for all."""
        return self.better == "lower"


PUBLISHED: Mapping[str, Published] = {
    "arniqa": Published("ARNIQA", 0, 1, "higher", "pyiqa"),
    "brisque": Published("BRISQUE", 0, 150, "lower", "native"),
    "clipiqa": Published("CLIPIQA", 0, 1, "higher", "pyiqa"),
    "cnniqa": Published("CNNIQA", 0, 1, "higher", "pyiqa"),
    "dbcnn": Published("DBCNN", 0, 1, "higher", "pyiqa"),
    "hyperiqa": Published("HyperIQA", 0, 1, "higher", "pyiqa"),
    "ilniqe": Published("ILNIQE", 0, 100, "lower", "native"),
    "liqe": Published("LIQE", 1, 5, "higher", "pyiqa"),
    "maniqa": Published("MANIQA", 0, 1, "higher", "pyiqa"),
    "musiq": Published("MUSIQ", 0, 100, "higher", "pyiqa"),
    "nima": Published("NIMA", 0, 10, "higher", "pyiqa"),
    "niqe": Published("NIQE", 0, 100, "lower", "native"),
    "nrqm": Published("NRQM", 0, 10, "higher", "pyiqa"),
    "paq2piq": Published("PaQ-2-PiQ", 0, 100, "higher", "pyiqa"),
    "pi": Published("PI", 0, inf, "lower", "pyiqa"),
    "piqe": Published("PIQE", 0, 100, "lower", "native"),
    "qalign": Published("Q-Align", 1, 5, "higher", "pyiqa"),
    "qualiclip": Published("QualiCLIP", 0, 1, "higher", "pyiqa"),
    "topiq-nr": Published("TOPIQ NR", 0, 1, "higher", "pyiqa"),
    "tres": Published("TReS", 0, 100, "higher", "pyiqa"),
    "wadiqam-nr": Published("WaDIQaM", -1, 0.1, "higher", "pyiqa"),
    "visualquality-r1": Published("VisualQuality-R1", 1, 5, "higher", "served"),
    "rali": Published("RALI", 1, 5, "higher", "plug-in"),
}
"""By our name; pyiqa writes `_` where we write `-`."""


def pyiqa_facts(name: str) -> dict[str, Any]:
    """The facts that all metrics of pyiqa share, with this one's range and direction."""
    row = PUBLISHED[name]
    return {
        "kind": "no-reference",
        "better": row.better,
        "typical": (float(row.low), float(row.high)),
        "roles": ("source", "return"),
        "aligned": False,
        "needs": ("iqa",),
        "noncommercial": True,
        "network": True,
    }
