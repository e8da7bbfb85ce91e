"""What a fuzz target is, and what counts as a fault of its reader."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from convergebench.errors import ConvergeBenchError

SECONDS = 5.0
"""Most processor seconds for one input."""
BYTES = 400 << 20
"""Most memory that one input may add."""
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_numbers = count()


@dataclass(frozen=True)
class FuzzTarget:
    """One reader and where its mutations start from."""

    read: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    """Inputs made by code; the reader accepts the first."""
    errors: tuple[type[Exception], ...] = ()
    """Further one-line errors that this reader may raise."""


class ReaderFault(Exception):
    """A reader did what it must not do with some input."""


def check(target: FuzzTarget, data: bytes) -> str:
    """Feed one input; `accepted`, or the reader's one-line error. `ReaderFault` otherwise."""
    own: tuple[type[Exception], ...] = (ConvergeBenchError, *target.errors)
    _reset_peak()
    before, began = _resident("VmRSS"), time.process_time()
    try:
        target.read(data)
        told = "accepted"
    except own as error:
        told = str(error)
        if "\n" in told or not told.strip():
            raise ReaderFault(f"a message that is not one line: {told[:200]!r}") from error
    except MemoryError as error:
        raise ReaderFault("out of memory") from error
    except Exception as error:
        raise ReaderFault(f"{type(error).__name__}: {error}") from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ReaderFault(f"{type(error).__name__}: {error}") from error
    spent, grown = time.process_time() - began, _resident("VmHWM") - before
    if spent > SECONDS:
        raise ReaderFault(f"{spent:.1f} s for {len(data):,} bytes")
    if grown > BYTES:
        raise ReaderFault(f"{grown >> 20} MiB for {len(data):,} bytes")
    return told


@contextmanager
def as_file(data: bytes, suffix: str) -> Iterator[Path]:
    """The input as a file of a new name, in memory where the system allows it."""
    place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
    path = place / f"fuzz-{os.getpid()}-{next(_numbers)}{suffix}"
    path.write_bytes(data)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _reset_peak() -> None:
    with suppress(OSError):  # only Linux has it
        _RESET.write_text("5")


def _resident(field: str) -> int:
    """Bytes in memory now (VmRSS) or at most since the last reset (VmHWM); 0 where the system does not say."""
    try:
        text = _STATUS.read_text()
    except OSError:
        return 0
    return int(text.partition(f"{field}:")[2].split()[0]) << 10


@contextmanager
def as_folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A new folder with these files."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=place) as name:
        for file, data in files.items():
            path = Path(name) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(name)


def of_file(read: Callable[[Path], object], suffix: str) -> Callable[[bytes], None]:
    """A reader of bytes, from a reader of a file."""

    def reads(data: bytes) -> None:
        with as_file(data, suffix) as path:
            read(path)

    return reads
