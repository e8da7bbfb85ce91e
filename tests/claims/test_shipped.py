"""K1 to K26 on the papers' own tables; each turns when the cell that decides it is changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from convergebench.analysis.audit.result import SCHEMAS as AUDIT
from convergebench.analysis.decay_result import SCHEMAS as REPLICATE
from convergebench.analysis.factory.result import SCHEMAS as FACTORY
from convergebench.analysis.restoration.result import SCHEMAS as RESTORATION
from convergebench.analysis.schemas import OUTPUTS
from convergebench.claims.check import check
from convergebench.claims.claim import addresses
from convergebench.claims.read import FOLDER, SHIPPED
from convergebench.claims.tables import PAPERS
from tests.claims.folders import changed, on, shipped_files

FALSE = {"K7", "K9", "K10", "K11", "K15", "K22", "K24", "K25"}

RESULTS = check(shipped_files())
ANSWERS = {result.claim.id: result for result in RESULTS.results}


def test_all_are_answered_and_eight_do_not_hold() -> None:
    assert set(ANSWERS) == {f"K{number}" for number in range(1, 27)}
    assert {name for name, result in ANSWERS.items() if result.verdict == "does not hold"} == FALSE
    assert RESULTS.counts() == {"holds": 18, "does not hold": 8, "cannot be told": 0}


def test_every_shipped_file_is_named() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(SHIPPED)
    told = (PAPERS / "README.md").read_text(encoding="utf-8")
    assert all(f"`{path.name}`" in told for path in PAPERS.glob("*.csv"))


@pytest.mark.parametrize(
    ("identity", "evidence"),
    [
        ("K1", "LPIPS: Avg(L + LF) 0.221, Avg(S + SF) 0.222"),
        ("K7", "PSNR: PiSA-SR 22.744, Nano Banana 2 22.541"),
        ("K9", "LPIPS: TSD-SR 0.227, Nano Banana 2 0.23"),
        ("K10", "Old Film, MANIQA: DiffBIR 0.44, Nano Banana 2 0.388"),
        ("K11", "mean rank over 6 columns, place 12 of 12: L2 3.33, LF3 9"),
        ("K11", "mean rank over PSNR, SSIM, LPIPS, place 11 of 12: SF3 1.17, LF3 10"),
        ("K14", "categories 257746, subset 258000"),
        ("K15", "Human-Centric: README 18, counts 7.79915"),
        ("K20", "L1: words 47, stated from 35, to 47"),
        ("K22", "cartoon-or-sketch: success_rate 0.8006 (claimed > 0.88)"),
    ],
)
def test_the_evidence_is_the_cells(identity: str, evidence: str) -> None:
    assert evidence in [one.text for one in ANSWERS[identity].outcome.evidence]


def test_the_advantage_on_text_is_in_ssim_alone() -> None:
    assert [(one.what, one.holds) for one in ANSWERS["K9"].outcome.evidence] == [
        ("PSNR", False),
        ("SSIM", True),
        ("LPIPS", False),
    ]


def test_no_number_bears_out_the_advantage_on_degraded_pictures() -> None:
    assert [one.holds for one in ANSWERS["K10"].outcome.evidence] == [False] * 9


PROMPTS = "nb2_prompt_results"


@pytest.mark.parametrize(
    ("identity", "name", "row", "column", "value"),
    [
        ("K1", PROMPTS, {"prompt": "Avg(S + SF)"}, "LPIPS", "0.221"),
        ("K2", PROMPTS, {"prompt": "Avg(L)"}, "SSIM", "0.669"),
        ("K3", PROMPTS, {"prompt": "L2"}, "MUSIQ", "70.5"),
        ("K4", PROMPTS, {"prompt": "LF3"}, "SSIM", "0.655"),
        ("K5", "nb2_repeats", {"prompt": "S1", "metric": "MANIQA"}, "p", "0.0499"),
        ("K6", "nb2_overall", {"method": "TSD-SR"}, "LPIPS", "0.222"),
        ("K7", "nb2_overall", {"method": "PiSA-SR"}, "PSNR", "22.5"),
        ("K8", "nb2_categories", {"category": "Hands/Feet", "method": "PiSA-SR"}, "SSIM", "0.764"),
        ("K12", PROMPTS, {"prompt": "Avg(SF)"}, "CLIP-IQA", "0.66"),
        ("K13", "pico_subsets", {"subset": "multi turn sft"}, "percent", "18.8"),
        ("K14", "pico_categories", {"category": "Scale"}, "count", "14729"),
        ("K16", "banana100_sizes", {"quantity": "runs for each further editor"}, "value", "4"),
        ("K17", "banana100_sizes", {"quantity": "images of the data set"}, "value", "28100"),
        ("K18", "banana100_crops", {"picture": "4K"}, "height", "3072"),
        ("K19", "banana100_metrics", {"metric": "TReS"}, "pyiqa_name", "maclip"),
        ("K20", "nb2_prompts", {"prompt": "SF2"}, "text", "Enhance the image."),
        ("K21", "pico_edit_types", {"edit_type": "zoom-in"}, "edit_type", "outpaint"),
        ("K22", "pico_edit_types", {"edit_type": "cartoon-or-sketch"}, "success_rate", "0.89"),
        ("K23", "pico_edit_types", {"edit_type": "outpaint"}, "success_rate", "0.68"),
        ("K26", "nb2_repeats", {"prompt": "S1", "metric": "CLIP-IQA"}, "p", "0.002"),
    ],
)
def test_a_claim_turns_with_its_cell(
    identity: str, name: str, row: Mapping[str, str], column: str, value: str, tmp_path: Path
) -> None:
    expected = "holds" if identity in FALSE else "does not hold"
    assert on(changed(tmp_path / "papers", name, row, column, value), identity) == expected


CHANGES = [
    ("nb2_categories", {"category": "Text", "method": "PiSA-SR"}, "PSNR", "20"),
    ("nb2_categories", {"category": "Text", "method": "Nano Banana 2"}, "LPIPS", "0.2"),
    ("nb2_categories", {"category": "Motion Blur", "method": "Nano Banana 2"}, "MUSIQ", "57"),
    ("nb2_categories", {"category": "Old Film", "method": "Nano Banana 2"}, "CLIP-IQA", "0.8"),
    ("nb2_categories", {"category": "Surveillance", "method": "Nano Banana 2"}, "MANIQA", "0.5"),
    (PROMPTS, {"prompt": "LF3"}, "PSNR", "24"),
    (PROMPTS, {"prompt": "LF3"}, "SSIM", "0.7"),
    (PROMPTS, {"prompt": "LF3"}, "LPIPS", "0.2"),
    ("pico_categories", {"category": "Pixel & Photometric"}, "readme_percent", "11.7"),
    ("pico_categories", {"category": "Object-Level Semantic"}, "readme_percent", "29"),
    ("pico_categories", {"category": "Stylistic"}, "readme_percent", "17"),
    ("pico_categories", {"category": "Text & Symbol"}, "readme_percent", "4"),
    ("pico_categories", {"category": "Human-Centric"}, "readme_percent", "8"),
    ("pico_categories", {"category": "Scale"}, "readme_percent", "5"),
    (PROMPTS, {"prompt": "Avg(LF)"}, "PSNR", "23"),
    (PROMPTS, {"prompt": "Avg(LF)"}, "SSIM", "0.67"),
    (PROMPTS, {"prompt": "Avg(SF)"}, "MUSIQ", "70"),
    (PROMPTS, {"prompt": "Avg(SF)"}, "MANIQA", "0.4"),
]


@pytest.mark.parametrize(
    ("identity", "cells"),
    [
        ("K9", slice(0, 2)),
        ("K10", slice(2, 5)),
        ("K11", slice(5, 8)),
        ("K15", slice(8, 14)),
        *(("K24", slice(14, 16)), ("K25", slice(16, 18))),
    ],
)
def test_a_claim_that_fails_in_several_cells_holds_when_the_last_is_mended(
    identity: str, cells: slice, tmp_path: Path
) -> None:
    papers = PAPERS
    for number, change in enumerate(CHANGES[cells]):
        assert on(papers, identity) == "does not hold"
        papers = changed(tmp_path / str(number), *change, papers=papers)
    assert on(papers, identity) == "holds"


def test_an_empty_cell_is_neither_success_nor_failure(tmp_path: Path) -> None:
    papers = changed(tmp_path / "papers", "nb2_overall", {"method": "HYPIR"}, "SSIM", "")
    assert on(papers, "K6") == "cannot be told"
    assert on(papers, "K7") == "does not hold", "PSNR decides it, whatever SSIM is"


def test_claims_about_runs_name_tables_and_columns_that_runs_have() -> None:
    known = {
        **{f"run:{name}": set(columns) for name, columns in {**OUTPUTS, **REPLICATE, **FACTORY, **RESTORATION}.items()},
        **{f"audit:{name}": set(columns) for name, columns in AUDIT.items()},
    }
    seen = 0
    for _, claim in RESULTS.waiting:
        for address in addresses(claim.test):
            seen += 1
            assert address in known, f"{claim.id}: {address}"
    assert seen >= 36
    for _, claim in RESULTS.waiting:
        for test in getattr(claim.test, "tests", (claim.test,)):
            (address,) = set(addresses(test))
            assert set(_columns(test.model_dump(exclude_none=True))) <= known[address], claim.id


def _columns(part: object, key: str = "") -> list[str]:
    """Every column that a dumped test names."""
    if isinstance(part, str):
        return [part] if key in ("column", "along", "by") else []
    if isinstance(part, dict):
        return list(part) if key in ("row", "rows") else [one for name in part for one in _columns(part[name], name)]
    return [one for value in part for one in _columns(value, key)] if isinstance(part, list | tuple) else []
