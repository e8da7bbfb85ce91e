"""The tables that `benchmarks.cheating` and `benchmarks.lives` put into results pages are made by a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cheating, lives
from paper.tables import markdown_tables


def test_cheats_pay_under_the_naive_score_and_not_under_ours(tmp_path: Path) -> None:
    given = cheating.make_run(tmp_path / "run", images=4, rounds=1)
    head, *body = markdown_tables(cheating.text_of(given))[0]
    rows = {line[0].strip("`"): dict(zip(head, line, strict=True)) for line in body}
    assert list(rows) == list(cheating.EDITORS)
    naive = {name: float(row["naive score"]) for name, row in rows.items()}
    score = {name: float(row["score"]) for name, row in rows.items()}
    assert max(naive, key=lambda name: naive[name]) == "idle"
    assert naive["wrecker"] == pytest.approx(naive["honest"], abs=1)
    assert rows["wrecker"]["cases in it"] == "2"
    assert max(score, key=lambda name: score[name]) == "honest"
    assert score["idle"] == score["keeper"] == 0
    assert score["wrecker"] <= 50
    assert score["refuser"] <= 25
    assert rows["refuser"]["rank"] == "–"

    lived, verdicts = markdown_tables(lives.text_of(given))
    found = {line[0]: line for line in lived[1:] if line[1] == "ssim"}
    assert found["idle"][3:] == ["> 1", "0", "4"]
    assert found["wrecker"][3:] == ["1", "2", "4"]
    assert ["idle", "returns", "4/4", "100 %"] in verdicts
