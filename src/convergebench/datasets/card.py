"""`README.md` of a data set: what it is, how it was made, what it does not show, and under which licences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.datasets.fields import Field, Table
from convergebench.datasets.formats.base import Format
from convergebench.datasets.licences import read_licence
from convergebench.datasets.patches import PatchPlan
from convergebench.datasets.sheet import as_code, as_text, sheet
from convergebench.datasets.source import RunSource
from convergebench.datasets.tally import Tally
from convergebench.store.manifest import Manifest

CITATION = (
    "@misc{convergebench, title={ConvergeBench: what happens to an image when a model edits it again and again}, "
    "author={The ConvergeBench authors}, note={add version and address here}}"
)
_ORIGINS = {"photograph": "photographs", "drawn": "drawings", "not stated": "pictures of unknown origin"}


def description(manifest: Manifest, tally: Tally) -> str:
    """The data set in two or three sentences."""
    who = f"{len(tally.editors)} image editor{'s' * (len(tally.editors) != 1)}"
    summary = (
        f"{tally.pictures:,} pictures of {tally.chains.total():,} chains in which {who} edited {tally.source_count} "
        f"source image{'s' * (tally.source_count != 1)} again and again, each step as planned by the study ( "
        f"'{manifest.study}')."
    )
    if tally.simulated and tally.simulated >= set(tally.editors):
        return f"{summary} All editors are simulated: no generative model made these images."
    if tally.simulated:
        names = as_text(", ".join(sorted(tally.simulated)))
        return f"{summary} Simulated editors, which are programs and not models: {names}."
    return summary


def card(
    name: str,
    source: RunSource,
    given: str | None,
    tally: Tally,
    form: Format,
    tables: Sequence[Table],
    side: Mapping[Table, str],
    patches: PatchPlan | None,
    own: Sequence[str] = (),
) -> str:
    """Everything below the front matter; `own` are paragraphs of the study's own parts."""
    manifest = source.manifest
    parts = [
        [f"# {as_text(name)}", description(manifest, tally), "Step 0 of every chain is the untouched source."],
        _contents(manifest, tally),
        *([list(own)] if own else []),
        _made(source, tally),
        _files(form, tables, side, patches),
        _columns(tables),
        _limits(source, tally),
        _licences(tally, given, manifest),
        ["## Citation", f"```bibtex\n{CITATION}\n```"],
    ]
    return "\n" + "\n\n".join("\n\n".join(part) for part in parts if part) + "\n"


def _contents(manifest: Manifest, tally: Tally) -> list[str]:
    variants = []
    for variant in sorted(tally.chains):
        facts = manifest.pairs.get(variant, {})
        variants.append(
            [
                as_code(variant),
                as_text(tally.families[variant]),
                as_text(facts.get("origin", "")),
                f"{tally.chains[variant]:,}",
                f"{tally.records[variant]:,}",
                _asked(facts),
            ]
        )
    editors = [
        [
            as_code(editor),
            _kind(manifest, editor),
            f"{tally.editors[editor]:,}",
            as_text(", ".join(sorted(tally.models.get(editor, ())))),
        ]
        for editor in sorted(tally.editors)
    ]
    splits = [
        [as_code(split), f"{tally.splits[split]:,}", str(len(tally.sources[split]))] for split in sorted(tally.splits)
    ]
    return [
        "## What is in it",
        sheet(["variant", "family", "from", "chains", "pictures", "what was asked"], variants),
        sheet(["editor", "kind", "pictures made", "model ids"], editors),
        sheet(["split", "pictures", "source images"], splits),
        "All images made from one source image are in one split. Sources with the same bytes count as one; the same "
        "photograph in two sizes counts as two.",
    ]


def _kind(manifest: Manifest, editor: str) -> str:
    facts = manifest.editors.get(editor, {})
    if facts.get("simulated"):
        return "simulated"
    return "real" if facts.get("instructed", True) else "real, but ignores the instruction"


def _asked(facts: Mapping[str, Any]) -> str:
    """The instructions of a variant, or their number."""
    words = facts.get("instructions") or facts.get("steps") or [facts.get("forward"), facts.get("backward")]
    different = list(dict.fromkeys(str(word) for word in words if word))
    if len(different) > 3:
        return f"{len(different)} prompts in turn, the first: “{as_text(different[0])}”"
    return "; ".join(f"“{as_text(word)}”" for word in different)


def _made(source: RunSource, tally: Tally) -> list[str]:
    manifest = source.manifest
    sessions = [
        [
            as_text(one.get("started", "")),
            as_text(one.get("versions", {}).get("convergebench", "")),
            as_text((one.get("git") or {}).get("commit", ""))[:12]
            + ("+" if (one.get("git") or {}).get("dirty") else ""),
            as_text(one.get("platform", "")),
        ]
        for one in manifest.sessions
    ]
    ended = ", ".join(f"{count:,} {as_text(status)}" for status, count in tally.statuses.most_common())
    return [
        "## How it was made",
        f"By the study {as_code(manifest.study)} of ConvergeBench, run {as_code(manifest.name)} (manifest "
        f"sha256 `{source.manifest_sha256}`), begun {as_text(manifest.created)}. Images are the bytes that each editor "
        f"sent, never re-encoded. Chains: {ended}. The editors' calls cost ${tally.cost:,.2f}.",
        sheet(["commands that wrote to the run", "convergebench", "commit (+: changed files)", "platform"], sessions),
    ]


