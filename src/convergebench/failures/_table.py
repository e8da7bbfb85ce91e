"""Built-in names → modules, by level. Read only when a name is looked up."""

_NAMES = (
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

TABLE: dict[str, str] = {
    name: f"convergebench.failures.{word}:{word}" for name in _NAMES for word in [name.replace("-", "_")]
}
