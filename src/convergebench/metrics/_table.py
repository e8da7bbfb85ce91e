"""Built-in names → where they live, and the sets they come in. Read only when a name is looked up."""

CLASSICAL = ("psnr", "ssim", "ms-ssim", "gmsd", "delta-e")

DIAGNOSTICS = (
    "returned-width",
    "returned-height",
    "crop",
    "shift-x",
    "shift-y",
    "scale",
    "noise",
    "sharpness",
    "cast-a",
    "cast-b",
    "saturation",
    "blockiness",
    "high-frequency",
    "palette",
    "side-effect",
)

ADHERENCE = ("happened", "undone")

SETS: dict[str, tuple[str, ...]] = {
    "classical": CLASSICAL,
    "diagnostics": DIAGNOSTICS,
    "adherence": ADHERENCE,
    "default": (*CLASSICAL, "rmse", "gist", *DIAGNOSTICS, *ADHERENCE),
}


def _places(room: str, names: tuple[str, ...]) -> dict[str, str]:
    """Each name has a file of that name with the metric in it."""
    words = {name: name.replace("-", "_") for name in names}
    return {name: f"convergebench.metrics.{room}.{word}:{word}" for name, word in words.items()}


TABLE: dict[str, str] = {
    **_places("full_reference", (*CLASSICAL, "rmse", "ssim-skimage")),
    **_places("semantic", ("gist",)),
    **_places("diagnostics", DIAGNOSTICS),
    **_places("adherence", ADHERENCE),
}
