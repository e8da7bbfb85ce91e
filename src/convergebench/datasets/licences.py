"""What a source's licence allows for pictures made from it.

A licence is free text (an SPDX id, an address, a Flickr phrase). Restrictions are found anywhere in the text, so that a
sentence with `non-commercial` in it is never taken for a free licence; an id is given only to text that is one, or that
holds its address and no further restriction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SPDX = {
    "cc0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "public-domain": "public domain",
    "pdm": "public domain",
    "pdm-1.0": "public domain",
    "no-known-copyright-restrictions": "public domain",
    "united-states-government-work": "public domain",
    "mit": "MIT",
    "apache-2.0": "Apache-2.0",
    "apache-license-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "unlicense": "Unlicense",
    "cdla-permissive-2.0": "CDLA-Permissive-2.0",
    "cdla-permissive-1.0": "CDLA-Permissive-1.0",
    "odbl": "ODbL-1.0",
    "odbl-1.0": "ODbL-1.0",
    "odc-by-1.0": "ODC-By-1.0",
}
_FREE = frozenset({"public domain", "CC0-1.0", "Unlicense"})
_SHARE_ALIKE = frozenset({"ODbL-1.0"})
_UNSTATED = frozenset({"", "not-stated", "unstated", "unknown", "none", "n/a", "unspecified"})

_CREATIVE = re.compile(r"^cc[- ]?by((?:[- ](?:nc|nd|sa))*)(?:[- ]?v?(\d\.\d))?$")
_ADDRESS = re.compile(r"creativecommons\.org/(?:licenses/(by[a-z-]*)/(\d\.\d)|publicdomain/(zero|mark)/1\.0)")
_PHRASE = re.compile(r"^attribution((?:-(?:noncommercial|noderivs|sharealike))*)-license$")
_PHRASES = {"noncommercial": "nc", "noderivs": "nd", "sharealike": "sa"}

_PRIVATE = "personal|private|research|academic|scientific|educational|editorial"
_NON_COMMERCIAL = re.compile(
    r"\bnc\b|non-? ?commercial|without commercial|\b(?:no|not|never)\b[^.;,]{0,30}\bcommercial"
    r"|\bcommercial[^.;,]{0,30}\b(?:prohibited|forbidden|not)\b"
    rf"|\b(?:{_PRIVATE})(?:[- ]\w+){{0,2}}[- ]only|\bonly for (?:{_PRIVATE})"
)
_NO_DERIVATIVES = re.compile(
    r"\bnd\b|no-? ?deriv|\bno[- ](?:modif|alter|chang|edit)|\bnot (?:be |to be )?(?:modif|alter|chang|edit)"
)
_SHARE = re.compile(r"\bsa\b|share-? ?alike")
_CLOSED = re.compile(
    r"all rights reserved|proprietary|no[- ](?:re)?distribution|\bnot (?:be |for |to be )?(?:re-?)?distribut"
)

_FLAGS = {
    "non_commercial": _NON_COMMERCIAL,
    "no_derivatives": _NO_DERIVATIVES,
    "share_alike": _SHARE,
    "closed": _CLOSED,
}

_HUB = frozenset(
    {
        *("mit", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "unlicense", "odbl", "odc-by", "cc0-1.0"),
        *("cdla-permissive-1.0", "cdla-permissive-2.0"),
        *(f"cc-by-{version}" for version in ("2.0", "2.5", "3.0", "4.0")),
        *(f"cc-by-sa-{version}" for version in ("3.0", "4.0")),
        *(f"cc-by-nc-{version}" for version in ("2.0", "3.0", "4.0")),
        *(f"cc-by-nc-sa-{version}" for version in ("2.0", "3.0", "4.0")),
        *(f"cc-by-nc-nd-{version}" for version in ("3.0", "4.0")),
        "cc-by-nd-4.0",
    }
)
"""Ids that the front matter of a card on the Hugging Face Hub may hold."""
_ADDRESSES = {"public domain": "https://creativecommons.org/publicdomain/mark/1.0/"}


@dataclass(frozen=True, slots=True)
class Licence:
    """The text of a licence and its meaning."""

    text: str
    id: str | None
    """SPDX id or `public domain`; None: unknown."""
    non_commercial: bool = False
    no_derivatives: bool = False
    share_alike: bool = False
    closed: bool = False
    """Forbids redistribution."""

    @property
    def unstated(self) -> bool:
        """Whether no licence is stated."""
        return _plain(self.text) in _UNSTATED

    @property
    def restricted(self) -> bool:
        """Whether it restricts the redistribution of pictures made from it."""
        return self.non_commercial or self.no_derivatives or self.closed

    @property
    def understood(self) -> bool:
        """Whether its meaning is known."""
        return self.id is not None or self.unstated or self.restricted

    @property
    def free(self) -> bool:
        """Whether it has no conditions."""
        return self.id in _FREE

    @property
    def hub(self) -> str:
        """As the front matter of a data-set card calls it."""
        if self.unstated:
            return "unknown"
        small = (self.id or "").lower()
        return next((known for known in (small, small.removesuffix("-1.0")) if known in _HUB), "other")

    @property
    def address(self) -> str:
        """Where it can be read, or the text itself."""
        if self.id is None:
            return self.text or "not stated"
        return _ADDRESSES.get(self.id, f"https://spdx.org/licenses/{self.id}.html")


def read_licence(text: str) -> Licence:
    """The licence that a text states."""
    plain = _plain(text)
    identity = _SPDX.get(plain) or _creative(plain) or _from_address(text)
    found = _flags(text) | _flags(identity or "")
    return Licence(
        text=text.strip(),
        id=identity,
        non_commercial="non_commercial" in found,
        no_derivatives="no_derivatives" in found,
        share_alike="share_alike" in found or identity in _SHARE_ALIKE,
        closed="closed" in found,
    )


def covers(given: Licence, source: Licence) -> bool:
    """Whether pictures made from a source under `source` may be published under `given`.

    A source without a stated licence counts as the exporter's own.
    """
    if source.unstated or source.free or _same(given, source):
        return True
    if source.id is None or source.restricted or source.share_alike:
        return False
    return not given.free and not given.unstated


def _same(one: Licence, other: Licence) -> bool:
    return one.id is not None and one.id == other.id


def _flags(text: str) -> set[str]:
    """The restrictions found anywhere in the text; `cc_by_nc` equals `CC BY-NC`."""
    plain = re.sub(r"[\s_]+", " ", text.lower())
    return {name for name, pattern in _FLAGS.items() if pattern.search(plain)}


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+", "-", text.strip().lower())


def _creative(plain: str) -> str | None:
    phrase = _PHRASE.match(plain)
    if phrase:  # as COCO and Flickr write them: version 2.0
        parts = [_PHRASES[part] for part in phrase[1].split("-") if part]
        return "-".join(["CC", "BY", *(part.upper() for part in parts), "2.0"])
    found = _CREATIVE.match(plain)
    if not found or not found[2]:  # without its version it is no SPDX id, but its flags still count
        return None
    return f"CC-BY{found[1].upper().replace(' ', '-')}-{found[2]}"


def _from_address(text: str) -> str | None:
    """The licence at the only address in the text, unless the text adds restrictions to it."""
    named = {_at(found) for found in _ADDRESS.finditer(text.lower())}
    if len(named) != 1:
        return None
    identity = named.pop()
    around = _flags(_ADDRESS.sub(" ", text.lower()))
    return identity if around <= _flags(identity) else None


def _at(found: re.Match[str]) -> str:
    if found[3]:
        return "CC0-1.0" if found[3] == "zero" else "public domain"
    return f"CC-{found[1].upper()}-{found[2]}"
