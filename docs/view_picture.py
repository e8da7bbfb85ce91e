"""Makes `docs/pictures/view.jpg`: the explorer of a run as people see it.

python -m docs.view_picture RUN CHAIN [STEP]
"""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

from PIL import Image

from convergebench.serve.server import LOOPBACK, bound_socket, page_server
from convergebench.serve.view.app import ViewSite, view_app
from convergebench.serve.view.shelf import RunShelf
from tests.browser import BrowserPage, chromium

OUT = Path(__file__).parent / "pictures" / "view.jpg"
WIDE, HIGH = 1440, 860


def take(run: Path, chain: str, step: int) -> bytes:
    """A screenshot of a step next to its source."""
    listening = bound_socket(LOOPBACK, 0)
    port = listening.getsockname()[1]
    server = page_server(view_app(ViewSite(RunShelf([run]), port=port)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with chromium() as browser:
            looker = BrowserPage(browser, width=WIDE, height=HIGH)
            looker.page.goto(f"http://{LOOPBACK}:{port}/run/{run.name}/chain/{chain}?step={step}")
            looker.page.locator("body[data-shown]").wait_for()
            looker.page.wait_for_timeout(1000)
            return bytes(looker.page.screenshot())
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def main() -> None:
    """Write the picture."""
    run, chain, step = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 6
    picture = Image.open(io.BytesIO(take(run, chain, step))).convert("RGB")
    small = picture.resize((WIDE * 3 // 4, HIGH * 3 // 4), Image.Resampling.LANCZOS)
    small.save(OUT, quality=78, optimize=True)


if __name__ == "__main__":
    main()
