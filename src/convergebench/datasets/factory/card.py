"""What the card says about a factory's products, and what to know before publishing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convergebench.datasets.factory.alike import CELLS, LEVELS
from convergebench.datasets.factory.counts import BINS, FactoryCounts
from convergebench.datasets.sheet import as_code, as_text, sheet
from convergebench.edits.taxonomy import categories, taxonomy
from convergebench.store.manifest import Manifest

SUBSETS = ("sft", "preference", "multi_turn")
WHY = {
    "identical": "another row has the same files",
    "alike": f"another row of the same source and edit type looks the same (no cell of {CELLS} × {CELLS} differs by "
    f"more than {LEVELS:.0f} of 255 levels)",
    "equals its input": "an edit left its image unchanged",
    "chosen equals rejected": "the accepted and the rejected image are the same",
    "damaged": "the inspector found damage in the accepted image",
    "not judged": "the judge's reply about the rejected image could not be parsed",
}
NOT = (
    "Not judged by people: every score comes from a model, and another judge would accept other images. The table "
    "`attempts` has every score, so other thresholds and weights can be tried.",
    "Not a random sample of edits: what the editor cannot do is discarded, so hard types are rarer than requested. "
    "The rates above show by how much.",
    "Not a measure of how good the editor is: instruction, edit and judgement come from models that may share their "
    "blind spots.",
    "Not pairs of two editors: a rejected image is the same editor's earlier attempt at the same instruction.",
)


def paragraphs(manifest: Manifest, counts: FactoryCounts) -> list[str]:
    """The part of the card."""
    table = manifest.spec.get("factory", {})
    return [
        "## Subsets",
        "`sft`: accepted edits, for supervised training. `preference`: an accepted edit and one rejected before it, "
        "for DPO. `multi_turn`: whole sessions. The first turn of a session is in `sft` too.",
        _composition(counts),
        _by_category(counts),
        _left_out(counts),
        "## Success",
        f"An edit was accepted if its score was above {table.get('threshold', 0.7)}{_least(table)}; at most "
        f"{table.get('attempts', 3)} attempts per instruction. First turns only; *per instruction* counts an "
        "instruction as a success if any attempt was accepted, *per attempt* counts every attempt. "
        "Attempts whose judge reply could not be parsed are not counted.",
        _success(counts),
        *_later(counts),
        "## Judge",
        _judge(manifest, counts),
        _histogram(counts),
        "## Cost",
        _cost(counts),
        "## What it is not",
        "\n".join(f"- {line}" for line in NOT),
    ]


def _least(table: Mapping[str, Any]) -> str:
    least = table.get("least_compliance", 0.0)
    return f" and its instruction compliance at least {least:g}" if least else ""


def remarks(counts: FactoryCounts, *, written: bool, form: str) -> list[str]:
    """One line each."""
    names = ", ".join(f"{counts.rows[name]:,} {name}" for name in SUBSETS)
    lines = []
    if written:
        lines.append(f"rows: {names}")
    else:
        lines.append(f"--as {form} does not support rows with several images, so it contains only the images; "
                     f"--as pico, parquet, webdataset or hf writes {names}")  # fmt: skip
    if form == "pico" and counts.later_pairs:
        lines.append(f"{counts.later_pairs:,} preference pairs of later turns are only in records/: Pico's format "
            f"allows only a source as input")  # fmt: skip
    if counts.held:
        lines.append(f"{_listed(counts.held)} rows are exported by reference only (tables/by_reference: address, "
            f"instruction, hashes), because the licence of their source restricts derived works")  # fmt: skip
    if counts.sources_held:
        lines.append(f"{len(counts.sources_held):,} source images are left out, because their licence forbids "
            f"redistribution; the rows have their addresses and hashes")  # fmt: skip
    for why in WHY:
        found = {subset: counts.dropped[subset, why] for subset in SUBSETS if counts.dropped[subset, why]}
        if found:
            named = ", ".join(f"{count:,} {subset}" for subset, count in found.items())
            lines.append(f"dropped {named}: {WHY[why]}")
    if counts.sessions["shortened"]:
        lines.append(f"{counts.sessions['shortened']:,} of {counts.sessions.total():,} sessions ended early and are "
                     "not in multi_turn")  # fmt: skip
    return lines


def _listed(held: Counter[tuple[str, str]]) -> str:
    found = [f"{count:,} {subset} ({licence})" for (subset, licence), count in sorted(held.items()) if count]
    return ", ".join(found) or "0"


def _composition(counts: FactoryCounts) -> str:
    total = sum(counts.rows.values())
    rows = [[f"`{name}`", f"{counts.rows[name]:,}", _share(counts.rows[name], total)] for name in SUBSETS]
    return sheet(["subset", "rows", "share"], rows)


def _by_category(counts: FactoryCounts) -> str:
    rows = []
    for category in categories():
        mine = [one for one in taxonomy().values() if one.category == category]
        asked = [one for one in mine if any(counts.by_type[name, one.id] for name in SUBSETS)]
        rows += [[category, f"`{one.id}`", *(f"{counts.by_type[name, one.id]:,}" for name in SUBSETS)] for one in asked]
    return sheet(["category", "edit type", "sft", "preference", "turns of multi_turn"], rows)


def _left_out(counts: FactoryCounts) -> str:
    dropped = [
        [f"`{subset}`", WHY[why], f"{count:,}"] for (subset, why), count in sorted(counts.dropped.items()) if count
    ]
    dropped += [
        [f"`{subset}`", f"by reference only: the source is under {as_text(licence)}", f"{count:,}"]
        for (subset, licence), count in sorted(counts.held.items())
        if count
    ]
    if counts.sessions["shortened"]:
        dropped.append(
            ["`multi_turn`", "the session ended before its last planned turn", str(counts.sessions["shortened"])]
        )
    return "Left out:\n\n" + sheet(["subset", "why", "rows"], dropped) if dropped else "Nothing was left out."


def _success(counts: FactoryCounts) -> str:
    rows = []
    for kind in (*taxonomy(), None):
        chosen = [counts.types[kind]] if kind in counts.types else list(counts.types.values()) if kind is None else []
        if not chosen:
            continue
        pairs, accepted = sum(one.instructions for one in chosen), sum(one.accepted for one in chosen)
        tries, good = sum(one.attempts for one in chosen), sum(one.accepted_attempts for one in chosen)
        name = f"`{kind}`" if kind is not None else "all"
        rows.append(
            [name, f"{accepted:,} / {pairs:,}", _share(accepted, pairs), f"{good:,} / {tries:,}", _share(good, tries)]
        )
    return sheet(["edit type", "instructions", "per instruction", "attempts", "per attempt"], rows)


def _later(counts: FactoryCounts) -> list[str]:
    later = counts.later
    if not later.instructions:
        return []
    return [
        f"Later turns of sessions: {later.accepted:,} of {later.instructions:,} instructions "
        f"({_share(later.accepted, later.instructions)}), {later.accepted_attempts:,} of {later.attempts:,} attempts "
        f"({_share(later.accepted_attempts, later.attempts)})."
    ]


def _judge(manifest: Manifest, counts: FactoryCounts) -> str:
    facts = manifest.roles.get("judge", {})
    weights = manifest.spec.get("factory", {}).get("weights", {})
    weighed = ", ".join(f"{as_text(name.replace('_', ' '))} {value:.0%}" for name, value in _scaled(weights))
    models = ", ".join(as_code(model) for model in sorted(counts.judge_models)) or "none answered"
    return (
        f"The judge is {as_code(facts.get('about', 'not stated'))} "
        f"(fingerprint {as_code(facts.get('fingerprint', 'not stated'))}), "
        f"answering as {models}. It scored {weighed or 'four criteria'}. Scores of all judged attempts; "
        f"{counts.refused:,} attempts were refused by the editor, {counts.unjudged:,} replies of the judge could not "
        f"be parsed, {counts.unwritten:,} turns got no instruction:"
    )


def _scaled(weights: dict[str, float]) -> Iterable[tuple[str, float]]:
    total = sum(weights.values())
    return [(name, value / total) for name, value in weights.items()] if total else []


def _histogram(counts: FactoryCounts) -> str:
    most = max(counts.scores.values(), default=1)
    rows: list[Sequence[str]] = [
        [
            f"{at / BINS:.1f} to {(at + 1) / BINS:.1f}",
            f"{counts.scores[at]:,}",
            "█" * round(30 * counts.scores[at] / most),
        ]
        for at in range(BINS)
    ]
    return sheet(["score", "attempts", ""], rows)


def _cost(counts: FactoryCounts) -> str:
    total = counts.editing + sum(counts.asking.values()) + counts.failed
    made = sum(counts.rows.values())
    roles = ", ".join(f"{role} ${dollars:,.2f}" for role, dollars in sorted(counts.asking.items()))
    each = f", ${total / made:,.4f} a row" if made else ""
    failed = f", replies that could not be used ${counts.failed:,.2f}" if counts.failed else ""
    return f"${total:,.2f} in all{each}: editing ${counts.editing:,.2f}{', ' + roles if roles else ''}{failed}."


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
