"""Built-in names → modules, by level. Read only when a name is looked up."""

EDITS = (
    "simplification",
    "counting",
    "replacement",
    "background-decay",
    "duplicated-objects",
    "lost-object",
    "new-object",
    "aspect-ratio",
    "orientation",
    "monochrome",
    "static-noise",
    "scatter-points",
    "contour-wrinkles",
    "lattice",
    "colour-cast",
    "texture-loss",
    "overconfidence",
)
"""Failures of chains of edits, which start from an intact picture."""
RESTORATIONS = (
    "structure-change",
    "invented-edges",
    "invented-texture",
    "colour-on-grey",
    "lost-object",
    "new-object",
    "aspect-ratio",
)
"""Failures of restorations, which start from a degraded picture."""
SETS: dict[str, tuple[str, ...]] = {"edits": EDITS, "restorations": RESTORATIONS}
"""Names for several detectors, in study files and on the command line."""

TABLE: dict[str, str] = {
    name: f"convergebench.failures.{word}:{word}"
    for name in dict.fromkeys((*EDITS, *RESTORATIONS))
    for word in [name.replace("-", "_")]
}
