"""Faults put into the engine and the store by hand: a gauntlet that lets one of them through is no gauntlet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from convergebench.editors.providers.remote import RemoteEditor
from convergebench.engine import call_group, caller, edit_calls, part_calls
from convergebench.engine.attempt import Charge, charge_of
from convergebench.engine.ledger import Budget, Ledger
from convergebench.engine.received import store_image
from convergebench.engine.run import Engine
from convergebench.ids import image_id
from convergebench.images.decode import probe
from convergebench.store import images
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
from convergebench.store.tables import AttemptRow, ImageRow
from convergebench.store.unfinished import PART

Mutation = Callable[[], AbstractContextManager[Any]]


@contextmanager
def row_before_image() -> Iterator[None]:
    """The step is journalled, and its image is written when the next one comes."""
    late: list[tuple[ImageStore, Any, Any, str]] = []

    def lazily(store: ImageStore, edited: Any, editor: Any, name: str) -> ImageRow:
        for one in late:
            store_image(*one)
        late[:] = [(store, edited, editor, name)]
        mime, width, height = probe(edited.image)
        identity = image_id(edited.image)
        return ImageRow(identity, store.file_of(identity, mime), mime, width, height, len(edited.image))

    with patch.object(edit_calls, "store_image", lazily):
        yield


def forgotten_intent() -> AbstractContextManager[Any]:
    """Calls are journalled only when they are answered."""
    real = Ledger.call
    return patch.object(Ledger, "call", lambda self, attempt, *, intent=True: real(self, attempt, intent=False))


def stored_answers_ignored() -> AbstractContextManager[Any]:
    """A step is requested again though the journal has it."""
    return patch.object(edit_calls.EditorEndpoint, "known", lambda self, key: None)


def stored_parts_ignored() -> AbstractContextManager[Any]:
    """A composed editor pays again for parts that were answered."""

    async def unknown(self: object, key: str) -> None:
        return None

    return patch.object(part_calls.PartCalls, "_known", unknown)


def promised_before_written() -> AbstractContextManager[Any]:
    """`commit` returns at once and the rows are written with those of the next one."""

    async def commit(self: Journal, rows: Any) -> None:
        batches, self._pending = self._pending, []
        self._queued(rows)
        self._written(batches)

    return patch.object(Journal, "commit", commit)


def lost_rows_reported_as_written() -> AbstractContextManager[Any]:
    """A full disk is passed over."""
    real = Journal._transaction

    def transaction(self: Journal, rows: Any) -> None:
        try:
            real(self, rows)
        except Exception:
            return

    return patch.object(Journal, "_transaction", transaction)


def rows_one_by_one() -> AbstractContextManager[Any]:
    """No transaction: each row is committed alone."""

    def transaction(self: Journal, rows: Any) -> None:
        for row in rows:
            self._write.execute("begin immediate")
            self._write_row(row)
            self._write.execute("commit")

    return patch.object(Journal, "_transaction", transaction)


def cut_off_is_free() -> AbstractContextManager[Any]:
    """A reply that did not come whole is counted at nothing."""
    return patch.object(
        caller, "charge_of", lambda error, price: Charge(0.0) if error.unsettled else charge_of(error, price)
    )


def budget_of_one_session() -> AbstractContextManager[Any]:
    """The limit forgets what earlier sessions spent."""
    return patch.object(call_group, "Budget", lambda limit, *, spent: Budget(limit))


def budget_not_reserved() -> AbstractContextManager[Any]:
    """Calls in flight do not count towards the limit."""

    def reserve(self: Budget, dollars: float) -> None:
        reserved, self.reserved = self.reserved, 0.0
        try:
            Budget_reserve(self, dollars)
        finally:
            self.reserved += reserved

    Budget_reserve = Budget.reserve
    return patch.object(Budget, "reserve", reserve)


def corrupt_images_kept() -> AbstractContextManager[Any]:
    """An image is stored unseen: neither the editor nor the engine, which both look, checks its bytes."""

    def unchecked(store: ImageStore, edited: Any, editor: Any, name: str) -> ImageRow:
        identity = store.put(edited.image, edited.mime)
        return ImageRow(identity, store.file_of(identity, edited.mime), edited.mime, 8, 8, len(edited.image))

    def received(self: RemoteEditor, data: bytes, **_: Any) -> tuple[bytes, str]:
        return data, "image/png"

    return _all([patch.object(edit_calls, "store_image", unchecked), patch.object(RemoteEditor, "received", received)])


def images_not_synced() -> AbstractContextManager[Any]:
    """Images are renamed into place before their bytes are on the disk."""

    def write(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{PART}{path.name}")
        part.write_bytes(data)
        part.replace(path)
        images.sync_folder(path.parent)

    return patch.object(images, "write_synced", write)


def folders_not_synced() -> AbstractContextManager[Any]:
    """The names of new images and folders are not on the disk."""
    return patch.object(images, "sync_folder", lambda folder: None)


def images_not_renamed() -> AbstractContextManager[Any]:
    """Images are written where they belong, byte by byte."""

    def write(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            os.fsync(file.fileno())
            file.write(data[len(data) // 2 :])
            file.flush()
            os.fsync(file.fileno())
        images.sync_folder(path.parent)

    return patch.object(images, "write_synced", write)


def failed_chains_called_finished() -> AbstractContextManager[Any]:
    """A chain whose step failed is never taken up again."""
    real = Engine._chain_row

    def row(self: Engine, chain: Any, status: str, detail: str, rounds: int) -> Any:
        return real(self, chain, "finished" if status == "failed" else status, detail, rounds)

    return patch.object(Engine, "_chain_row", row)


def seeds_by_attempt() -> AbstractContextManager[Any]:
    """A step's seed depends on the attempts at it."""
    real = edit_calls.EditorEndpoint.prepare

    async def prepare(self: Any, request: Any, number: int, row_numbers: Any) -> Any:
        other = replace(request.edit, settings=replace(request.edit.settings, seed=number))
        return await real(self, replace(request, edit=other), number, row_numbers)

    return patch.object(edit_calls.EditorEndpoint, "prepare", prepare)


