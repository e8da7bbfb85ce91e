"""What a metric lacks before it can run here, each lack with the command that mends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from convergebench.errors import Prerequisite
from convergebench.metrics.base import MetricFacts

MODULES: Mapping[str, tuple[str, ...]] = {
    "learned": ("torch", "safetensors"),
    "semantic": ("torch", "safetensors", "transformers"),
    "faces": ("dlib",),
    "text": ("onnxruntime",),
    "iqa": ("torch", "torchvision", "pyiqa"),
}
"""Extra → what it brings, as import names. A plug-in's extra that is not here is taken to be there."""


def lacks(facts: MetricFacts) -> list[str]:
    """Empty when it can run; nothing is imported and nothing is loaded to find out."""
    found = []
    for extra in facts.needs:
        modules = [module for module in MODULES.get(extra, ()) if find_spec(module) is None]
        if modules:
            found.append(f'{", ".join(modules)}: pip install "convergebench[{extra}]"')
    if facts.weights:
        from convergebench.weights.catalogue import find_weight
        from convergebench.weights.store import search

        absent = [weight for weight in map(find_weight, facts.weights) if search(weight) is None]
        published = [weight.name for weight in absent if weight.sources]
        if published:
            found.append(f"weights {', '.join(published)}: cbench weights fetch {' '.join(published)}")
        for weight in absent:
            if not weight.sources:
                found.append(f"weights {weight.name}: cbench weights add {weight.name} PATH")
    return found


def require(metrics: Iterable[MetricFacts]) -> None:
    """Say before any work what is missing, all of it in one line."""
    missing = {facts.name: reasons for facts in metrics if (reasons := lacks(facts))}
    if not missing:
        return
    told = "; ".join(f"{name} lacks {', and '.join(reasons)}" for name, reasons in missing.items())
    raise Prerequisite(f"{told} (or leave it out)")
