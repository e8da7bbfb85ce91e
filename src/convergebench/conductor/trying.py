"""Trying an editor on one picture: a round-trip study of one chain, made in a process of its own and kept as a run."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.conductor.observer import Observer
from convergebench.conductor.options import RunOptions
from convergebench.editors._table import TABLE
from convergebench.editors.base import lacks
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import find_model, models
from convergebench.edits.pairs import load_pairs
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.images.decode import decode
from convergebench.images.folder import slug
from convergebench.processes import end_workers, worker_pool
from convergebench.registry import load, names, suggest
from convergebench.store.run import is_complete
from convergebench.types import Editor, EditPair, SourceImage

PAIRS = ("v1",)
MOST_ROUNDS = 50
MOST_PIXELS = 24_000_000
METRICS = ("psnr", "ssim", "ms-ssim", "gmsd", "delta-e", "rmse", "sharpness", "noise", "saturation")
"""Quick ones that need nothing beyond the package: curves should follow the images."""
PATIENCE = 60.0
"""Seconds in which a run must have begun."""
OTHER_WORDS = ("sim-restorer", "sim-studio", "sim-studio-clumsy")
"""Editors that read other instructions than those of pairs."""
_LOCAL = "local"


@dataclass(frozen=True)
class ReadyEditor:
    """An editor that can be tried here: nothing to pay, no key and no download."""

    name: str
    summary: str
    pairs: tuple[EditPair, ...]
    """Those that it understands."""


@dataclass(frozen=True)
class TryRequest:
    """What to try."""

    picture: bytes
    name: str
    """Of the file; part of the picture's name in the run."""
    editor: str
    pair: str
    rounds: int


def ready_editors() -> list[ReadyEditor]:
    """Every editor of this package that is ready here, by name."""
    return sorted(_ready(), key=lambda one: (not one.name.startswith(("sim", "inpaint")), one.name))


def _ready() -> Iterator[ReadyEditor]:
    own = [name for name in names("editors") if name in TABLE]
    local = [one.id for one in models().values() if one.provider == _LOCAL]
    for name in dict.fromkeys((*own, *local)):
        with suppress(ConvergeBenchError):  # it needs options, such as a folder
            yield from _if_ready(name)


def _if_ready(name: str) -> Iterator[ReadyEditor]:
    model = find_model(name)
    if name in OTHER_WORDS or (model is not None and model.provider != _LOCAL):
        return
    editor = make_editor(name)
    pairs = _pairs(editor)
    if pairs and editor.capabilities.dollars_per_call == 0 and not lacks(editor):
        yield ReadyEditor(name, model.about if model else _summary(name), pairs)


def _summary(name: str) -> str:
    text = (load("editors", name).__doc__ or "").strip().partition("\n")[0]
    return str(text).removeprefix(f"`{name}`: ")


def _pairs(editor: Editor) -> tuple[EditPair, ...]:
    """The pairs whose words it understands; all words are the same to an editor that reads none."""
    found = load_pairs(PAIRS)
    understands = getattr(editor, "understands", None)
    if not editor.capabilities.instructed:
        return tuple(pair for pair in found if pair.id == "red-ball")
    if not callable(understands):
        return found
    return tuple(pair for pair in found if understands(pair.forward) and understands(pair.backward))


def check_try(request: TryRequest, ready: Mapping[str, ReadyEditor]) -> SourceImage:
    """The picture as the image that the run starts from; `StudyError` says what is wrong with the request."""
    if request.editor not in ready:
        raise StudyError(f"editor '{request.editor}' is not ready here{suggest(request.editor, ready)}")
    pairs = {pair.id: pair for pair in ready[request.editor].pairs}
    if request.pair not in pairs:
        raise StudyError(f"{request.editor} cannot do '{request.pair}'{suggest(request.pair, pairs)}")
    if not 1 <= request.rounds <= MOST_ROUNDS:
        raise StudyError(f"rounds is a number from 1 to {MOST_ROUNDS}")
    frame = decode(request.picture, what="your picture", max_pixels=MOST_PIXELS)
    data = request.picture
    return SourceImage(
        id=_picture_id(request.name),
        kind=pairs[request.pair].kinds[0],
        sha256=hashlib.sha256(data).hexdigest(),
        width=frame.width,
        height=frame.height,
        licence="not stated",
        source="your own picture, given on the page 'try it'",
        read=lambda: data,
        title="Your picture",
    )


