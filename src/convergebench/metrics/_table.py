"""Built-in names → modules, and named sets of metrics. Read only when a name is looked up."""

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

AROUND = ("background-ssim", "background-delta-e", "changed-share")
"""Metrics of the area around a change; only for steps that add or change something permanently."""

LEARNED = ("lpips", "lpips-vgg", "dists", "st-lpips", "st-lpips-vgg")

SEMANTIC = ("clip", "dinov2", "augnet", "gist", "face-identity", "text-kept")
"""CLIP is the field's standard; augnet replaces it without its weights, gist without torch."""

CAPTIONED = ("clip-text", "clip-direction")
"""Metrics that compare a picture with a caption."""

NATIVE = ("brisque", "niqe", "piqe", "ilniqe", "cnniqa-live", "decay")
"""No-reference metrics in our own code."""

PYIQA = (
    "arniqa",
    "clipiqa",
    "cnniqa",
    "dbcnn",
    "hyperiqa",
    "liqe",
    "maniqa",
    "musiq",
    "nima",
    "nrqm",
    "paq2piq",
    "pi",
    "qalign",
    "qualiclip",
    "topiq-nr",
    "tres",
    "wadiqam-nr",
)
"""No-reference metrics through pyiqa."""

JUDGED = (
    "judge-happened",
    "judge-undone",
    "judge-side-effect",
    "judge-count",
    "visualquality-r1",
    "rubric-quality",
    "self-evaluation",
)

UNPUBLISHED = ("cnniqa-live", "decay")
"""Our own no-reference metrics that are not among the literature's audited ones."""
IQA = (*(name for name in NATIVE if name not in UNPUBLISHED), *PYIQA)

RESTORED_LOOKS = ("sharpness", "noise", "saturation", "cast-a", "cast-b")
"""How a restoration changed the look of its input."""

SETS: dict[str, tuple[str, ...]] = {
    "classical": CLASSICAL,
    "learned": ("lpips", "dists"),
    "semantic": ("clip", "dinov2", "augnet", "gist"),
    "no-reference": NATIVE,
    "iqa": IQA,
    "audit": (*IQA, "visualquality-r1", *(name for name in UNPUBLISHED if name in NATIVE)),
    "diagnostics": DIAGNOSTICS,
    "adherence": ADHERENCE,
    "judge": ("judge-happened", "judge-undone", "judge-side-effect"),
    "default": (*CLASSICAL, "rmse", "gist", *DIAGNOSTICS, *ADHERENCE),
    "replicate": (*CLASSICAL, "rmse", "gist", *DIAGNOSTICS, "happened", *AROUND),
    "around": AROUND,
    "restoration": ("psnr", "ssim", "ms-ssim", "delta-e", "piqe", *RESTORED_LOOKS),
    "restoration-paper": ("psnr", "ssim", "lpips", "musiq", "maniqa", "clipiqa"),
}
"""`default` runs on the light installation; `iqa` is the 21 no-reference metrics of the literature, `audit` all that
are audited."""


def _entry_points(room: str, names: tuple[str, ...]) -> dict[str, str]:
    """Entry points: each metric is in a module of its own name."""
    words = {name: name.replace("-", "_") for name in names}
    return {name: f"convergebench.metrics.{room}.{word}:{word}" for name, word in words.items()}


TABLE: dict[str, str] = {
    **_entry_points("full_reference", (*CLASSICAL, "rmse", "ssim-skimage", *LEARNED)),
    **_entry_points("semantic", SEMANTIC),
    **_entry_points("semantic", CAPTIONED),
    **_entry_points("no_reference", (*NATIVE, "ilniqe-matlab")),
    **_entry_points("iqa", PYIQA),
    **_entry_points("diagnostics", DIAGNOSTICS),
    **_entry_points("adherence", ADHERENCE),
    **_entry_points("around", AROUND),
    **_entry_points("judged", JUDGED),
}
