"""What a metric is missing before it can run, with the command that installs it."""

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
"""Extra → import names of its modules. A plug-in's extra that is not listed counts as installed."""


def lacks(facts: MetricFacts) -> list[str]:
    """What is missing, each with its command; empty if the metric can run. Imports and loads nothing."""
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
    """Raise `Prerequisite` with everything these metrics are missing, in one line."""
    missing = {facts.name: reasons for facts in metrics if (reasons := lacks(facts))}
    if not missing:
        return
    lines = "; ".join(f"{name} lacks {', and '.join(reasons)}" for name, reasons in missing.items())
    raise Prerequisite(f"{lines} (or leave it out)")
