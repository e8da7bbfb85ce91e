"""Terms and what they mean, in the order a reader meets them. Pages link here."""

from __future__ import annotations

from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.units import Unit

TERMS: tuple[tuple[str, str, str], ...] = (
    ("case", "case", "One source image with one {way}, and one repeat of it. All editors get the same."),
    (
        "chain",
        "chain",
        "One editor's way through one case: each step starts from the image the step before gave.",
    ),
    (
        "retention",
        "retention",
        "How much of the source is left after n {many}; 1 at n = 0. For a similarity it is the value, for a "
        "dissimilarity one minus the value.",
    ),
    (
        "score",
        "convergence score C",
        "100 · √(Q · S). 100 means that every edit was done as asked and nothing was lost in any {head}. An edit that "
        "was refused, failed, was not done or not undone is a failure to converge: such {heads} count 0. It ranks; it "
        "passes and fails nobody.",
    ),
    (
        "closeness",
        "closeness",
        "The score without adherence: how close pictures stay to the source, whether or not anything was done to them. "
        "An editor that does nothing has 100.",
    ),
    (
        "q-part",
        "Q",
        "The quality part of the score: the mean area under the retention curves of the quality metrics.",
    ),
    (
        "s-part",
        "S",
        "The semantic part of the score: the area under the retention curve of the semantic metric.",
    ),
    (
        "auc",
        "area under the curve (AUC)",
        "Mean height of the retention curve from n = 0 to the last {head}, by trapezoids. A chain that ended early "
        "counts as far as it was seen.",
    ),
    (
        "half-life",
        "half-life",
        "The {head} at which half of the chains have passed a level of loss (Kaplan–Meier median). “> N” means that "
        "after N {heads} fewer than half had passed it.",
    ),
    (
        "restricted-mean",
        "restricted mean",
        "Mean number of {heads} before the level is passed, counted no further than the last {head}; it exists even "
        "when the half-life is not reached.",
    ),
    (
        "censored",
        "censored",
        "Watched only this long: the chain was above the level when its observation ended. It is kept, not dropped.",
    ),
    ("at-risk", "at risk", "Chains still under observation and not yet past the level at that {head}."),
    ("usable", "usable", "Neither past the level of loss nor refused, failed or stopped."),
    (
        "usable-share",
        "usable share",
        "Of the {heads} asked for, those that came back as a picture; the rest was refused or failed.",
    ),
    (
        "coverage",
        "coverage",
        "Usable share times the share of cases that an editor has at all. Below the study's least coverage it gets a "
        "score and no rank.",
    ),
    (
        "places",
        "places",
        "Between which places an editor stands in 95 % of resamples of the source images.",
    ),
    (
        "verdict",
        "verdict",
        "returns: stays at the source. settles: the steps shrink to a fixed point or a small noise ball. cycles: comes "
        "back to an earlier image. drifts: walks away. diverges: the steps grow. too early: not enough {heads} to "
        "tell. unknown: the distance was not measured, or the pictures cannot be compared.",
    ),
    (
        "contraction",
        "contraction factor q",
        "By what factor the distance between neighbouring {heads} changes from one to the next, apart from the part "
        "that noise keeps up for ever. A chain whose factor stays below 1 has a limit.",
    ),
    (
        "bounds",
        "Banach's formulas",
        "If every step is at most q < 1 times the one before, the limit is at most δ₁ / (1 − q) from the source and "
        "δₙ q / (1 − q) from the last image. A chain shows q only as far as it went, so here they are estimates.",
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
        "Over source images: cases of the same image belong together, because they are not independent. It speaks of "
        "images like these and of these edits, not of others. With fewer than five images there is none; the values "
        "are printed instead.",
    ),
    (
        "significant",
        "significant",
        "Sign-flip permutation over source images, corrected for the number of pairs by Holm's method, below 0.05. The "
        "interval of a difference inverts that test, so the two never disagree.",
    ),
    (
        "left-out",
        "left out",
        "Chains of cases that another ranked editor does not have at all. The ranking compares like with like.",
    ),
    ("missing", "missing", "A {head} without a value for reasons of ours. It is None with a reason, never zero."),
    (
        "lost",
        "lost",
        "A picture that cannot be measured because of what the editor did to it: one even grey, unreadable, too small, "
        "impossible to align. It counts as the worst value, never as missing.",
    ),
    (
        "reference",
        "reference",
        "An editor that is shown for comparison and has no rank: simulated, a floor, or one that ignores words.",
    ),
    ("simulated", "simulated", "An editor that only pretends: known damage, to test the method. Not a model."),
    (
        "copies",
        "ignores words",
        "A network that does the same whatever the words say, such as an autoencoder or a restorer. It only copies: a "
        "floor under editors, not a rival.",
    ),
    ("floor", "floor", "What the codec, a resize or an autoencoder alone would lose under the same protocol."),
)


