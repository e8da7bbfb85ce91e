"""A reply as it is kept: every word, and no picture."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.wire.raw import LONGEST_REPLY, LONGEST_TEXT, file_note, without_images

PICTURE = bytes(range(256)) * 12


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(PICTURE).decode(),
        base64.urlsafe_b64encode(PICTURE).decode().rstrip("="),
        base64.encodebytes(PICTURE).decode(),
        "data:image/png;base64," + base64.b64encode(PICTURE).decode(),
        PICTURE,
    ],
    ids=["base64", "for addresses", "in lines", "data", "bytes"],
)
def test_a_picture_becomes_its_size_and_checksum(written: Any) -> None:
    kept = json.loads(without_images({"data": [{"b64_json": written}], "n": 1}))
    assert kept == {"data": [{"b64_json": f"(3072 bytes, sha256 {hashlib.sha256(PICTURE).hexdigest()})"}], "n": 1}


def test_a_small_picture_in_an_address_goes_too() -> None:
    assert "bytes, sha256" in without_images("data:image/png;base64,aGVsbG8=")


def test_words_stay_however_long_they_are() -> None:
    words = "a long thought, with commas. " * 200
    assert json.loads(without_images({"thought": words})) == {"thought": words}


def test_the_longest_text_and_the_longest_reply_are_kept_whole() -> None:
    longest = "w," * (LONGEST_TEXT // 2)
    assert json.loads(without_images(longest)) == longest
    assert json.loads(without_images(f"{longest}.")) == f"{longest}… (1 more characters)"
    reply = ["w" * 998] * (LONGEST_REPLY // 1001)
    rest = LONGEST_REPLY - len(without_images(reply))
    kept = without_images([*reply[:-1], "w" * (998 + rest)])
    assert len(kept) == LONGEST_REPLY
    assert "too many to be kept" in without_images([*reply[:-1], "w" * (999 + rest)])


def test_an_address_that_only_begins_like_data_stays() -> None:
    assert json.loads(without_images("data: we keep none")) == "data: we keep none"


def test_halves_of_characters_which_no_file_can_hold_are_replaced() -> None:
    kept = without_images(json.loads('{"said": "hat \\ud83d", "\\udc00": 1}'))
    assert json.loads(kept) == {"said": "hat ?", "?": 1}
    assert kept.encode()


def test_what_is_nested_beyond_reason_is_no_crash() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in without_images(deep)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=5), part, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_everything_else_is_kept_word_for_word(reply: Any) -> None:
    assert json.loads(without_images(reply)) == reply


@given(st.binary(min_size=1600, max_size=3000))
def test_no_picture_is_ever_kept(data: bytes) -> None:
    assert json.loads(without_images([base64.b64encode(data).decode()])) == [file_note(data)]
