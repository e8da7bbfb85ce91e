"""The model of `decay`: a weighted sum of features with learned weights.

    raw(z) = signed · z + either · |z|

z are the features in standard deviations from the mean of untouched pictures. The first sum counts what moves one way
under wear, the second what leaves the usual range on either side: texture may melt or roughen. A plain sum has no
ceiling, and generalised better to unseen editors than more complex models.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite

Numbers = NDArray[np.float64]

NUMBERS = Path(__file__).with_name("_decay.json")
LIMIT = 5.0
"""Standard deviations beyond which a feature grows only logarithmically, so that no single one dominates."""


@dataclass(frozen=True, slots=True)
class DecayModel:
    """Standardisation, the two sets of weights, and the two raw values that become 0 and 100."""

    names: tuple[str, ...]
    centre: Numbers
    spread: Numbers
    signed: Numbers
    either: Numbers
    zero: float = 0.0
    hundred: float = 100.0

    def raw(self, features: Numbers) -> Numbers:
        """The unscaled value, higher is more worn; for any number of pictures at once."""
        values = soft_limited((features - self.centre) / self.spread)
        found: Numbers = values @ self.signed + np.abs(values) @ self.either
        return found

    def score(self, features: Numbers) -> Numbers:
        """The value scaled to 0 for an untouched picture and 100 for a ruined one; not clipped."""
        found: Numbers = 100 * (self.raw(features) - self.zero) / (self.hundred - self.zero)
        return found

    def select(self, features: Mapping[str, float]) -> Numbers:
        """The features that the model uses, in its order."""
        return np.array([features[name] for name in self.names])


def soft_limited(values: Numbers) -> Numbers:
    """Values unchanged up to `LIMIT`, then compressed logarithmically."""
    size = np.abs(values)
    beyond = np.maximum(size - LIMIT, 0)
    found: Numbers = np.sign(values) * (np.minimum(size, LIMIT) + LIMIT * np.log1p(beyond / LIMIT))
    return found


@cache
def shipped_model(checksum: str) -> DecayModel:
    """The package's model; raises `Prerequisite` if its file is not the one of this version."""
    data = NUMBERS.read_bytes()
    if hashlib.sha256(data).hexdigest() != checksum:
        again = "pip install --force-reinstall convergebench"
        raise Prerequisite(f"{NUMBERS.name} is not the file of this version; install the package again: {again}")
    return from_document(json.loads(data))


def from_document(document: Mapping[str, Any]) -> DecayModel:
    """The model of a parsed JSON document."""
    names = tuple(document["features"])
    columns = {
        key: np.array([document["features"][name][place] for name in names], np.float64)
        for place, key in enumerate(("centre", "spread", "signed", "either"))
    }
    return DecayModel(names, **columns, zero=float(document["zero"]), hundred=float(document["hundred"]))


def to_document(model: DecayModel, digits: int = 5) -> dict[str, Any]:
    """The model as a JSON document: per feature centre, spread, signed and either weight, rounded."""

    def short(value: float) -> float:
        return float(f"{value:.{digits}g}")

    columns = zip(model.centre, model.spread, model.signed, model.either, strict=True)
    features = {name: [short(value) for value in row] for name, row in zip(model.names, columns, strict=True)}
    return {"features": features, "zero": short(model.zero), "hundred": short(model.hundred)}
