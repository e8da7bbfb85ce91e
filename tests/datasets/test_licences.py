"""What a licence lets one do, read from whatever text a suite gives."""

from __future__ import annotations

import pytest

from convergebench.datasets.licences import covers, read_licence


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("CC0-1.0", "CC0-1.0"),
        ("public domain", "public domain"),
        ("CC BY 4.0", "CC-BY-4.0"),
        ("cc-by-nc-sa-4.0", "CC-BY-NC-SA-4.0"),
        ("CC-BY-NC-ND 4.0", "CC-BY-NC-ND-4.0"),
        ("https://creativecommons.org/licenses/by-nc/2.0/", "CC-BY-NC-2.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("Attribution-NonCommercial-ShareAlike License", "CC-BY-NC-SA-2.0"),
        ("Attribution License", "CC-BY-2.0"),
        ("No known copyright restrictions", "public domain"),
        ("Apache-2.0", "Apache-2.0"),
        ("CC BY", None),
        ("not stated", None),
        ("Apache-2.0 (data set); photographs as in COCO", None),
    ],
)
def test_a_licence_is_known_by_any_of_its_names(text: str, identity: str | None) -> None:
    assert read_licence(text).id == identity


@pytest.mark.parametrize(
    "text",
    [
        "CC-BY-NC-4.0",
        "CC BY-ND 4.0",
        "CC BY-NC",
        "free for non-commercial use",
        "research only",
        "no derivatives, please",
        "All rights reserved",
        "MIT / CC-BY-NC-4.0 badges",
        "cc_by_nc",
        "CC_BY_NC_SA",
        "No commercial use",
        "not for commercial use",
        "may not be used for commercial purposes",
        "commercial use is not allowed",
        "for research purposes only",
        "personal use only",
        "only for educational use",
        "no modifications allowed",
        "must not be altered",
        "not for redistribution",
        "https://creativecommons.org/licenses/by/4.0/ ; model release: non-commercial research only",
        "CC0: https://creativecommons.org/publicdomain/zero/1.0/ (do not redistribute)",
    ],
)
def test_what_forbids_changes_or_sale_is_restricted_wherever_it_says_so(text: str) -> None:
    assert read_licence(text).restricted


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("Photo: somebody, https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("CC BY-NC 2.0, https://creativecommons.org/licenses/by-nc/2.0/", "CC-BY-NC-2.0"),
        ("https://creativecommons.org/licenses/by/4.0/ ; no derivatives", None),
        ("https://creativecommons.org/licenses/by/4.0/ or https://creativecommons.org/licenses/by-sa/4.0/", None),
    ],
)
def test_an_address_names_the_licence_unless_the_words_around_it_ask_for_more(text: str, identity: str | None) -> None:
    assert read_licence(text).id == identity


@pytest.mark.parametrize(
    ("text", "understood"),
    [("MIT", True), ("not stated", True), ("CC BY-NC", True), ("GPL-3.0", False), ("ask my aunt", False)],
)
def test_a_licence_that_is_not_known_is_not_understood(text: str, understood: bool) -> None:
    assert read_licence(text).understood is understood


@pytest.mark.parametrize(
    "text",
    [
        "CC0-1.0",
        "CC-BY-4.0",
        "CC BY-SA 4.0",
        "MIT",
        "not stated",
        "public domain",
        "candid",
        "no known copyright restrictions",
    ],
)
def test_what_forbids_neither_is_not(text: str) -> None:
    assert not read_licence(text).restricted


@pytest.mark.parametrize(
    ("given", "source", "allowed"),
    [
        ("CC-BY-4.0", "CC0-1.0", True),
        ("CC-BY-4.0", "CC-BY-2.0", True),
        ("CC0-1.0", "CC-BY-4.0", False),  # the credit would be lost
        ("CC-BY-4.0", "CC-BY-SA-4.0", False),
        ("CC BY-SA 4.0", "CC-BY-SA-4.0", True),
        ("CC-BY-4.0", "CC-BY-NC-4.0", False),
        ("CC-BY-NC-4.0", "CC-BY-NC-4.0", True),
        ("CC-BY-4.0", "CC-BY-ND-4.0", False),
        ("CC-BY-4.0", "not stated", True),  # taken to be the exporter's own
        ("CC-BY-4.0", "ask my aunt", False),
    ],
)
def test_a_given_licence_holds_where_the_source_lets_it(given: str, source: str, allowed: bool) -> None:
    assert covers(read_licence(given), read_licence(source)) is allowed


@pytest.mark.parametrize(
    ("text", "word"),
    [("CC BY 4.0", "cc-by-4.0"), ("public domain", "other"), ("ODbL", "odbl"), ("", "unknown"), ("my own", "other")],
)
def test_the_card_uses_the_words_of_the_hub(text: str, word: str) -> None:
    assert read_licence(text).hub == word
