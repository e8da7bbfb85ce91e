"""Decoding ahead: every image once, in whatever order it is asked for, never more than a few in memory."""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest

from convergebench.images.frame import Pixels
from convergebench.measuring.decode_ahead import AHEAD, DecodeAhead


class Reader:
    """Counts what is read; an image's pixels hold its number."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, identity: str) -> Pixels:
        with self._lock:
            self.read[identity] += 1
        if identity == "damaged":
            raise OSError("damaged")
        return np.full((1, 1, 3), int(identity), np.uint8)


def test_each_image_is_read_once_and_is_the_one_asked_for() -> None:
    reader, order = Reader(), [str(number) for number in range(40)]
    with DecodeAhead([*order, *order], reader, threads=3) as ahead:
        assert [int(ahead.get(one)[0, 0, 0]) for one in order] == list(range(40))
    assert reader.read == Counter(order)


def test_only_a_few_wait() -> None:
    reader, order = Reader(), [str(number) for number in range(200)]
    with DecodeAhead(order, reader, threads=2) as ahead:
        ahead.get("0")
    assert len(reader.read) <= 2 * AHEAD + 1


def test_images_that_nobody_asks_for_do_not_stop_it() -> None:
    reader, order = Reader(), [str(number) for number in range(100)]
    with DecodeAhead(order, reader, threads=1) as ahead:
        for one in order[50:]:
            assert int(ahead.get(one)[0, 0, 0]) == int(one)


def test_an_error_comes_with_its_image_and_harms_no_other() -> None:
    with DecodeAhead(["1", "damaged", "2"], Reader(), threads=2) as ahead:
        assert int(ahead.get("2")[0, 0, 0]) == 2
        with pytest.raises(OSError, match="damaged"):
            ahead.get("damaged")
        assert int(ahead.get("1")[0, 0, 0]) == 1


def test_an_image_that_was_not_announced_is_read_all_the_same() -> None:
    with DecodeAhead(["1"], Reader(), threads=1) as ahead:
        assert int(ahead.get("7")[0, 0, 0]) == 7
