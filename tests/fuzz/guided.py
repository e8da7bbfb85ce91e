"""One target under atheris, in a process of its own: `python -m tests.fuzz.guided MODULE TARGET SECONDS FOLDER`.

It ends with 0 after that time, and otherwise leaves the input that broke the reader as `fault-…` in the folder.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

MEGABYTES = 3000
"""Most memory of the whole process."""
LONGEST = 1 << 17
"""Most bytes of an input."""


def main(module: str, name: str, seconds: str, place: str) -> None:
    """Feed inputs until the time is over or one breaks the reader."""
    import atheris  # type: ignore[import-untyped]

    with atheris.instrument_imports(include=["convergebench"], enable_loader_override=False):
        from tests.fuzz.table import targets
        from tests.fuzz.target import SECONDS, check

        target = targets(module)[name]
    warnings.simplefilter("ignore")
    folder = Path(place)
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    flags = [
        f"-max_total_time={seconds}",
        f"-rss_limit_mb={MEGABYTES}",
        f"-timeout={10 * int(SECONDS)}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/fault-",
        *("-close_fd_mask=1", "-print_final_stats=1", "-len_control=0"),
    ]

    def once(data: bytes) -> Any:
        check(target, data)

    atheris.Setup([f"fuzz-{name}", *flags, str(corpus)], once, internal_libfuzzer=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
