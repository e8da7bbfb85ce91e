"""Giving a study's editors to the backend that carries out their calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from convergebench.backends.base import Backend, EditorRecipe
from convergebench.engine.prepared import Prepared


def placed(prepared: Prepared, backend: Backend) -> Prepared:
    """The study with its editors as the backend offers them."""
    chains = Counter(chain.editor for chain in prepared.chains)
    recipes = {
        name: EditorRecipe(made["use"], made["options"], chains[name], prepared.resources.get(name))
        for name, made in prepared.options.items()
    }
    return replace(prepared, editors=backend.place_editors(prepared.editors, recipes))
