"""Small editors for engine tests: real images, no sleep unless asked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.virtual_time import run_virtually
from convergebench.engine.plan import Chain
from convergebench.engine.run import Engine, RunSummary
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.measuring.asking import AskingOutcome, asker_of, fill_in
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.progress import Progress
from convergebench.roles.base import Role
from convergebench.store.connection import connect
from convergebench.store.manifest import Manifest, write_manifest
from convergebench.store.run import Run
from convergebench.store.tables import CaseRow, ImageRow, TableRow
from convergebench.store.verify import problems
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Capabilities, Case, Edited, EditPair, EditRequest, Limits, SourceImage, State, Study

PAIR = EditPair("plus", "test", "preserving", ("scene",), "add one", "take one away", "change", "change")

FOUR_AT_ONCE = Limits(at_once=4)


def picture(value: int, size: int = 8) -> bytes:
    return encode_png(np.full((size, size, 3), value, np.uint8))


class CountingEditor:
    """Adds one to every pixel going forward, takes it away going back; counts its calls."""

    def __init__(
        self,
        name: str = "counting",
        *,
        limits: Limits = FOUR_AT_ONCE,
        dollars: float = 0.0,
        seconds: float = 0.0,
        before: Callable[[EditRequest], None] = lambda request: None,
        fingerprint: str = "counting@1",
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.capabilities = Capabilities(dollars_per_call=dollars, seconds_per_call=1.0)
        self.limits = limits
        self.requests: list[EditRequest] = []
        self.in_flight = self.most_in_flight = 0
        self._seconds, self._before = seconds, before

    @property
    def calls(self) -> int:
        return len(self.requests)

    async def edit(self, request: EditRequest) -> Edited:
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._seconds)
            self._before(request)
            pixels = decode(request.image).pixels
            change = 1 if request.instruction == "add one" else -1
            image = encode_png((pixels.astype(int) + change).astype(np.uint8))
            return Edited(image, "image/png", "counting", self.capabilities.dollars_per_call or 0.0)
        finally:
            self.in_flight -= 1


def source_image(name: str, value: int) -> SourceImage:
    data = picture(value)
    return SourceImage(name, "scene", hashlib.sha256(data).hexdigest(), 8, 8, "CC0", "test", lambda: data)


def state_of(image: SourceImage) -> State:
    return State(f"i1:{image.sha256}", f"i1:{image.sha256}")


def case_of(image: SourceImage, replicate: int = 0, pair: EditPair = PAIR) -> Case:
    return Case(f"{image.id}/{pair.label}/{replicate}", state_of(image), image.id, "scene", (pair,), replicate)


def begun(run: Run, images: list[SourceImage], cases: list[Case]) -> None:
    """Put sources and cases where `session.begin` would."""
    rows: list[TableRow] = []
    for image in images:
        identity = run.images.put(image.read(), "image/png")
        rows.append(ImageRow(identity, run.images.file_of(identity, "image/png"), "image/png", 8, 8, 1))
    for case in cases:
        rows.append(CaseRow(case.id, case.source_id, case.source.image, "scene", "plus", "test", case.replicate))
    run.journal.commit_now(rows)


def chains_of(cases: list[Case], rounds: int, editor: str = "counting", study: Study | None = None) -> list[Chain]:
    return [Chain(editor, case, study or RoundTrip(rounds), rounds) for case in cases]


IMAGES = [source_image("first", 50), source_image("second", 90)]
CASES = [case_of(image, replicate) for image in IMAGES for replicate in range(2)]


def walk(
    root: Path,
    editor: CountingEditor,
    *,
    rounds: int = 5,
    cases: list[Case] = CASES,
    virtual: bool = True,
    study: Study | None = None,
    **options: Any,
) -> tuple[RunSummary, float, Progress]:
    """One session over a run directory; (summary, virtual seconds, progress)."""
    progress = Progress()
    with Run.create(root) as run:
        begun(run, IMAGES, cases)
        engine = Engine(run, {editor.name: editor}, progress=progress, **options)
        work = engine.run(chains_of(cases, rounds, editor.name, study))
        summary, seconds = run_virtually(work) if virtual else (asyncio.run(work), 0.0)
    return summary, seconds, progress


def ask_missing(run: Run, metrics: Sequence[AskedMetric], roles: Mapping[str, Role], **options: Any) -> AskingOutcome:
    return asyncio.run(fill_in(asker_of(run, roles, **options), run, metrics))


def query(root: Path, text: str) -> list[tuple[Any, ...]]:
    connection = connect(root / "run.sqlite", read_only=True)
    rows = connection.execute(text).fetchall()
    connection.close()
    return rows


def faults(root: Path, fingerprint: str) -> list[str]:
    """What `cbench verify` would say of a run that has no manifest yet."""
    editors = {"counting": {"fingerprint": fingerprint}}
    write_manifest(root / "manifest.json", Manifest("run", "roundtrip", "", spec={}, fixed={}, editors=editors))
    return problems(root)
