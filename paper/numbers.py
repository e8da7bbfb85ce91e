r"""Every number in the paper's prose: the name of its macro, and the cell that it comes from.

`\NSsimRankTwenty{}` in a section is the number `SsimRankTwenty` here. Numbers are plain text (`−0.65`, `80.2 %`);
`generate` writes them as LaTeX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from paper.tables import Cell, Table

Tables = Mapping[str, Table]
Number = Callable[[Tables], str]

USUAL = (
    "score: even", "score: near the top", "score: skewed losses, 1 case per image",
    "score: skewed losses, 5 cases per image", "score: 1 to 5 cases per image", "score: edits done in part",
)  # fmt: skip
"""The worlds in which the interval of a score should cover as stated."""
SKEWED, WRECKED = "score: very skewed losses", "score: every fourth image wrecked"
PERCENTILE = "score, percentile of draws (not used): skewed losses, 5 cases per image"
LEARNED = ("taesd", "taef1", "taef2")


def text(value: float, digits: int, *, sign: bool = False) -> str:
    """`−0.65`, with a plus sign if asked for."""
    shown = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return (shown if float(shown) else shown.lstrip("+-")).replace("-", "−")


def cell(table: str, column: str, digits: int = 2, *, unit: str = "", sign: bool = False, **row: object) -> Number:
    """The number of one cell."""
    return lambda tables: text(tables[table].cell(column, **row).number, digits, sign=sign) + unit


def _part(table: str, column: str, part: str, digits: int, **row: object) -> Number:
    return lambda tables: text(float(getattr(tables[table].cell(column, **row), part)), digits)


def band(table: str, column: str, digits: int = 2, **row: object) -> Number:
    """The interval of one cell: `−0.80 to −0.49`."""
    low, high = (_part(table, column, part, digits, **row) for part in ("low", "high"))
    return lambda tables: f"{low(tables)} to {high(tables)}"


def images(table: str) -> Number:
    """The number of photographs that a table of orders states."""
    return lambda tables: text(tables[table].rows[0]["images"].number, 0)


def extreme(
    pick: Callable[[Iterable[float]], float], found: Callable[[Tables], Iterable[Cell]], digits: int, unit: str = ""
) -> Number:
    """The smallest or largest number of some cells."""
    return lambda tables: text(pick(one.number for one in found(tables)), digits) + unit


def percent_of_share(table: str, column: str, **row: object) -> Number:
    """`60 %` of a share that is printed as 0.60."""
    return lambda tables: text(100 * tables[table].cell(column, **row).number, 0) + " %"


def _cover(quantities: Iterable[str]) -> Callable[[Tables], list[Cell]]:
    names = set(quantities)
    sizes = ("n5", "n8", "n12", "n30")
    return lambda tables: [
        row[size] for row in tables["coverage"].rows if row["quantity"].text in names for size in sizes
    ]


def _false_alarms(tables: Tables) -> list[Cell]:
    row = tables["coverage"].row(quantity="false alarms of its test")
    return [row[size] for size in ("n6", "n8", "n12", "n30")]


def _falsely_settled(tables: Tables) -> list[Cell]:
    return [row["settles"] for row in tables["settling_shares"].rows if row["truth"].text != "settles"]


def _crops(column: str) -> Callable[[Tables], list[Cell]]:
    return lambda tables: [
        row[column] for row in tables["align_errors"].rows if row["crop"].number and row["round"].number == 10
    ]


def _anchors(tables: Tables) -> list[Cell]:
    names = {f"anchor(then(sim-perfect, {name}))" for name in LEARNED}
    return [row["gain"] for row in tables["mitigations_learned"].rows if row["editor"].text in names]


def _pastes(tables: Tables) -> list[Cell]:
    names = {f"paste-back(then(sim-perfect, {name}))" for name in LEARNED}
    return [row["gain"] for row in tables["mitigations_learned"].rows if row["editor"].text in names]


def _psnr_gains(tables: Tables) -> list[Cell]:
    return [row["gain"] for row in tables["restoration_gains"].rows if row["metric"].text == "psnr"]


def _tints(tables: Tables) -> list[Cell]:
    row = tables["audit_known_editors"].row(editor="sim-tint")
    return [row[metric] for metric in ("brisque", "niqe", "piqe", "decay")]


def _column(table: str, name: str) -> Callable[[Tables], list[Cell]]:
    return lambda tables: tables[table].column(name)


def _spread(table: str, column: str) -> Number:
    """Largest minus smallest number of a column."""

    def number(tables: Tables) -> str:
        values = [one.number for one in tables[table].column(column)]
        return text(max(values) - min(values), 1)

    return number


def _paste(table: str, editor: str) -> Number:
    return cell(table, "gain", 1, sign=True, editor=editor)


ORDERS: dict[str, Number] = {
    "SsimRankTen": cell("order_ssim", "rank", after=10),
    "SsimRankTwenty": cell("order_ssim", "rank", after=20),
    "SsimRankTwentyInterval": band("order_ssim", "rank", after=20),
    "SsimRankFifty": cell("order_ssim", "rank", after=50),
    "PsnrRankFifty": cell("order_psnr", "rank", after=50),
    "LpipsRankFifty": cell("order_lpips", "rank", after=50),
    "PsnrBestWorst": percent_of_share("order_psnr", "best_worst", after=50),
    "ChanceFive": percent_of_share("order_ssim", "chance", after=50),
    "RestorerRankTen": cell("restorer_order_ssim", "rank", after=10),
    "RestorerRankHundred": cell("restorer_order_ssim", "rank", after=100),
    "CopyImages": images("order_ssim"),
    "RestorerImages": images("restorer_order_ssim"),
}
COPIES: dict[str, Number] = {
    "TaefTwoOne": cell("copies_ssim", "s1", editor="taef2"),
    "TaesdOne": cell("copies_ssim", "s1", editor="taesd"),
    "TaesdFifty": cell("copies_ssim", "s50", editor="taesd"),
    "TaesdThreeOne": cell("copies_ssim", "s1", editor="taesd3"),
    "TaesdThreeFifty": cell("copies_ssim", "s50", editor="taesd3"),
    "TaesdxlOne": cell("copies_ssim", "s1", editor="taesdxl"),
    "TaesdxlTwo": cell("copies_ssim", "s2", editor="taesdxl"),
    "CopySpread": _spread("copies_psnr", "s1"),
    "RestorerSpread": _spread("restorer_copies_psnr", "s1"),
    "SpanOne": cell("restorer_copies_psnr", "s1", 1, editor="span-x2"),
    "SpanHundred": cell("restorer_copies_ssim", "s100", editor="span-x2"),
    "MaximDenoiseOne": cell("maxim_ssim", "s1", editor="maxim-denoising"),
    "MaximDenoiseTen": cell("maxim_ssim", "s10", editor="maxim-denoising"),
    "MaximDeblurOne": cell("maxim_ssim", "s1", editor="maxim-deblurring"),
    "MaximDeblurTen": cell("maxim_ssim", "s10", editor="maxim-deblurring"),
    "MaximDenoiseLife": cell("maxim_lives", "life", 0, editor="maxim-denoising", metric="ssim"),
    "MaximDenoiseLow": _part("maxim_lives", "life", "low", 0, editor="maxim-denoising", metric="ssim"),
    "MaximDenoiseHigh": _part("maxim_lives", "life", "high", 0, editor="maxim-denoising", metric="ssim"),
    "MaximDeblurLife": cell("maxim_lives", "life", 0, editor="maxim-deblurring", metric="ssim"),
    "MaximDeblurLow": _part("maxim_lives", "life", "low", 0, editor="maxim-deblurring", metric="ssim"),
    "MaximDeblurPassed": cell("maxim_lives", "passed", 0, editor="maxim-deblurring", metric="ssim"),
    "MaximImages": images("maxim_order"),
}
EDITORS: dict[str, Number] = {
    "FluxSsimOne": cell("flux", "ssim", after="1 round trip"),
    "FluxSsimTwo": cell("flux", "ssim", after="2"),
    "FluxSsimThree": cell("flux", "ssim", after="3"),
    "FluxBrisqueSource": cell("flux", "brisque", 1, after="source"),
    "FluxBrisqueOne": cell("flux", "brisque", 1, after="1 round trip"),
    "FluxBrisqueTwo": cell("flux", "brisque", 1, after="2"),
    "FluxBrisqueThree": cell("flux", "brisque", 1, after="3"),
    "FluxAspect": cell("flux_failures", "seen", 0, failure="aspect ratio or crop"),
    "FluxSimple": cell("flux_failures", "seen", 0, failure="simplification"),
    "InpaintLife": cell("inpaint_rounds", "life", 0, editor="inpaint, through taesd"),
    "InpaintRefused": cell("inpaint_rounds", "refused", 0, editor="inpaint"),
    "InpaintRefusedTaesd": cell("inpaint_rounds", "refused", 0, editor="inpaint, through taesd"),
    "InpaintCases": _part("inpaint_rounds", "refused", "of", 0, editor="inpaint"),
    "InpaintSsim": lambda tables: tables["inpaint_rounds"].cell("ssim", editor="inpaint").text,
    "GlassesHappened": cell("inpaint_pairs", "happened", 0, unit=" %", pair="glasses"),
    "GlassesSeen": cell("inpaint_pairs", "seen", 0, unit=" %", pair="glasses"),
    "HatUndone": cell("inpaint_pairs", "undone", 0, unit=" %", pair="hat"),
}
AUDITS: dict[str, Number] = {
    "PiqeLarge": cell("audit_large", "chains", 0, metric="piqe"),
    "LargeChains": _part("audit_large", "chains", "of", 0, metric="piqe"),
    "PiqeRestorers": cell("audit_restorers", "chains", 0, metric="piqe"),
    "RestorerChains": _part("audit_restorers", "chains", "of", 0, metric="piqe"),
    "FilterCnn": cell("audit_autoencoders", "filter", 0, unit=" %", metric="cnniqa-live"),
    "FilterBrisque": cell("audit_autoencoders", "filter", 0, unit=" %", metric="brisque"),
    "TintLeast": extreme(min, _tints, 0),
    "TintOf": _part("audit_known_editors", "decay", "of", 0, editor="sim-tint"),
    "DecayUnmet": cell("decay_totals", "decay", 0, editors="editors that it never met"),
    "UnmetChains": _part("decay_totals", "decay", "of", 0, editors="editors that it never met"),
    "NiqeUnmet": cell("decay_totals", "niqe", 0, editors="editors that it never met"),
    "DecayLast": cell("decay_families", "decay", 0, family="last"),
    "LastOf": _part("decay_families", "decay", "of", 0, family="last"),
    "NiqeLast": cell("decay_families", "niqe", 0, family="last"),
    "BrisqueLast": cell("decay_families", "brisque", 0, family="last"),
    "DecayWaifu": cell("decay_families", "decay", 0, family="waifu2x-denoise"),
    "WaifuOf": _part("decay_families", "decay", "of", 0, family="waifu2x-denoise"),
    "DecayFlux": cell("decay_flux", "returns", 0, metric="decay"),
    "FluxChains": _part("decay_flux", "returns", "of", 0, metric="decay"),
    "BrisqueFlux": cell("decay_flux", "returns", 0, metric="brisque"),
    "NiqeFlux": cell("decay_flux", "returns", 0, metric="niqe"),
}
MITIGATIONS: dict[str, Number] = {
    "PasteLearnedLeast": extreme(min, _pastes, 1),
    "PasteTaesd": _paste("mitigations_learned", "paste-back(then(sim-perfect, taesd))"),
    "PasteTaefOne": _paste("mitigations_learned", "paste-back(then(sim-perfect, taef1))"),
    "PasteTaefTwo": _paste("mitigations_learned", "paste-back(then(sim-perfect, taef2))"),
    "AnchorMost": extreme(max, _anchors, 1),
    "HeldNoise": _paste("mitigations_held_out", "paste-back(sim-noise)"),
    "HeldBlur": _paste("mitigations_held_out", "paste-back(sim-blur)"),
    "HeldContract": _paste("mitigations_held_out", "paste-back(sim-contracting)"),
    "ForgetDone": cell("mitigations", "done", 0, unit=" %", editor="sim-forgetful"),
    "ForgetBestDone": cell("mitigations", "done", 0, unit=" %", editor="best-of(sim-forgetful, 3, ssim)"),
    "BestPsnrGain": extreme(max, _psnr_gains, 2),
    "EsrganPsnrLoss": lambda tables: text(
        -tables["restoration_gains"].cell("gain", method="realesrgan-x4", metric="psnr").number, 2
    ),
}
VALIDATION: dict[str, Number] = {
    "PercentileFive": cell("coverage", "n5", 1, unit=" %", quantity=PERCENTILE),
    "PercentileTwelve": cell("coverage", "n12", 1, unit=" %", quantity=PERCENTILE),
    "CoverLeast": extreme(min, _cover(USUAL), 1, " %"),
    "CoverMost": extreme(max, _cover(USUAL), 1, " %"),
    "CoverSkewFive": cell("coverage", "n5", 1, unit=" %", quantity=SKEWED),
    "CoverWreckFive": cell("coverage", "n5", 1, unit=" %", quantity=WRECKED),
    "FalseLeast": extreme(min, _false_alarms, 1, " %"),
    "FalseMost": extreme(max, _false_alarms, 1, " %"),
    "EditsFive": cell("coverage", "n5", 1, unit=" %", quantity="area, 7 edits: for edits like these (not claimed)"),
    "EditsThirty": cell("coverage", "n30", 1, unit=" %", quantity="area, 7 edits: for edits like these (not claimed)"),
    "FalseSettles": extreme(max, _falsely_settled, 0, " %"),
    "SlowTwenty": cell("settling_shares", "settles", 0, unit=" %", chain="contracts, q 0.9", rounds=20),
    "SlowForty": cell("settling_shares", "settles", 0, unit=" %", chain="contracts, q 0.9", rounds=40),
    "DullTwenty": cell("settling_shares", "drifts", 0, unit=" %", chain="contracts, q 0.8, dull noise 0.01", rounds=20),
    "IdleNaive": cell("cheating", "naive", 1, editor="idle"),
    "WreckNaive": cell("cheating", "naive", 1, editor="wrecker"),
    "HonestNaive": cell("cheating", "naive", 1, editor="honest"),
    "IdleScore": cell("cheating", "score", 1, editor="idle"),
    "WreckScore": cell("cheating", "score", 1, editor="wrecker"),
    "HonestScore": cell("cheating", "score", 1, editor="honest"),
    "RefuserScore": cell("cheating", "score", 1, editor="refuser"),
    "HappenedMissed": cell("adherence", "missed", 1, unit=" %", metric="happened", wear="all"),
    "HappenedFalse": cell("adherence", "false", 1, unit=" %", metric="happened", wear="all"),
    "UndoneMissed": cell("adherence", "missed", 1, unit=" %", metric="undone", wear="all"),
    "FitWorst": extreme(max, _crops("fit"), 2),
    "AutoWorst": extreme(max, _crops("auto"), 2),
    "DetectorFalse": extreme(max, _column("detectors", "false"), 1, " %"),
    "DetectorBest": cell("detectors", "missed", 0, unit=" %", detector="colour-cast"),
    "DetectorWorst": extreme(max, _column("detectors", "missed"), 0, " %"),
    "TextureMissed": cell("detectors_restoration", "missed", 0, unit=" %", detector="invented-texture"),
}
NUMBERS: dict[str, Number] = {**ORDERS, **COPIES, **EDITORS, **AUDITS, **MITIGATIONS, **VALIDATION}


def read_numbers(tables: Tables) -> dict[str, str]:
    """The text of every number."""
    return {name: number(tables) for name, number in NUMBERS.items()}
