"""Makes the picture of the leaderboard page: python -m docs.leaderboard_picture [FOLDER] [FILE].

Three stand-ins for models (simulated editors behind other names) are run on the suite `quick`, submitted and compared.
The title of the page says so. Needs chromium and the packages of the tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import convergebench as cb
from convergebench.conductor.leaderboard import build
from convergebench.conductor.submitting import Submitter, submit
from convergebench.editors.find import make_editor
from convergebench.leaderboard.signing import make_key
from convergebench.types import Capabilities, Edited, EditRequest, Limits

STAND_INS = {"stand-in-a": ("sim-tint", 0.04), "stand-in-b": ("sim-jpeg", 0.02), "stand-in-c": ("sim-blur", 0.01)}
METRICS = ["ssim", "gist", "rmse", "happened", "undone"]
WIDTH, HEIGHT = 1200, 1040


class StandIn:
    """Edits as a simulated editor does, under another name and with a price."""

    def __init__(self, name: str, of: str, dollars: float) -> None:
        self.name, self.fingerprint = name, f"{name}@1"
        self.capabilities, self.limits = Capabilities(dollars_per_call=dollars), Limits(at_once=2)
        self._inner: Any = make_editor(of, of)
        self._dollars = dollars

    async def edit(self, request: EditRequest) -> Edited:
        """The answer of the simulated editor."""
        made = await self._inner.edit(request)
        return Edited(made.image, made.mime, self.name, dollars=self._dollars)


def make_site(folder: Path) -> Path:
    """Run, submit and build everything below a folder; returns the site."""
    bundles = folder / "bundles"
    bundles.mkdir(parents=True, exist_ok=True)
    (bundles / "board.toml").write_text('title = "Example leaderboard: stand-ins, not models"\n', encoding="utf-8")
    key = folder / "key.pem"
    if not key.exists():
        make_key(key)
    runs: dict[str, Any] = {name: {name: StandIn(name, *made)} for name, made in STAND_INS.items()}
    runs["baselines"] = ["sim-perfect", "sim-resize"]
    for name, editors in runs.items():
        cb.run(
            editors=editors,
            images="quick",
            rounds=3,
            metrics=METRICS,
            root=folder / "runs" / name,
            edits={"pairs": ["flip-horizontal", "red-ball"]},
        )
        by = Submitter("Example Lab", key=key if name != "baselines" else None)
        submit(folder / "runs" / name, by, bundles / f"{name}.cbench.zip")
    return build(bundles, folder / "site").index.parent


def take_picture(site: Path, target: Path) -> None:
    """The first screen of the site."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--hide-scrollbars"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(f"file://{site.resolve()}/index.html")
        page.screenshot(path=target)
        browser.close()
    _smaller(target)


def _smaller(path: Path) -> None:
    """A palette of 256 colours is enough for a page of text."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    given = [*sys.argv[1:], *("runs/leaderboard-example", "docs/pictures/leaderboard.png")[len(sys.argv) - 1 :]]
    take_picture(make_site(Path(given[0])), Path(given[1]))
