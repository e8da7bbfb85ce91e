"""Claims about runs: found in the tables that runs and audits write, answered per run, in either direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.audit.result import SCHEMAS as AUDIT
from convergebench.analysis.decay_result import SCHEMAS as REPLICATE
from convergebench.analysis.schemas import OUTPUTS
from convergebench.claims.check import check
from convergebench.claims.read import find, read_claims
from convergebench.errors import StudyError
from tests.claims.folders import SCORES, checked, own_file, table

YES, NO, UNKNOWN = "holds", "does not hold", "cannot be told"
RUN_TABLES = {**OUTPUTS, **REPLICATE}


def put(run: Path, address: str, rows: Sequence[dict[str, Any]]) -> None:
    """A table as the run or its audit writes it, all columns there."""
    source, _, name = address.partition(":")
    folder, columns = (
        (run / "audit" / "tables", AUDIT[name]) if source == "audit" else (run / "tables", RUN_TABLES[name])
    )
    assert all(set(row) <= set(columns) for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame([{**dict.fromkeys(columns), **row} for row in rows], schema=columns).write_parquet(
        folder / f"{name}.parquet"
    )


def answer(identity: str, run: Path, **names: str) -> str:
    files = [read_claims(find(name), names) for name in ("banana100", "convergebench")]
    (result,) = [one for one in check(files, [run]).results if one.claim.id == identity and one.run is not None]
    return result.verdict


def metric(name: str, *, published: bool = True, **facts: Any) -> dict[str, Any]:
    return {"metric": name, "published": published, "status": "audited", **facts}


def failure(editor: str, name: str, white: bool, share: float) -> dict[str, Any]:
    return {"editor": editor, "metric": name, "white": white, "share": share}


def noticed(source: str, **facts: Any) -> dict[str, Any]:
    return {"editor": "a", "pair": "replicate", "source": source, **facts}


def ranked(editor: str, in_quality: int, in_semantic: int, **facts: Any) -> dict[str, Any]:
    return {"editor": editor, "quality_rank": in_quality, "semantic_rank": in_semantic, **facts}


def shape(editor: str, name: str) -> dict[str, Any]:
    return {"editor": editor, "group": "all", "shape": name, "best": True}


def curve(*means: float | None) -> list[dict[str, Any]]:
    return [
        {"editor": "a", "metric": "ssim", "group": "all", "round": place, "mean": mean}
        for place, mean in enumerate(means)
    ]


LIFE = {"quality": 0.6, "quality_low": 0.5, "quality_high": 0.7}
KEPT = {"semantic": 0.9, "semantic_low": 0.8, "semantic_high": 1.0}


@pytest.mark.parametrize(
    ("identity", "address", "rows", "expected"),
    [
        ("B1", "audit:metrics", [metric("brisque", white=False), metric("rali", white=True)], YES),
        ("B1", "audit:metrics", [metric("brisque", white=False), metric("niqe", white=True)], NO),
        ("B1", "audit:metrics", [metric("niqe", white=False), metric("decay", published=False, white=True)], YES),
        ("B1", "audit:metrics", [{"metric": "niqe", "published": True, "status": "not run"}], UNKNOWN),
        ("B2", "audit:metrics", [metric("rali", n_failed=0), metric("visualquality-r1", n_failed=0)], YES),
        ("B2", "audit:metrics", [metric("rali", n_failed=2)], NO),
        ("B2", "audit:metrics", [metric("rali", n_failed=0)], UNKNOWN),
        ("B3", "audit:gaps", [{"metric": "brisque", "at": 20, "gap": 3.0}, {"metric": "niqe", "at": 20}], YES),
        ("B3", "audit:gaps", [{"metric": "brisque", "at": 20, "gap": -3.0}], NO),
        ("B3", "audit:gaps", [{"metric": "brisque", "at": 10, "gap": 3.0}], UNKNOWN),
        ("B3", "audit:gaps", [{"metric": "brisque", "at": 20, "gap": None}], UNKNOWN),
        ("B4", "audit:confound", [{"metric": "brisque", "ratio": 0.4, "low": 0.2, "high": 0.9}], YES),
        ("B4", "audit:confound", [{"metric": "brisque", "ratio": 0.4, "low": 0.2, "high": 1.1}], UNKNOWN),
        ("B4", "audit:confound", [{"metric": "brisque", "ratio": 1.4, "low": 0.2, "high": 2.1}], NO),
        ("B4", "audit:confound", [{"metric": "brisque", "ratio": 0.4}], UNKNOWN),
        ("B5", "audit:failures", [failure("q", "pi", True, 0), failure("q", "piqe", True, 0)], YES),
        ("B5", "audit:failures", [failure("q", "pi", True, 0), failure("q", "piqe", False, 0.1)], NO),
        ("B5", "audit:failures", [failure("q", "pi", True, 0)], UNKNOWN),
        ("B6", "audit:failures", [failure("f", "pi", False, 1), failure("f", "piqe", False, 0.9)], YES),
        ("B6", "audit:failures", [failure("f", "pi", False, 1), failure("f", "piqe", False, 0.5)], NO),
        ("B7", "audit:ranges", [{"metric": "visualquality-r1", "below": 3}], YES),
        ("B7", "audit:ranges", [{"metric": "visualquality-r1", "below": 0}], NO),
        ("B8", "audit:content", [{"metric": "rali", "editor": "a", "role": "additions", "ratio": 1.5}], YES),
        ("B8", "audit:content", [{"metric": "rali", "editor": "a", "role": "additions", "ratio": 0.5}], NO),
        ("B8", "audit:content", [{"metric": "rali", "editor": "a", "role": "additions-apart", "ratio": 2}], UNKNOWN),
        ("B9", "run:onset_summary", [{"editor": "a", "pair": "replicate", "median": 7}], YES),
        ("B9", "run:onset_summary", [{"editor": "a", "pair": "replicate", "median": 3}], NO),
        ("B9", "run:onset_summary", [{"editor": "a", "pair": "replicate", "text": "> 20"}], UNKNOWN),
        ("B10", "run:noticing_summary", [noticed("all", mean=3), noticed("holi", mean=20)], YES),
        ("B10", "run:noticing_summary", [noticed("all", mean=25), noticed("holi", mean=4)], NO),
        ("B11", "run:noticing_summary", [noticed("all", low=-9, delay_median=9, delay_low=2, delay_high=12)], YES),
        ("B11", "run:noticing_summary", [noticed("all", low=5, delay_median=9, delay_low=-2, delay_high=12)], NO),
        ("B12", "run:failures", [{"pair": "replicate", "mode": "aspect-ratio", "share": 1.0, "first_step": 1}], YES),
        ("B12", "run:failures", [{"pair": "replicate", "mode": "aspect-ratio", "share": 1.0, "first_step": 4}], NO),
        (
            "B13",
            "run:variants",
            [{"pair": "denoise", "metric": "ssim-first", "step": 20, "difference": 0.1, "low": -0.1, "high": 0.3}],
            YES,
        ),
        (
            "B13",
            "run:variants",
            [{"pair": "denoise", "metric": "ssim-first", "step": 20, "difference": 0.2, "low": 0.1, "high": 0.3}],
            NO,
        ),
        ("B14", "run:success", [{"operation": "rotate-90", "share": 0.2}], YES),
        ("B14", "run:success", [{"operation": "rotate-90", "share": 0.7}], NO),
        ("C1", "run:curves", curve(None, 0.9, 0.8, 0.7), YES),
        ("C1", "run:curves", curve(None, 0.9, 0.8, 0.85), NO),
        ("C1", "run:curves", curve(1.0, 0.9, None, 0.7), UNKNOWN),
        ("C2", "run:ranking", [ranked("n", 1, 1, half_life_median=5, **LIFE, **KEPT)], YES),
        ("C2", "run:ranking", [ranked("n", 1, 1, half_life_median=6, **LIFE, **KEPT)], NO),
        ("C2", "run:ranking", [ranked("n", 1, 1, half_life="> 5", **LIFE, **KEPT)], UNKNOWN),
        ("C3", "run:pairwise", [{"better": "a", "worse": "b", "significant": True}], YES),
        ("C3", "run:pairwise", [{"better": "a", "worse": "b", "significant": False}], NO),
        ("C3", "run:pairwise", [], UNKNOWN),
        ("C4", "run:ranking", [ranked("a", 1, 2), ranked("b", 2, 1)], YES),
        ("C4", "run:ranking", [ranked("a", 1, 1), ranked("b", 2, 2)], NO),
        ("C5", "run:shapes", [shape("a", "linear"), shape("b", "plateau")], YES),
        ("C5", "run:shapes", [shape("a", "linear"), shape("b", "linear")], NO),
    ],
)
def test_what_a_run_says_of_a_claim(
    identity: str, address: str, rows: list[dict[str, Any]], expected: str, tmp_path: Path
) -> None:
    put(tmp_path, address, rows)
    assert answer(identity, tmp_path, qwen="q", fast="f", nano_banana="n") == expected


CLAIM = """
paper = "mine"
[[claims]]
id = "one"
where = "here"
sentence = "Two is the best."
test = { kind = "best", table = "run:scores", row = { editor = "two" }, columns = { score = "higher" } }
"""


@pytest.mark.parametrize(
    ("source", "place"), [("run", ""), ("run", "tables"), ("audit", ""), ("audit", "audit/tables")]
)
def test_a_table_is_found_in_a_run_in_its_audit_and_in_a_plain_folder(source: str, place: str, tmp_path: Path) -> None:
    table(tmp_path / "run" / place, "scores", SCORES)
    (result,) = checked(own_file(tmp_path, CLAIM.replace("run:", f"{source}:")), tmp_path / "run").results
    assert (result.verdict, result.run) == (YES, tmp_path / "run")


def test_a_name_that_run_and_audit_share_is_told_apart_by_its_address(tmp_path: Path) -> None:
    run = tmp_path / "run"
    table(run / "tables", "scores", SCORES)
    table(run / "audit" / "tables", "scores", SCORES.replace("two,12", "two,2"))
    assert checked(own_file(tmp_path, CLAIM), run).results[0].verdict == YES
    of_audit = own_file(tmp_path, CLAIM.replace("run:scores", "audit:scores"))
    assert checked(of_audit, run).results[0].verdict == NO


def test_the_folder_of_an_audit_is_a_run_too(tmp_path: Path) -> None:
    table(tmp_path / "out" / "tables", "scores", SCORES)
    path = own_file(tmp_path, CLAIM.replace("run:scores", "audit:scores"))
    assert checked(path, tmp_path / "out").results[0].verdict == UNKNOWN, "tables of a run are not an audit's"
    (tmp_path / "out" / "audit.json").write_text("{}")
    assert checked(path, tmp_path / "out").results[0].verdict == YES


def test_every_run_has_its_own_answer(tmp_path: Path) -> None:
    table(tmp_path / "good", "scores", SCORES)
    table(tmp_path / "bad", "scores", SCORES.replace("two,12", "two,2"))
    table(tmp_path / "other", "else", SCORES)
    found = checked(own_file(tmp_path, CLAIM), tmp_path / "good", tmp_path / "bad", tmp_path / "other").results
    assert [result.verdict for result in found] == [YES, NO, UNKNOWN]


def test_a_claim_about_runs_waits_where_there_is_none(tmp_path: Path) -> None:
    found = checked(own_file(tmp_path, CLAIM))
    assert (found.results, [claim.id for _, claim in found.waiting]) == ((), ["one"])


def test_a_papers_claim_is_tested_again_on_a_run_that_holds_such_a_table(tmp_path: Path) -> None:
    paper = (Path(find("nano-banana-2")).parent / "tables" / "nb2_overall.csv").read_text(encoding="utf-8")
    table(tmp_path / "mine", "nb2_overall", paper.replace("22.744", "22.0"))
    table(tmp_path / "none", "scores", SCORES)
    file = read_claims(find("nano-banana-2"))
    of_papers = replace(file, claims=tuple(one for one in file.claims if one.id.startswith("K")))
    found = check([of_papers], [tmp_path / "mine", tmp_path / "none"])
    answers = {(one.claim.id, one.run): one.verdict for one in found.results if one.claim.id in ("K7", "K8")}
    assert answers == {("K7", None): NO, ("K7", tmp_path / "mine"): YES, ("K8", None): YES}
    assert found.unused_runs == (tmp_path / "none",)


def test_a_claim_may_bring_its_own_tables(tmp_path: Path) -> None:
    table(tmp_path, "scores", SCORES)
    path = own_file(tmp_path, CLAIM.replace("run:scores", "file:scores.csv"))
    assert [one.verdict for one in checked(path).results] == [YES]


def test_a_run_without_tables_says_how_to_get_them(tmp_path: Path) -> None:
    path = own_file(tmp_path, CLAIM)
    (tmp_path / "run").mkdir()
    with pytest.raises(StudyError, match=r"has no tables; write them with: cbench report "):
        checked(path, tmp_path / "run")
    with pytest.raises(StudyError, match="there is no folder"):
        checked(path, tmp_path / "nowhere")
    (tmp_path / "run" / "scores.parquet").write_bytes(b"broken")
    with pytest.raises(StudyError, match=r"claim one: .*scores\.parquet is not a readable Parquet file"):
        checked(path, tmp_path / "run")
