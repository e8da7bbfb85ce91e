"""The untouched image that chains start from, and what its suite says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from convergebench.kinds import Kind


@dataclass(frozen=True, slots=True)
class SourceImage:
    """One untouched image of a suite. `read` gives the file's bytes as they are."""

    id: str
    kind: Kind
    sha256: str
    width: int
    height: int
    licence: str
    source: str
    read: Callable[[], bytes] = field(repr=False, compare=False)
    title: str = ""
    """What it shows, in one short sentence."""
    holds: tuple[str, ...] | None = None
    """Nouns for what can be seen in it; None: nobody has said. Edits are laid out by them."""
    credit: str = ""
    """The line that names its author, its licence and where it was published."""
    package: str = ""
    """The package that its file comes from: `npm froala-design-blocks 2.0.1`."""
    suite: str = ""
    """The suite and its version, `builtin 2`; empty for a first version."""
    clean: str = ""
    """The id of the clean image that this one is a degraded copy of."""
    degradation: str = ""
    """What it was degraded by here; empty for an untouched image and for one that came degraded."""
    focus: tuple[float, float] = (0.5, 0.5)
    """What a square cut of it should be centred on: shares of its width and height."""