def leftovers_kept() -> AbstractContextManager[Any]:
    """Half-written files of a killed session stay for ever."""
    return patch.object(ImageStore, "sweep", lambda self: 0)


def retries_counted_once() -> AbstractContextManager[Any]:
    """The second attempt at a step replaces the first one's row, cost and all."""
    real = Journal._write_row

    def write(self: Journal, row: Any) -> None:
        if isinstance(row, AttemptRow) and row.outcome != "unknown":
            self._write.execute("delete from attempts where step = ? and part = ''", (row.step,))
        real(self, row)

    return patch.object(Journal, "_write_row", write)


def keys_not_redacted() -> AbstractContextManager[Any]:
    """What a server says is stored as it is."""
    stack = [
        patch(f"convergebench.{place}.redact", str)
        for place in ("engine.attempt", "engine.run", "engine.channel", "wire.client")
    ]
    return _all(stack)


@contextmanager
def _all(several: list[Any]) -> Iterator[None]:
    for one in several:
        one.start()
    try:
        yield
    finally:
        for one in several:
            one.stop()


MUTATIONS: tuple[Mutation, ...] = (
    row_before_image, forgotten_intent, stored_answers_ignored, stored_parts_ignored, promised_before_written,
    lost_rows_reported_as_written, rows_one_by_one, cut_off_is_free, budget_of_one_session, budget_not_reserved,
    corrupt_images_kept, images_not_synced, folders_not_synced, images_not_renamed, failed_chains_called_finished,
    seeds_by_attempt, leftovers_kept, retries_counted_once, keys_not_redacted,
)  # fmt: skip
