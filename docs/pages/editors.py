"""`docs/reference/editors.md`: the editors, what each does, its options, and what is known about it in advance."""

from __future__ import annotations

from collections.abc import Mapping

from convergebench.editors._table import TABLE
from convergebench.editors.simulated.family import MODELS
from convergebench.editors.simulated.options import ChoiceOption, ColourOption, NumberOption, Option
from convergebench.editors.simulated.truth import TRUTHS, KnownBehaviour
from convergebench.editors.simulated.wear import KINDS
from convergebench.registry import load
from docs.pages.markdown import code, first_line, table

HEAD = """# Editors

An editor is named in a study file (`editors = ["sim-jpeg"]`), on the command line (`--editor sim-jpeg`), or with
options under a name of its own: `{ name = "sim-harsh", use = "sim-jpeg", quality = 30 }`. Names of simulated editors
start with `sim`, so that they are not mistaken for models. Models of providers and their prices are in
[models](models.md). How to add one: [add an editor](../add-an-editor.md).
"""

KNOWN = """What is known in advance about a chain of round trips by a simulated editor, with default options and before
values clip at black and white. The analysis is tested against these facts. "Only where nothing is painted over" marks
laws that do not hold for pairs whose undoing has to invent pixels.
"""


def page() -> str:
    """The table of editors, their options, their truths, and the wears that `sim` is built of."""
    listed = table(["editor", "what it does"], ([code(name), _summary(name)] for name in TABLE))
    options = table(
        ["editor", "option", "default", "may be"],
        ([code(name), code(option), *_values(given)] for name in MODELS for option, given in _options(name).items()),
    )
    truths = table(
        ["editor", "verdict", "shape of drift", "q", "period", "remarks"],
        ([code(name), *_truth(truth)] for name, truth in TRUTHS.items()),
    )
    wears = table(
        ["kind", "option", "default", "may be"],
        (
            [code(name), code(option), *_values(given)]
            for name, kind in KINDS.items()
            for option, given in kind.options.items()
        ),
    )
    return "\n".join(
        [
            f"{HEAD}\n{listed}",
            f"## Options\n\n{options}",
            f"## What is known in advance\n\n{KNOWN}\n{truths}",
            f'## Degradations of `sim`\n\n`sim` takes a list: `wear = [{{ kind = "jpeg", quality = 60 }}]`.\n\n{wears}',
        ]
    )


def _summary(name: str) -> str:
    if name in MODELS:
        return MODELS[name].summary
    return first_line(load("editors", name).__doc__).removeprefix(f"`{name}`: ")


def _options(name: str) -> Mapping[str, Option]:
    return MODELS[name].options


def _values(option: Option) -> list[str]:
    """Default and range of an option."""
    if isinstance(option, NumberOption):
        kind = "whole number" if option.whole else "number"
        return [f"{option.default:.4g}", f"{kind} from {option.low:g} to {option.high:g}"]
    if isinstance(option, ChoiceOption):
        return [code(option.default), " or ".join(code(word) for word in option.words)]
    assert isinstance(option, ColourOption)
    return [code(option.default), "a colour"]


def _truth(truth: KnownBehaviour) -> list[str]:
    remarks = [] if truth.exact else ["only where nothing is painted over"]
    remarks += ["differs from seed to seed"] if truth.random else []
    remarks += [f"ends in the colour {truth.fixed_point}"] if truth.fixed_point else []
    numbers = ["" if value is None else f"{value:g}" for value in (truth.q, truth.period)]
    return [truth.verdict or "not known", truth.shape or "", *numbers, "; ".join(remarks)]
