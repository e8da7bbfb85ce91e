"""The viewer with 28,000 images in Chromium: python -m benchmarks.viewer [--run FOLDER] [--write] [--json]

A run of 280 chains with 100 steps is written (or taken from FOLDER/large, if it is there), and `cbench view` serves it.
Measured: the time from opening the address until every image of the first screen is drawn, as soon as the server has
started, when it has not read the run yet and when it has; how smoothly the whole list scrolls; and the memory of the
page and of the server before and after. `--write` puts the table into docs/view.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.viewer_run import LargeRun, write_large_run
from docs.pages.markdown import fill
from tests.browser import BrowserPage, chromium

PAGE = Path(__file__).resolve().parents[1] / "docs" / "view.md"
ADDRESS = "/run/large?tab=images&view=grid"
DRAWN = """() => {
  const shown = [...document.querySelectorAll(".cell:not([hidden]) img")].filter(one => {
    const box = one.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight && box.width > 0;
  });
  return shown.length >= 12 && shown.every(one => one.complete && one.naturalWidth > 0) ? shown.length : 0;
}"""
SCROLL = """frames => new Promise(done => {
  const box = document.querySelector(".grid"), length = box.scrollHeight - box.clientHeight, times = [];
  let last = performance.now(), count = 0;
  const step = now => {
    times.push(now - last);
    last = now;
    box.scrollTop = length * ++count / frames;
    if (count < frames) requestAnimationFrame(step); else done({ times: times.slice(1), length });
  };
  requestAnimationFrame(step);
})"""
FRAMES = 900
OPENINGS = 3


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """`cbench view FOLDER`: its address and its process."""
    command = [sys.executable, "-m", "convergebench.cli.main", "view", str(folder), "--no-open", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def megabytes(process: int) -> float:
    """Resident memory."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else float("nan")


def processor_seconds(process: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def heap(page: Any) -> float:
    """Megabytes of JavaScript after a collection of garbage."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return float(found["JSHeapUsedSize"]) / 2**20


def opening(browser: Any, base: str) -> tuple[BrowserPage, float, int]:
    """A page of a fresh profile, the seconds until its first screen is drawn, and how many images that has."""
    one = BrowserPage(browser)
    begun = time.perf_counter()
    one.page.goto(base + ADDRESS, wait_until="commit")
    count = until(one.page, DRAWN)
    return one, time.perf_counter() - begun, int(count)


def until(page: Any, test: str) -> Any:
    """What a test on the page gives as soon as it gives something."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = page.evaluate(test)
        if found:
            return found
        time.sleep(0.01)
    raise SystemExit(f"this did not happen within a minute: {test}")


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    found: dict[str, Any] = {"command": [], "cold": [], "warm": [], "processor": [], "cores": os.cpu_count()}
    with chromium() as browser:
        for _ in range(OPENINGS):
            with serving(folder) as (base, process):
                wait_until_ready(browser, base)
                before = processor_seconds(process)
                one, seconds, found["first"] = opening(browser, base)
                found["cold"].append(seconds)
                found["processor"].append(processor_seconds(process) - before)
                one.close()
                one, seconds, _ = opening(browser, base)
                found["warm"].append(seconds)
                one.close()
        for _ in range(OPENINGS):
            with serving(folder / "large") as (base, _):
                one, seconds, _ = opening(browser, base)
                found["command"].append(seconds)
                one.close()
        with serving(folder) as (base, process):
            one, _, _ = opening(browser, base)
            page = one.page
            found["heap"], found["server"] = [heap(page)], [megabytes(process)]
            for _ in range(2):
                page.evaluate("document.querySelector('.grid').scrollTop = 0")
                moved = page.evaluate(SCROLL, FRAMES)
                begun = time.perf_counter()
                until(page, DRAWN)
                found["last screen"] = time.perf_counter() - begun
                found["heap"].append(heap(page))
                found["server"].append(megabytes(process))
            times = sorted(moved["times"])
            found["frames"] = 1000 * len(times) / sum(times)
            found["slow"] = times[int(0.99 * len(times))]
            found["pixels"] = moved["length"]
            found["errors"] = one.errors
            found["load"] = os.getloadavg()[1]
            one.close()
    return found


def wait_until_ready(browser: Any, base: str) -> None:
    """Load the list of runs once, so that Chromium and the server's own code are not part of the figure."""
    one = BrowserPage(browser)
    one.page.goto(base + "/")
    until(one.page, "document.body.dataset.ready")
    one.close()


def rows(found: dict[str, Any], size: LargeRun) -> list[str]:
    """The table of the page."""
    cold, warm, heaps, server = found["cold"], found["warm"], found["heap"], found["server"]
    command = found["command"]
    figures = [
        ("images, chains", f"{size.images:,}, {size.chains}"),
        (
            f"first screen ({found['first']} images), opened as soon as `cbench view RUN` prints its link",
            f"{statistics.median(command):.2f} s (slowest of {len(command)}: {max(command):.2f} s)",
        ),
        (
            "first screen, run not read before",
            f"{statistics.median(cold):.2f} s (slowest of {len(cold)}: {max(cold):.2f} s); "
            f"processor time of the server {statistics.median(found['processor']):.2f} s",
        ),
        ("first screen, run read before", f"{statistics.median(warm):.2f} s (slowest: {max(warm):.2f} s)"),
        (
            "scrolling the whole list",
            f"{found['frames']:.0f} frames a second; 99 % of frames within {found['slow']:.0f} ms",
        ),
        ("last screen, after scrolling there", f"{found['last screen']:.2f} s"),
        (
            "memory of the page's scripts: opened, scrolled once, twice",
            " → ".join(f"{one:.1f}" for one in heaps) + " MB",
        ),
        ("memory of the server: opened, scrolled once, twice", " → ".join(f"{one:.0f}" for one in server) + " MB"),
    ]
    busy = f"{found['load']:.1f} on {found['cores']} cores"
    figures.append(("load average of the machine meanwhile", busy))
    return ["| measured | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in figures)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="folder that holds, or will hold, the run 'large'")
    parser.add_argument("--write", action="store_true", help="put the table into docs/view.md")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, size = given.run or Path(temporary), LargeRun()
        if not (folder / "large").is_dir():
            write_large_run(folder / "large", size)
        if not (folder / "newer").is_dir():  # the server reads the newest run as it starts: that is not `large`
            write_large_run(folder / "newer", LargeRun(chains=1, steps=2))
        found = measure(folder)
    print(json.dumps(found) if given.json else "\n".join(rows(found, size)))
    if given.write:
        fill(PAGE, "figures", "\n".join(rows(found, size)) + "\n")


if __name__ == "__main__":
    main()
