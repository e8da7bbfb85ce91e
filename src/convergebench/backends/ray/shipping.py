"""Images of a task on their way to a machine: through Ray's object store, each once, and only so many at a time.

The folder of a run need not be visible from the machines of a cluster, and a network disk that is must not be trusted
to show a file that was just written. So the command's process reads and checks the files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

SHARE = 0.25
"""Of the smallest machine's object store: what images under way may take."""
SMALLEST_ROOM = 8_000_000

T = TypeVar("T")


@runtime_checkable
class ImageTask(Protocol):
    """A task that reads images of the run: a dataclass with the field `images`."""

    images: Any

    def reads(self) -> Mapping[str, str | None]:
        """File → image id, where that must be checked."""


@dataclass(frozen=True)
class ShippedImages:
    """Reads images that were sent with the task."""

    references: Mapping[str, Any]
    """File → object of the store."""
    faults: Mapping[str, Exception]
    """File → why it could not be read."""

    def read(self, file: str, identity: str | None = None) -> bytes:
        """The bytes of a file; they were checked before they were sent."""
        if file in self.faults:
            raise self.faults[file]
        import ray

        data: bytes = ray.get(self.references[file])
        return data


class Shipping:
    """Puts the images of tasks into the object store and keeps them there while a task may read them."""

    def __init__(self, room: float, in_thread: Callable[..., Any]) -> None:
        self._room = max(SMALLEST_ROOM, room)
        self._in_thread = in_thread
        self._kept: dict[str, tuple[Any, int]] = {}
        self._users: dict[str, int] = {}
        self._bytes = 0
        self.most_bytes = 0
        """The most that was ever under way."""
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    async def load(self, task: T) -> tuple[T, list[str]]:
        """The task with its images in the store, and what `unload` is to be given when it is done."""
        if not isinstance(task, ImageTask):
            return task, []
        wanted = task.reads()
        async with self._turn:  # one task at a time, so that at most one is larger than the room
            while self._users and self._bytes >= self._room:
                self._freed.clear()
                await self._freed.wait()
            references: dict[str, Any] = {}
            faults: dict[str, Exception] = {}
            try:
                for file, identity in wanted.items():
                    try:
                        references[file] = await self._put(task.images, file, identity)
                    except Exception as error:  # raised where the file is read, as if it were read there
                        faults[file] = error
            except BaseException:
                self.unload(list(references))
                raise
        return replace(task, images=ShippedImages(references, faults)), list(references)  # type: ignore[type-var]

    def unload(self, files: list[str]) -> None:
        """A task no longer reads these files."""
        for file in files:
            self._users[file] -= 1
            if not self._users[file]:
                del self._users[file]
                self._bytes -= self._kept.pop(file)[1]
        self._freed.set()

    async def _put(self, images: Any, file: str, identity: str | None) -> Any:
        import ray

        if file not in self._kept:
            data = await self._in_thread(images.read, file, identity)
            self._kept[file] = (await self._in_thread(ray.put, data), len(data))
            self._bytes += len(data)
            self.most_bytes = max(self.most_bytes, self._bytes)
        self._users[file] = self._users.get(file, 0) + 1
        return self._kept[file][0]
