"""Checks the paper against its tables: every claim of the text is in claims.toml, as it reads now, and holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from convergebench.claims.check import check
from convergebench.claims.read import read_claims
from paper import prose

CLAIMS = Path(__file__).resolve().parent / "claims.toml"
_SETTINGS = frozenset({"CopyImages", "RestorerImages", "MaximImages"})
"""Numbers that say how large an experiment is; they may be used outside claims."""
_ALLOWED = ("0.9", "0.8", "0.5", "0.1", "0.98", "1.02", "95%", "2.0")
"""Bare numbers that are definitions: levels, thresholds, the level of confidence, the version of a licence."""


def faults(numbers: Mapping[str, str], generated: Path, claims: Path = CLAIMS) -> list[str]:
    """One line for each sentence that claims.toml lacks, has otherwise, or that does not hold."""
    said = {identity: prose.plain(text, numbers) for identity, text in prose.claims().items()}
    file = read_claims(claims)
    listed = {claim.id: claim.sentence for claim in file.claims}
    found = [f"{name}: not in claims.toml: {said[name]}" for name in said if name not in listed]
    found += [f"{name}: not in the text: {listed[name]}" for name in listed if name not in said]
    found += [
        f"{name}: claims.toml has another sentence than the text: {said[name]}"
        for name in said
        if name in listed and listed[name] != said[name]
    ]
    for result in check([file], [generated]).results:
        if result.verdict != "holds":
            evidence = "; ".join(one.text for one in result.outcome.evidence)
            found.append(f"{result.claim.id} {result.verdict}: {result.claim.sentence} [{evidence}]")
    return found


def loose_numbers() -> list[str]:
    """Decimals and percentages in prose that are no macro, and result numbers outside claims."""
    found = []
    for file, text in prose.sources().items():
        if file == "convergebench.tex":
            continue
        outside = prose.without(text, "claim", 2)
        used = prose.MACRO.findall(outside)
        found += [f"{file}: \\N{name} is outside a claim" for name in used if name not in _SETTINGS]
        words = re.sub(
            r"\\includegraphics\[[^\]]*\]|\\label\{[^}]*\}|\\begin\{equation\}.*?\\end\{equation\}",
            "",
            text,
            flags=re.S,
        )
        for hit in re.finditer(r"\d+\.\d+|\d+(?:\.\d+)?(?:\\,|\s)?\\%", words.replace("~", " ")):
            number = hit[0].replace("\\,", "").replace("\\", "").replace(" ", "")
            before = words[max(0, hit.start() - 6) : hit.start()]
            if number not in _ALLOWED and "FLUX." not in before:
                found.append(f"{file}: the bare number {hit[0]}")
    return found


def unknown_macros(numbers: Mapping[str, str]) -> list[str]:
    """Macros that are used and not defined, or defined and not used."""
    used = {name for text in prose.sources().values() for name in prose.MACRO.findall(text)}
    return [f"\\N{name} is not defined" for name in sorted(used - set(numbers))] + [
        f"\\N{name} is not used" for name in sorted(set(numbers) - used)
    ]


def citations() -> list[str]:
    """Citations without an entry, and entries that are not cited."""
    text = "\n".join(prose.sources().values())
    cited = {key.strip() for keys in re.findall(r"\\cite[pt]?\{([^}]*)\}", text) for key in keys.split(",")}
    entries = re.findall(r"^@\w+\{([^,\s]+),", (prose.FOLDER / "references.bib").read_text(encoding="utf-8"), re.M)
    twice = sorted({key for key in entries if entries.count(key) > 1})
    return (
        [f"{key} is cited and has no entry" for key in sorted(cited - set(entries))]
        + [f"{key} has an entry and is not cited" for key in sorted(set(entries) - cited)]
        + [f"{key} has two entries" for key in twice]
    )
