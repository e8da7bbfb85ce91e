"""Pictures the project draws itself: seeded, of any size, worth editing.

`render` draws one; `RECIPES` says what there is and what each is hard about. The same arguments give the same
pixels in one environment; `RENDERER_VERSION` is raised whenever any pixel of any recipe changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from convergebench.errors import StudyError
from convergebench.images.frame import Pixels
from convergebench.images.pictures.book import RECIPES as _BOOK
from convergebench.images.pictures.recipe import Recipe
from convergebench.images.pictures.sheet import Sheet
from convergebench.registry import suggest

RENDERER_VERSION = 2

RECIPES: Mapping[str, Recipe] = _BOOK

SMALLEST, LARGEST = 256, 4096


def render(recipe: str, *, seed: int, width: int, height: int) -> Pixels:
    """Draw a recipe: height × width × 3, RGB, 8 bit. The same seed at another size is the same picture."""
    if recipe not in RECIPES:
        raise StudyError(f"unknown picture '{recipe}'{suggest(recipe, RECIPES)} (one of: {', '.join(RECIPES)})")
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        raise StudyError(f"a picture is {SMALLEST} to {LARGEST} pixels a side, not {width} × {height}; change its size")
    if seed < 0:
        raise StudyError(f"a seed is 0 or more, not {seed}; change it")
    return RECIPES[recipe].draw(Sheet(recipe, seed, width, height))


__all__ = ["RECIPES", "RENDERER_VERSION", "Recipe", "render"]