UNITS = {
    "round trip": "An edit and then its undoing. A perfect editor would give the source back.",
    "step": "One edit. Each starts from the image that the step before gave, unless the variant says otherwise.",
    "round": "One turn of what the study asks for.",
}

REPLICATE: tuple[tuple[str, str, str], ...] = (
    (
        "variant",
        "variant",
        "What is asked for at every step: a plain copy, a mirror image, one more apple; or the copy with another seed, "
        "resolution or session. “-independent” starts every step from the source again.",
    ),
    (
        "baseline",
        "against its baseline",
        "A variant minus the plain variant it differs from, on the same source images and at the same step.",
    ),
    (
        "onset",
        "onset",
        "The first of three steps in a row outside the 99 % band of what one step changes anyway. “> N”: not within N "
        "steps for half of the chains.",
    ),
    (
        "level",
        "level of a failure",
        "Where it shows: in a part of a thing (sub-object), in a thing (object), in the whole image, or as noise over "
        "all of it.",
    ),
    (
        "confidence",
        "confidence",
        "How far beyond its threshold a rule is, from 0 to 1; not a probability. A person's label has none.",
    ),
    (
        "said-by",
        "who says so",
        "A rule (code with a threshold), a judge (a model that was shown the picture) or a person. A person's word "
        "counts before a judge's, a judge's before a rule's.",
    ),
    (
        "wilson",
        "share with its interval",
        "Chains that show the failure, of those it could be told for, with its interval. Chains of one image are "
        "alike, so images are its units; fewer than five have none. A chain that ended early and shows nothing is "
        "undecided.",
    ),
    (
        "noticed",
        "noticed",
        "The first step whose own summary of reasoning says that the input image is noisy, pixelated or has artefacts. "
        "Runs that never say so are counted, not dropped.",
    ),
    ("delay", "delay", "First step at which the editor notices, minus the onset; Kaplan–Meier over runs and images."),
)
"""Terms of the replicate study."""


def glossary(settings: AnalysisSettings, unit: Unit, *, replicate: bool = False) -> list[tuple[str, str, str]]:
    """(anchor, term, meaning), in the run's own unit and with its constants at the end."""
    constants = (
        f"Half-life sentence: {settings.headline} at {settings.level}. Q: {', '.join(settings.quality) or 'none'}. "
        f"S: {settings.semantic or 'none'}. Distance of drift: {settings.distance}, floor {settings.floor:.5f}. "
        f"Intervals: {settings.confidence:.0%}, {settings.interval}. Resamples: {settings.draws}, seed "
        f"{settings.seed}. Longest period looked for: {settings.max_period}. "
        f"Too early to judge a chain: fewer than {settings.settling_rounds} {unit.heads}. "
        f"Half-life counts {'only lasting losses' if settings.sustained else 'the first passing'}."
    )
    said = {"way": "pair of instructions" if unit.way == "pair" else unit.way, "many": unit.many}
    said |= {"head": unit.head, "heads": unit.heads}
    terms = [("unit", unit.one, UNITS[unit.one]), *TERMS, *(REPLICATE if replicate else ())]
    return [(a, term, text.format(**said)) for a, term, text in terms] + [
        ("constants", "constants of this run", constants)
    ]