def _picture_id(name: str) -> str:
    stem = slug(re.split(r"[/\\]", name)[-1].rpartition(".")[0])[:40].strip("-._")
    return f"your-picture-{stem}" if stem and stem != "image" else "your-picture"


def carry_out(root: Path, request: TryRequest) -> str:
    """Make the run; the reason if it stopped early, else nothing. Runs in a process of its own."""
    from convergebench.conductor.running import plan, run
    from convergebench.studies.spec import parse_spec

    ready = {one.name: one for one in _if_ready(request.editor)}
    spec = parse_spec(
        {
            "title": f"Try it: {request.editor} on your picture",
            "study": "roundtrip",
            "roundtrip": {"rounds": request.rounds},
            "editors": [request.editor],
            "edits": {"pairs": [request.pair]},
            "measure": {"metrics": list(METRICS)},
        }
    )
    planned = plan(spec, root, sources=[check_try(request, ready)])
    done = run(planned, RunOptions(report=False, workers=1, max_cost=0.0), Observer())
    return done.stopped or done.failed or ""


def _warm() -> None:
    """Load what a run needs, before the first one is asked for."""
    import convergebench.conductor.running  # noqa: F401


class Trying:
    """Makes runs below a folder, one at a time. Safe to call from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._ready: dict[str, ReadyEditor] = {}
        self._pool: ProcessPoolExecutor | None = None
        self._running: tuple[str, Future[str]] | None = None

    def ready(self) -> dict[str, ReadyEditor]:
        """The editors that are ready, looked up once."""
        with self._lock:
            if not self._ready:
                self._ready = {one.name: one for one in ready_editors()}
                self._worker().submit(_warm)
            return self._ready

    @property
    def running(self) -> str:
        """The name of the run that is being made; else empty."""
        now = self._running
        return now[0] if now is not None and not now[1].done() else ""

    def begin(self, request: TryRequest) -> str:
        """Start a run and wait until it can be looked at; its name."""
        check_try(request, self.ready())
        with self._lock:
            if self.running:
                raise StudyError(f"{self.running} is still being made; wait for it, or stop it")
            root = self._new_folder(request)
            work = self._worker().submit(carry_out, root, request)
            self._running = (root.name, work)
        until = time.monotonic() + PATIENCE
        while not is_complete(root) and not work.done() and time.monotonic() < until:
            time.sleep(0.05)
        if not is_complete(root):
            self.stop(root.name)
            with suppress(OSError):
                root.rmdir()  # only if nothing was written
            self._explain(work)
            raise StudyError("the run did not begin; see: cbench run --help")
        return root.name

    def stop(self, name: str) -> None:
        """Let the call in flight finish and end; what was made stays, and the same run can be continued."""
        if self.running != name:
            return
        with self._lock:
            self._close_pool()

    def close(self) -> None:
        """Stop whatever is being made."""
        with self._lock:
            self._close_pool()

    def _worker(self) -> ProcessPoolExecutor:
        broken = self._running is not None and self._running[1].done() and _was_killed(self._running[1])
        if broken:
            self._close_pool()
        if self._pool is None:
            self._pool = worker_pool(1)
        return self._pool

    def _close_pool(self) -> None:
        if self._pool is not None:
            end_workers(self._pool)
            self._pool = None

    def _explain(self, work: Future[str]) -> None:
        if work.done() and not work.cancelled():
            error = work.exception()
            if isinstance(error, ConvergeBenchError):
                raise error
            if error is not None:
                raise StudyError(f"the run did not begin: {type(error).__name__}") from error

    def _new_folder(self, request: TryRequest) -> Path:
        """A new, empty folder with a name that nobody else has."""
        for number in range(1, 100_000):
            root = self.folder / f"try-{number:03}-{slug(request.editor)}-{slug(request.pair)}"
            if any(self.folder.glob(f"try-{number:03}-*")):
                continue
            try:
                root.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise StudyError(f"{self.folder} cannot be written: {error.strerror or error}") from error
            return root
        raise StudyError(f"{self.folder} is full of tries; remove some")


def _was_killed(work: Future[str]) -> bool:
    return not work.cancelled() and isinstance(work.exception(), BrokenProcessPool)


def pair_rows(ready: ReadyEditor) -> list[dict[str, Any]]:
    """The pairs of an editor as a page shows them."""
    return [{"name": pair.id, "forward": pair.forward, "backward": pair.backward} for pair in ready.pairs]
