"""One page of each type, made from small runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from convergebench.types import SourceImage


def report(folder: Path) -> dict[str, Path]:
    """A round-trip study, and the film strips beside it."""
    from convergebench.report.html import write_report
    from tests.report.synthetic import make_run

    given = make_run(folder, sources=6)
    index = write_report(given, folder / "report")
    return {"report": index, "viewer": index.with_name("viewer.html")}


def replicate(folder: Path) -> dict[str, Path]:
    """A replicate study, and the pages beside it."""
    from convergebench.report.html import write_report
    from tests.report.copies import make_copies

    index = write_report(make_copies(folder), folder / "report")
    return {
        "replicate": index,
        **{name: index.with_name(f"{name}.html") for name in ("failures", "traces", "wall")},
    }


def restoration(folder: Path) -> dict[str, Path]:
    """A restoration study."""
    from convergebench.report.html import write_report
    from tests.report.restored import make_restored

    return {"restoration": write_report(make_restored(folder / "run"), folder / "run" / "report")}


def factory(folder: Path) -> dict[str, Path]:
    """A factory run, and the page on which people rate its edits."""
    from convergebench.conductor.factory_rating import write_rating_page
    from tests.factory_run import factory_run

    run = folder / "run"
    factory_run(run, count=10, judged=2, pairwise=True, threshold=0.8, sessions=0.5, report=True)
    rated = write_rating_page(run, folder / "rate.html", count=4).path
    return {"factory": run / "report" / "index.html", "rating": rated}


def audit(folder: Path) -> dict[str, Path]:
    """An audit of four metrics."""
    from convergebench.report.audit.write import write_audit
    from tests.report.audit.sample import make_audit

    return {"audit": write_audit(make_audit(folder), folder / "audit", plots=False)}


def comparison(folder: Path) -> dict[str, Path]:
    """Two runs."""
    from convergebench.conductor.comparing import CompareOptions, compare, write_comparison
    from tests.api.parts import picture, quick_run

    images = {f"p{number}": picture(number) for number in range(6)}
    for name, quality in (("old", 80), ("new", 15)):
        quick_run(
            folder / name, {"name": "sim-model", "use": "sim-jpeg", "quality": quality}, "sim-blur", images=images
        )
    given = compare(folder / "old", folder / "new", CompareOptions())
    return {"comparison": write_comparison(given, folder / "compared")}


def sheets(folder: Path) -> dict[str, Path]:
    """The sheet of a suite and that of degraded pictures."""
    from convergebench.degradations import load_degradation
    from convergebench.images.encode import encode_png
    from convergebench.images.suite import Suite
    from convergebench.report.degraded_sheet import DegradedRow, degraded_sheet, shown
    from convergebench.report.sheet import contact_sheet

    data = encode_png(np.full((60, 90, 3), (200, 30, 30), np.uint8))
    image = SourceImage("anna", "face", "0" * 64, 90, 60, "CC0-1.0", "x", lambda: data, "A woman", ("woman",), "Jo Doe")
    (folder / "suite.html").write_text(contact_sheet(Suite("mine", (image,), 1, ())), encoding="utf-8")
    spoil = load_degradation("motion-blur")
    pixels = np.full((60, 90, 3), 120, np.uint8)
    row = DegradedRow(image, [shown(image, "images/anna.png", pixels)])
    page = degraded_sheet("mine", [row], [spoil], how="severity 2 (1 is typical), seed 3", total=1)
    (folder / "degraded.html").write_text(page, encoding="utf-8")
    return {"suite sheet": folder / "suite.html", "degraded sheet": folder / "degraded.html"}


MAKERS: dict[str, Callable[[Path], dict[str, Path]]] = {
    "report": report,
    "replicate": replicate,
    "restoration": restoration,
    "factory": factory,
    "audit": audit,
    "comparison": comparison,
    "sheets": sheets,
}
"""What makes the pages of a study."""
