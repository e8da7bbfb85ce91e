"""What a server sends is unpacked within its limit, however it is packed."""

from __future__ import annotations

import asyncio
import gzip
import resource
import time
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.errors import BadReply, Transient
from convergebench.wire.client import HttpReply, Wire
from convergebench.wire.unpack import LONGEST_FAILURE, read_body
from tests.editors.providers.loopback import Answer, serving
from tests.wire.bombs import bomb, packing


def unpacked(data: bytes, encoding: str, *, most: int = 1_000_000, step: int = 1000, status: int = 200) -> bytes:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(data), step):
            yield data[start : start + step]

    return asyncio.run(read_body(pieces(), encoding, where="http://there", status=status, most=most))


def get(told: Answer, **options: int) -> HttpReply:
    async def once(address: str) -> HttpReply:
        wire = Wire(address, seconds=20)
        try:
            return await wire.send("GET", "/", **options)  # type: ignore[arg-type]
        finally:
            await wire.close()

    with serving(lambda asked, server: told) as server:
        return asyncio.run(once(server.address))


@given(st.binary(max_size=3000), st.sampled_from(["", "identity", "gzip", "x-gzip", "deflate", "gzip, deflate"]))
def test_what_was_packed_comes_out_as_it_went_in(data: bytes, encoding: str) -> None:
    packed = data
    for name in encoding.split(", "):
        if name == "deflate":
            packed = zlib.compress(packed)
        elif "gzip" in name:
            packed = gzip.compress(packed)
    for step in (1, 7, 5000):
        assert unpacked(packed, encoding, step=step) == data


@given(st.integers(1, 5000), st.integers(0, 5000), st.sampled_from(["", "gzip", "gzip, gzip"]))
def test_no_more_than_the_limit_is_ever_unpacked(length: int, most: int, encoding: str) -> None:
    stages = [b"x" * length]
    for _ in encoding.split(", ") if encoding else ():
        stages.append(gzip.compress(stages[-1]))
    packed = stages[-1]
    if all(len(stage) <= most for stage in stages):
        assert unpacked(packed, encoding, most=most) == b"x" * length
        return
    with pytest.raises(BadReply, match="does not end") as endless:
        unpacked(packed, encoding, most=most)
    assert endless.value.unsettled
    assert len(unpacked(packed, encoding, most=most, status=500)) <= most


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "compress", "gzip, gzip, gzip", "gzip," * 5000, "gzip, br", "\udcff"]
)
def test_packing_that_nobody_asked_for_is_a_bad_reply(encoding: str) -> None:
    with pytest.raises(BadReply, match="was not requested") as odd:
        unpacked(b"x", encoding)
    assert odd.value.unsettled


@pytest.mark.parametrize("kept", [1, 9, -9, -1])
def test_a_packed_body_that_ends_too_early_is_cut_short(kept: int) -> None:
    with pytest.raises(Transient, match="cut short") as cut:
        unpacked(gzip.compress(b"some words" * 50)[:kept], "gzip")
    assert cut.value.unsettled


def test_a_body_that_is_not_packed_as_told_is_a_passing_trouble() -> None:
    with pytest.raises(Transient, match="cannot be decompressed") as wrong:
        unpacked(b"no gzip", "gzip")
    assert wrong.value.unsettled


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_failure_that_cannot_be_read_is_still_known_by_its_status(encoding: str) -> None:
    answer = get(Answer(401, b"no gzip", {"Content-Encoding": encoding}))
    assert (answer.status, answer.data) == (401, b"")


def test_an_answer_without_a_body_is_whole() -> None:
    assert unpacked(b"", "gzip") == b""


@pytest.mark.parametrize("layers", [1, 2, 3, 6])
@pytest.mark.parametrize("status", [200, 500])
def test_ten_gigabytes_in_a_few_kilobytes_fill_no_memory(layers: int, status: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    told = Answer(status, bomb(layers), packing(layers))
    if status == 200:
        with pytest.raises(BadReply) as given_up:
            get(told)
        assert given_up.value.unsettled
    else:
        assert len(get(told).data) == (LONGEST_FAILURE if layers <= 2 else 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB
    assert time.process_time() - begun < 5


def test_a_long_failure_is_read_and_told_at_once() -> None:
    """Sixty megabytes of words about an error: nobody waits for them, and the first line is what is shown."""
    from convergebench.wire.verdict import classify_failure

    begun = time.monotonic()
    answer = get(Answer(500, b'{"error": {"message": "out of order: ' + b"much to say \\u0041 &amp; %41 " * 2_200_000))
    verdict = classify_failure(answer)
    assert time.monotonic() - begun < 2
    assert "out of order: much to say" in verdict.message
    assert len(verdict.message) < 500
    assert len(verdict.raw) < 500
