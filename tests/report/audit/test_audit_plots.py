"""The figures of an audit: one file for each, whatever its editors are called, and none of an audit before."""

from __future__ import annotations

from pathlib import Path

from convergebench.report.audit.page import open_page
from convergebench.report.audit.plots import write_audit_plots
from tests.report.audit.sample import make_audit


def test_every_editor_has_its_own_figure_whatever_it_is_called(tmp_path: Path) -> None:
    editors = ("a/b", "a:b", "x" * 300)
    page = open_page(make_audit(tmp_path, editors=editors, metrics=1, gaps=(5,), additions=False))
    (tmp_path / "plots").mkdir()
    for name in ("failures-gap-20.svg", "mine.svg"):
        (tmp_path / "plots" / name).write_text("old")
    written = write_audit_plots(page, tmp_path / "plots")
    assert (tmp_path / "plots" / "failures-gap-20.svg").exists(), "no audit was here before, so it is somebody else's"
    written = write_audit_plots(page, tmp_path / "plots", again=True)
    assert len(set(written)) == len(written)
    assert sum(path.name.startswith("failures-editor-") and path.suffix == ".svg" for path in written) == len(editors)
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {path.name for path in written} | {"mine.svg"}
