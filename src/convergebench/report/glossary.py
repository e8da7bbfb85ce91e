"""Terms and what they mean, in the order a reader meets them. Pages link here."""

from __future__ import annotations

from convergebench.analysis.result import AnalysisSettings

TERMS: tuple[tuple[str, str, str], ...] = (
    ("round-trip", "round trip", "An edit and then its undoing. A perfect editor would give the source back."),
    ("case", "case", "One source image with one pair of instructions, and one repeat of it. All editors get the same."),
    (
        "chain",
        "chain",
        "One editor's way through one case: each step starts from the image the step before gave.",
    ),
    (
        "retention",
        "retention",
        "How much of the source is left after n round trips; 1 at n = 0. For a similarity it is the value, for a "
        "dissimilarity one minus the value.",
    ),
    (
        "score",
        "convergence score C",
        "100 · √(Q · S). 100 means that nothing was lost in any round. It ranks; it passes and fails nobody.",
    ),
    ("q-part", "Q", "The quality part of the score: the mean area under the retention curves of the quality metrics."),
    ("s-part", "S", "The semantic part of the score: the area under the retention curve of the semantic metric."),
    (
        "auc",
        "area under the curve (AUC)",
        "Mean height of the retention curve from n = 0 to the last round, by trapezoids. A chain that ended early "
        "counts as far as it was seen.",
    ),
    (
        "half-life",
        "half-life",
        "The round at which half of the chains have passed a level of loss (Kaplan–Meier median). “> N” means that "
        "after N rounds fewer than half had passed it.",
    ),
    (
        "restricted-mean",
        "restricted mean",
        "Mean number of rounds before the level is passed, counted no further than the last round; it exists even when "
        "the half-life is not reached.",
    ),
    (
        "censored",
        "censored",
        "Watched only this long: the chain was above the level when its observation ended. It is kept, not dropped.",
    ),
    ("at-risk", "at risk", "Chains still under observation and not yet past the level at that round."),
    ("usable", "usable", "Neither past the level of loss nor refused, failed or stopped."),
    (
        "verdict",
        "verdict",
        "returns: stays at the source. settles: the steps shrink to a fixed point or a small noise ball. cycles: comes "
        "back to an earlier image. drifts: walks away at a steady pace. diverges: the steps grow. unknown: too short "
        "to say.",
    ),
    (
        "contraction",
        "contraction factor q",
        "By what factor the distance between neighbouring rounds changes from round to round. Below 1 the chain has a "
        "limit.",
    ),
    (
        "bounds",
        "bounds",
        "If q < 1, Banach's theorem says how far the limit can be: before the run from the first step (a priori) and "
        "after it from the last (a posteriori).",
    ),
    (
        "shape",
        "shape",
        "Which law the mean drift follows best: linear, root (a random walk), saturating or accelerating. The numbers "
        "are Akaike weights; “undecided” when the best two are too close.",
    ),
    (
        "full-reference",
        "full-reference",
        "A metric that compares an image with its source, by pixels (ssim) or by the features of a network (lpips).",
    ),
    (
        "semantic",
        "semantic",
        "A metric of what a picture shows rather than of its pixels. Where CLIP is out of reach, augnet or gist stand "
        "in; they are not CLIP, and their numbers are not comparable with CLIP's.",
    ),
    (
        "no-reference",
        "no-reference",
        "A metric that rates an image by itself. Its curve begins at the score of the source. It has neither retention "
        "nor half-life and no part in the score, because a better score than the source's is not a return to it.",
    ),
    (
        "judged",
        "judged",
        "Read from the reply of a model that was shown the pictures. “measuring” as the model means that our own "
        "metrics answered and no model was asked.",
    ),
    (
        "adherence",
        "adherence",
        "Whether the forward edit happened and whether the backward edit undid it. An editor that does nothing loses "
        "nothing, and this is where it shows.",
    ),
    (
        "interval",
        "95 % interval",
        "Bootstrap over source images: cases of the same image are drawn together, because they are not independent.",
    ),
    (
        "significant",
        "significant",
        "Sign-flip permutation over source images, corrected for the number of pairs by Holm's method, below 0.05.",
    ),
    (
        "left-out",
        "left out",
        "Cases that not every ranked editor finished with all values. The ranking compares like with like.",
    ),
    ("missing", "missing", "A value that could not be measured. It is None with a reason, never zero."),
    ("simulated", "simulated", "An editor that only pretends: known damage, to test the method. Not a model."),
    (
        "copies",
        "ignores words",
        "A network that does the same whatever the words say, such as an autoencoder or a restorer. It only copies: a "
        "floor under editors, not a rival.",
    ),
    ("floor", "floor", "What the codec, a resize or an autoencoder alone would lose under the same protocol."),
)


def glossary(settings: AnalysisSettings) -> list[tuple[str, str, str]]:
    """(anchor, term, meaning), with this run's constants at the end."""
    constants = (
        f"Half-life sentence: {settings.headline} at {settings.level}. Q: {', '.join(settings.quality) or 'none'}. "
        f"S: {settings.semantic or 'none'}. Distance of drift: {settings.distance}, floor {settings.floor:.5f}. "
        f"Bootstrap: {settings.draws} draws, seed {settings.seed}, {settings.interval}, "
        f"{settings.confidence:.0%} intervals. Longest period looked for: {settings.max_period}. "
        f"Half-life counts {'only lasting losses' if settings.sustained else 'the first passing'}."
    )
    return [*TERMS, ("constants", "constants of this run", constants)]
