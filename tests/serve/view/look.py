"""A person at the viewer: opens addresses, waits for what must come, looks at pixels."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from tests.browser import BrowserPage

PATIENCE = 20.0


class Looker(BrowserPage):
    """A page of the viewer at `base`."""

    def __init__(self, browser: Any, base: str, **options: Any) -> None:
        super().__init__(browser, **options)
        self.base = base
        self.page.emulate_media(reduced_motion="reduce")

    def open(self, path: str) -> None:
        """Go there and wait until the page says that it is drawn."""
        self.page.goto(self.base + path)
        self.until("document.body.dataset.ready")

    def until(self, expression: str, *, patience: float = PATIENCE) -> Any:
        """The first true value of a JavaScript expression."""
        end = time.monotonic() + patience
        while True:
            found = self.page.evaluate(expression)
            if found:
                return found
            assert time.monotonic() < end, f"still false: {expression}; at {self.page.url}; errors: {self.errors}"
            self.page.wait_for_timeout(30)

    def press(self, *keys: str) -> None:
        """One key after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        """The visible words of the first such element."""
        return str(self.page.locator(selector).first.inner_text())

    def texts(self, selector: str) -> list[str]:
        """The words of all such elements."""
        return [str(found) for found in self.page.locator(selector).all_inner_texts()]

    def shown(self, step: int, mode: str = "side", against: str = "source", beside: str = "") -> None:
        """Wait until the explorer shows exactly this."""
        self.until(f"document.body.dataset.shown === '{step}:{mode}:{against}:{beside}'")
        self.until("[...document.querySelectorAll('.pane')].every(one => one.dataset.drawn)")
        self.page.wait_for_timeout(80)  # one frame of the canvas

    def pixels(self, selector: str, place: int = 0) -> npt.NDArray[np.uint8]:
        """The pixels of an element as they are on the screen, without the labels on it."""
        self.page.evaluate("document.querySelectorAll('.pane .name, .divider').forEach(one => one.style.opacity = 0)")
        box = self.page.locator(selector).nth(place).bounding_box()
        data = self.page.screenshot(clip=box)
        self.page.evaluate("document.querySelectorAll('.pane .name, .divider').forEach(one => one.style.opacity = 1)")
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@contextmanager
def looking(browser: Any, base: str, **options: Any) -> Iterator[Looker]:
    """A page that must end without an error of a script and without a request to another machine."""
    found = Looker(browser, base, **options)
    try:
        yield found
        assert found.errors == []
    finally:
        found.close()


Opened = Callable[..., Looker]
