"""A browser window through Playwright, for tests that look at pages: scripts, keys, and what the page complains of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.browser import PATIENCE, chromium

WIDTH, HEIGHT = 1280, 900


class Keys:
    """Names of keys."""

    ENTER, ESCAPE, ARROW_LEFT, SPACE = "Enter", "Escape", "ArrowLeft", "Space"


NAMED = (Keys.ENTER, Keys.ESCAPE, Keys.ARROW_LEFT)


class Element:
    """One element of the page."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    @property
    def text(self) -> str:
        return str(self.handle.inner_text())

    def click(self) -> None:
        self.handle.click()

    def send_keys(self, keys: str) -> None:
        """One named key, or the keys of a text one after the other."""
        for key in (keys,) if keys in NAMED else keys:
            self.handle.press(Keys.SPACE if key == " " else key)

    def is_displayed(self) -> bool:
        return bool(self.handle.is_visible())

    def get_attribute(self, name: str) -> str | None:
        inside = name == "innerHTML"
        found = self.handle.inner_html() if inside else self.handle.get_attribute(name)
        return None if found is None else str(found)

    def find_elements(self, how: str, what: str) -> list[Element]:
        return [Element(one) for one in self.handle.query_selector_all(_selector(how, what))]

    def find_element(self, how: str, what: str) -> Element:
        return self.find_elements(how, what)[0]


class Window:
    """A window with a profile of its own."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self._protocol = self.context.new_cdp_session(self.page)  # what is emulated lasts as long as its session
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, said: Any) -> None:
        if said.type == "error":
            self.complaints.append(f"{said.location.get('url', '')} {said.text}")

    def get(self, address: str) -> None:
        self.page.goto(address)

    def refresh(self) -> None:
        self.page.reload()

    def execute_script(self, body: str, *arguments: Any) -> Any:
        """The result of the body of a function, which has these `arguments`."""
        given = [one.handle if isinstance(one, Element) else one for one in arguments]
        return self.page.evaluate(f"given => (function () {{ {body}\n }}).apply(null, given)", given)

    def find_elements(self, how: str, what: str) -> list[Element]:
        return [Element(one) for one in self.page.query_selector_all(_selector(how, what))]

    def find_element(self, how: str, what: str) -> Element:
        return self.find_elements(how, what)[0]

    @property
    def active_element(self) -> Element:
        return Element(self.page.evaluate_handle("document.activeElement").as_element())

    @property
    def title(self) -> str:
        return str(self.page.title())

    @property
    def current_url(self) -> str:
        return str(self.page.url)

    def get_screenshot_as_png(self) -> bytes:
        return bytes(self.page.screenshot())

    def resize(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def execute_cdp_cmd(self, command: str, values: dict[str, Any]) -> Any:
        """A command of Chromium's own protocol; the size of the window is Playwright's."""
        if command == "Emulation.setDeviceMetricsOverride":
            return self.resize(values["width"], values["height"])
        if command == "Emulation.clearDeviceMetricsOverride":
            return self.resize()
        return self._protocol.send(command, values)


def _selector(how: str, what: str) -> str:
    return {"id": f"[id='{what}']", "css selector": what, "xpath": f"xpath={what}"}[how]


def start() -> Iterator[Window]:
    """A window of its own; skips where there is no browser."""
    with chromium() as browser:
        window = Window(browser)
        yield window
        window.context.close()


def until(ask: Callable[[], Any], seconds: float = 8.0) -> Any:
    """The first true answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("the page did not get there in time")


def errors(browser: Window) -> list[str]:
    """What the page complained of since the last call."""
    browser.page.evaluate("0")  # lets pending messages arrive
    found = list(browser.complaints)
    browser.complaints.clear()
    return found
