"""The tables and sentences that commands put into the results pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import audits, hundred

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
MADE = {
    "hundred-steps.md": ("hundred-steps", "remake", "hundred-steps-restorers"),
    "cures.md": ("cures", "cures-held-out", "cures-learned"),
    "audit.md": ("audit-autoencoders", "audit-large", "audit-restorers", "audit-embedded"),
}


@pytest.mark.parametrize("page", MADE)
def test_every_table_has_its_place_its_study_and_its_command(page: str) -> None:
    text = (RESULTS / page).read_text(encoding="utf-8")
    assert tuple(re.findall(r"<!-- (\S+): begin -->", text)) == MADE[page]
    for name in MADE[page]:
        assert f"<!-- {name}: end -->" in text
        assert (ROOT / "studies" / f"{name}.toml").is_file()
        assert f"studies/{name}.toml" in text


def rows(images: int = 6, steps: int = 20) -> list[hundred.Row]:
    """Three editors whose order turns round between step 1 and step 5; images keep theirs."""
    found: list[hundred.Row] = []
    for number, editor in enumerate(("first", "second", "third")):
        for image in range(images):
            for step in range(1, steps + 1):
                place = number if step >= 5 else 2 - number
                found.append((editor, f"image-{image}", step, "ssim", 0.9 - 0.01 * step + 0.1 * place + 0.001 * image))
    return found


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every image says the same here, so that few draws give the same intervals as many."""
    monkeypatch.setattr(hundred, "DRAWS", 40)


@pytest.mark.usefixtures("few_draws")
def test_an_order_that_turns_round_is_told_in_words_and_numbers() -> None:
    text = hundred.tables(rows(), ["ssim"])
    assert "by SSIM: 1.00 after 2, -1.00 after 5, -1.00 after 10, -1.00 after 20 steps." in text
    assert "after 20 steps it is the best on 0 % of the images and the worst on 100 % (by chance 33 %)." in text
    assert "after one step correlates with that after 20 by 1.00 to 1.00." in text
    assert "### SSIM: 3 editors, 6 images" in text
    assert "| 5 | -1.00 (-1.00 … -1.00) | 0.00 (0.00 … 0.00) | 1.00 (1.00 … 1.00) | 0.33 | 6 |" in text


@pytest.mark.usefixtures("few_draws")
def test_a_dump_gives_the_tables_of_its_run(tmp_path: Path) -> None:
    hundred.dump(rows(), tmp_path / "values.csv.xz")
    assert hundred.tables(hundred.rows_of(tmp_path / "values.csv.xz"), ["ssim"]) == hundred.tables(rows(), ["ssim"])


def audit(folder: Path, **changes: Any) -> Path:
    """An audit of two metrics, one of which was not run."""
    interval = {"low": 0.14, "high": 0.56}
    found = {
        "finding": ["None notices."],
        "metrics": [
            {"metric": "niqe", "status": "audited", "verdict": "often fooled", "n_failed": 3, "n_cells": 8, **interval},
            {"metric": "nima", "status": "not run", "verdict": "not run", "n_failed": 0, "n_cells": 0, **interval},
        ],
        "confound": [{"metric": "niqe", "at": 20, "mean_gap": -9.46, "ratio": 0.934, "low": 0.0, "high": 1.71}],
        "filter_risk": [
            {"metric": "niqe", "percentile": 25.0, "editor": "all", "at": at, "share": share, "low": None, "high": None}
            for at, share in ((5, 0.9), (20, 0.2))
        ],
        "ranks": [{"metric": "niqe", "editor": "all", "against": "step", "rho": -0.58}],
        "failures": [
            {"editor": editor, "metric": "niqe", "n_failed": failed, "n_cells": 4}
            for editor, failed in (("all", 3), ("taesd", 2), ("taef1", 1))
        ],
        **changes,
    }
    (folder / "tables").mkdir(parents=True)
    (folder / "audit.json").write_text(json.dumps(found), encoding="utf-8")
    (folder / "tables" / "gaps.csv").write_text("metric,failed\nniqe,true\nniqe,false\nniqe,\n", encoding="utf-8")
    return folder


def test_an_audit_becomes_findings_and_two_tables(tmp_path: Path) -> None:
    text = audits.text_of(audit(tmp_path / "audit"))
    assert text.startswith("- None notices.\n\n| metric | verdict |")
    row = "| `niqe` | often fooled | 3/8 (14–56 %) | 1/2 | −9.5 | 0.93 (0.0–1.7) | 20 % | −0.58 |"
    assert row in text, "the filter's share is that of the last step"
    assert "| `taef1` | 1/4 |\n| `taesd` | 2/4 |" in text
    assert "nima" not in text


def test_what_is_unknown_is_a_dash(tmp_path: Path) -> None:
    text = audits.text_of(audit(tmp_path / "audit", confound=[], filter_risk=[], ranks=[]))
    assert "| `niqe` | often fooled | 3/8 (14–56 %) | 1/2 | – | – | – | – |" in text


def test_a_folder_without_an_audit_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no audit; type: cbench audit RUN"):
        audits.text_of(tmp_path)
