"""The page on claims: what it tells to type works, and its tables are what the checker says."""

from __future__ import annotations

import re

from convergebench.claims.check import check
from convergebench.claims.claim import KINDS
from convergebench.claims.read import SHIPPED, find, names_of, read_claims
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader

PAGE = ROOT / "docs" / "claims.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(letter: str) -> list[list[str]]:
    """The rows of the page's tables whose first cell is a claim."""
    found = re.findall(rf"^\| ({letter}\d+) \| (.*) \|$", TEXT, re.M)
    return [[identity, *rest.split(" | ")] for identity, rest in found]


def test_what_the_page_tells_to_type_works(reader: Reader) -> None:
    assert reader.page("docs/claims.md") == 5


def test_the_verdicts_on_the_page_are_the_checkers() -> None:
    checked = check([read_claims(find(name)) for name in SHIPPED])
    told = {
        result.claim.id: [
            result.claim.id,
            result.paper,
            result.claim.where,
            result.claim.sentence,
            "holds" if result.verdict == "holds" else f"**{result.verdict}**",
        ]
        for result in checked.results
    }
    assert rows("K") == [told[f"K{number}"] for number in range(1, 27)]
    waiting = [[one.id, one.where, one.sentence, one.reading or "as it stands"] for _, one in checked.waiting]
    assert sorted([*rows("B"), *rows("C"), *rows("N"), *rows("P")]) == sorted(waiting)


def test_every_kind_and_every_shipped_name_is_on_the_page() -> None:
    told = TEXT[TEXT.index("### Kinds of test") :]
    assert all(f"`{kind}`" in told for kind in KINDS)
    names = [word for name in SHIPPED for word in names_of(find(name))]
    assert all(f"--name {word}=" in TEXT for word in names if word != "metric")
