"""`cbench demo`: the demo study from an installed package, with everything that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.flags import ALL_PLOTS
from convergebench.cli.reporting import Plots

MODULES = ("torch", "safetensors", "onnxruntime", "ncnn")
"""What the extras of the demo bring."""
EXTRAS = "convergebench[learned,restorers,vision]"
WEIGHTS = ("lpips", "augnet", "brisque", "niqe", "inpaint", "realesr-anime")


def demo(
    run: Annotated[
        Path | None, typer.Option("--run", help="Run directory [default: runs/demo or runs/demo-light]")
    ] = None,
    light: Annotated[
        bool, typer.Option("--light", help="Simulated editors only: no extra packages, no downloads, under a minute.")
    ] = False,
    plots: Plots = ALL_PLOTS,
) -> None:
    """Run a small benchmark without a key or a GPU: learned editors on photographs, in about two minutes."""
    from convergebench.cli.running import run as run_study

    if not light:
        _require_packages()
        _fetch_weights()
    run_study(Path("demo-light" if light else "demo"), run=run, plots=plots)


def _require_packages() -> None:
    from importlib.util import find_spec

    from convergebench.errors import Prerequisite

    missing = [name for name in MODULES if find_spec(name) is None]
    if missing:
        raise Prerequisite(
            f'the demo needs {", ".join(missing)}: pip install "{EXTRAS}" (or without them: cbench demo --light)'
        )


def _fetch_weights() -> None:
    """Download what is not here; `cbench weights fetch` shows size and licence of each."""
    from convergebench.cli.weights import chosen_weights, fetch
    from convergebench.weights.store import search

    missing = [weight.name for weight in chosen_weights(list(WEIGHTS)) if search(weight) is None]
    if missing:
        fetch(missing)