def _files(form: Format, tables: Sequence[Table], side: Mapping[Table, str], patches: PatchPlan | None) -> list[str]:
    lines = [f"- {line}" for line in form.layout()]
    if patches is not None:
        lines.append(
            f"- `patches/`: {patches.count} squares of {patches.side} pixels from every image (PNG), at positions "
            f"sampled once per source image (seed {patches.seed}) and kept through all its chains; mirrored and "
            f"rotated with the image where that was requested"
        )
    lines += [f"- `{file}`: {table.what}" for table, file in side.items()]
    lines.append("- `croissant.json`: machine-readable metadata; `checksums.sha256`: check with `sha256sum -c`")
    others = [f'load_dataset(FOLDER, "{table.name}")' for table in tables[1:]]
    others += [f'load_dataset(FOLDER, "{table.name}")' for table in side if form.name == "hf"]
    code = ["from datasets import load_dataset", f"{tables[0].name} = load_dataset(FOLDER)", *others]
    return ["## Files", "\n".join(lines), "```python\n" + "\n".join(code) + "\n```"]


def _columns(tables: Sequence[Table]) -> list[str]:
    paragraphs = ["## Columns"]
    for table in tables:
        rows = [[f"`{field.name}`", _type(field), field.what] for field in table.fields]
        paragraphs += [f"### {table.name}", sheet(["column", "type", "what it is"], rows)]
        paragraphs += [
            "Numbers in `measurements`: a plain name compares with the untouched source or measures the step itself; "
            "`_first` compares with step 1, `_lagN` with N rounds before, `_replicate` with run 0. They are: "
            + ", ".join(f"`{name}`" for name in field.names)
            + "."
            for field in table.fields
            if field.kind == "numbers"
        ]
    return paragraphs


def _type(field: Field) -> str:
    lists = {"texts": "list of text", "values": "list of numbers", "images": "list of images"}
    return {**lists, "numbers": "numbers by name", "flag": "true or false"}.get(field.kind, field.kind)


def _limits(source: RunSource, tally: Tally) -> list[str]:
    lines = []
    if tally.simulated:
        lines.append(
            "Simulated editors (" + ", ".join(as_code(name) for name in sorted(tally.simulated)) + ") are programs "
            "with a known outcome. Their images are no evidence about any generative model."
        )
    lines.append(
        f"{tally.source_count} source images ("
        + ", ".join(f"{count} chains start from {_ORIGINS[origin]}" for origin, count in sorted(tally.origins.items()))
        + "). Chains of one source are not independent: split and resample by source image."
    )
    if tally.without_picture:
        counts = ", ".join(f"{count:,} {status}" for status, count in sorted(tally.without_picture.items()))
        lines.append(f"Steps without an image: {counts}. Their chains end there, which is a result, not an error.")
    if tally.rows["labels"]:
        seen = ", ".join(f"{as_code(mode)} in {count}" for mode, count in tally.failures.most_common()) or "none seen"
        lines.append(f"Failure labels come from rules unless the table says otherwise; chains that show them: {seen}.")
    else:
        lines.append("The images were not examined for failure modes; `failures` is null throughout.")
    if not tally.rows["measurements"]:
        lines.append("Nothing was measured.")
    else:
        lines.append(
            f"Measurements use the alignment {as_code(source.align)}. None is a human judgement unless it says so."
        )
    lines.append("A provider may change a model under the same name; `started` and `model_id` record what is known.")
    return ["## Limits", "\n".join(f"- {line}" for line in lines)]


def _licences(tally: Tally, given: str | None, manifest: Manifest) -> list[str]:
    rows = [
        [as_text(licence), _meaning(licence), str(len(names)), f"{tally.licences[licence]:,}"]
        for licence, names in sorted(tally.source_licences.items())
    ]
    if given is not None and given not in tally.source_licences:
        rows.append([given, "chosen by the author of this data set", "0", f"{tally.licences[given]:,}"])
    sources = [
        f"- {as_code(name)}: {_credited(manifest.sources.get(name, {}), address)}"
        for name, address in sorted(tally.addresses.items())
    ]
    paragraphs = [
        "## Licences",
        "Every record states its own licence (`licence`) and that of its source (`source_licence`, "
        "`source_address`). The provider's terms for the outputs of an editor apply in addition.",
        sheet(["licence", "what it asks", "source images", "pictures under it"], rows),
    ]
    if tally.left_out:
        kept = ", ".join(f"{count:,} under {as_text(licence)}" for licence, count in tally.left_out.most_common())
        paragraphs.append(f"Left out, because the licence of their source restricts derived works: {kept}.")
    return [*paragraphs, "Sources:", "\n".join(sources)]


def _credited(source: Mapping[str, Any], address: str) -> str:
    """The line of credit that the source's licence asks for, then where its file comes from."""
    parts = [str(source.get("credit") or "").rstrip("."), address]
    return as_text(". ".join(part for part in parts if part))


def _meaning(text: str) -> str:
    licence = read_licence(text)
    if licence.unstated:
        return "unknown: clarify it before publishing"
    asked = [
        word
        for word, true in (
            ("not for sale", licence.non_commercial),
            ("no changed versions", licence.no_derivatives),
            ("derived works under the same licence", licence.share_alike),
            ("no redistribution", licence.closed),
        )
        if true
    ]
    if licence.free:
        return "nothing"
    return ", ".join([*(["credit"] if licence.id else ["read it"]), *asked])
