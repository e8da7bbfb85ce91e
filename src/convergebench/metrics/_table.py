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

AROUND = ("background-ssim", "background-delta-e", "changed-share")
"""What lies around a change; only where something was to be added or changed for good."""

LEARNED = ("lpips", "lpips-vgg", "dists", "st-lpips", "st-lpips-vgg")

SEMANTIC = ("clip", "dinov2", "augnet", "gist", "face-identity", "text-kept")
"""CLIP is the headline of the field; augnet stands in where its weights are out of reach, gist where torch is."""

WORDS = ("clip-text", "clip-direction")
"""Metrics that read what a picture should show."""

NATIVE = ("brisque", "niqe", "piqe", "ilniqe", "cnniqa-live", "decay")
"""No-reference metrics of our own code."""

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
"""Of our own no-reference metrics those that are not among the audited ones of the literature."""
IQA = (*(name for name in NATIVE if name not in UNPUBLISHED), *PYIQA)

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
}
"""`default` runs on the light installation; `iqa` is the 21 no-reference metrics of the literature, `audit` all that
are audited."""


def _places(room: str, names: tuple[str, ...]) -> dict[str, str]:
    """Each name has a file of that name with the metric in it."""
    words = {name: name.replace("-", "_") for name in names}
    return {name: f"convergebench.metrics.{room}.{word}:{word}" for name, word in words.items()}


TABLE: dict[str, str] = {
    **_places("full_reference", (*CLASSICAL, "rmse", "ssim-skimage", *LEARNED)),
    **_places("semantic", SEMANTIC),
    **_places("semantic", WORDS),
    **_places("no_reference", (*NATIVE, "ilniqe-matlab")),
    **_places("iqa", PYIQA),
    **_places("diagnostics", DIAGNOSTICS),
    **_places("adherence", ADHERENCE),
    **_places("around", AROUND),
    **_places("judged", JUDGED),
}
