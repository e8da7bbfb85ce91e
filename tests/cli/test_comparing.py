"""`cbench compare`: two runs on the same cases, in the terminal and as a page."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from convergebench.store.manifest import read_manifest
from tests.api.parts import picture, quick_run
from tests.cli.in_process import Done, cbench

MANY = {f"p{number}": picture(number) for number in range(6)}


def jpeg(quality: int, name: str = "sim-model") -> dict[str, Any]:
    return {"name": name, "use": "sim-jpeg", "quality": quality}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("compared")
    quick_run(root / "old", jpeg(80), "sim-blur", images=MANY)
    quick_run(root / "new", jpeg(15), "sim-blur", images=MANY)
    quick_run(root / "three", jpeg(15), "sim-blur")
    quick_run(root / "renamed", jpeg(15, "sim-next"), images=MANY)
    return root


def compared(*words: object) -> dict[str, Any]:
    done = cbench("compare", *words, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def refused(done: Done, *words: str) -> None:
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert all(word in done.err for word in words), done.err


def row(found: dict[str, Any], editor: str, table: str = "editors") -> dict[str, Any]:
    return next(one for one in found[table] if one["editor_first"] == editor)


def test_the_finding_says_what_changed_with_its_uncertainty(runs: Path) -> None:
    found = compared(runs / "old", runs / "new")
    model, blur = row(found, "sim-model"), row(found, "sim-blur")
    assert model["change"] < 0
    assert model["change"] == pytest.approx(model["score_second"] - model["score_first"])
    assert model["low"] < model["change"] < model["high"] < 0
    assert model["p"] == 2 / 2**6, "all six images lost: the smallest exact p"
    assert model["p_holm"] == model["p"], "an editor that is the same in both runs is no second test"
    assert (model["n_cases"], model["n_sources"]) == (6, 6)
    assert blur["change"] == 0
    assert found["finding"].startswith("sim-model got worse: its score fell from ")
    assert f"{model['score_first']:.1f} to {model['score_second']:.1f}" in found["finding"]
    assert "sim-blur has the same fingerprint in both runs" in " ".join(found["notes"])


def test_swapping_the_runs_flips_every_sign(runs: Path) -> None:
    one, other = compared(runs / "old", runs / "new"), compared(runs / "new", runs / "old")
    for table in ("editors", "metrics", "half_lives"):
        assert len(one[table]) == len(other[table]) > 0
        for here, there in zip(one[table], other[table], strict=True):
            assert here["change"] == pytest.approx(-there["change"], abs=1e-12)
            assert here["p"] == there["p"]
            for low, high in (("low", "high"), ("high", "low")):
                assert here[low] == pytest.approx(-there[high], abs=1e-9)
    worst = {(case["source"], round(case["change"], 9)) for case in one["cases"]}
    assert worst == {(case["source"], round(-case["change"], 9)) for case in other["cases"]}


def test_three_images_are_too_few_and_it_says_so(runs: Path) -> None:
    found = compared(runs / "old", runs / "three")
    model = row(found, "sim-model")
    assert model["low"] is None
    assert model["high"] is None
    assert model["p"] == model["smallest_p"] == 0.25
    assert (model["n_sources"], model["n_only_first"], model["n_only_second"]) == (3, 3, 0)
    assert "may be chance: with 3 images no result could have a p below 0.25" in found["finding"]
    assert "got worse" not in found["finding"]
    assert any("change image by image: −" in note for note in found["notes"])


def test_the_tables_fit_eighty_columns_and_name_the_worst_cases(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    done = cbench("compare", runs / "old", runs / "new")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines if str(runs) not in line)
    assert "Worst 5 cases" in done.out
    paths = [Path(line.strip()) for line in lines if line.strip().startswith(str(runs))]
    assert len(paths) == 10
    assert all(path.is_file() for path in paths)
    assert (tmp_path / "compare" / "old-new" / "index.html").is_file()


def test_the_page_holds_its_pictures_and_needs_no_other_file(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "page"
    assert cbench("compare", runs / "old", runs / "new", "--out", out).code == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    finding = json.loads((out / "comparison.json").read_text())["finding"]
    assert f"<h1>{finding[:20]}" in re.sub(r'<span class="whole">|</span>', "", page)
    sources = re.findall(r'<img src="([^"]{0,30})', page)
    assert len(sources) == 15
    assert all(one.startswith("data:image/webp;base64,") for one in sources)
    assert not re.search(r'(?:src|href)="(?!data:|#)', page), "nothing outside the file"
    assert cbench("compare", runs / "old", runs / "new", "--out", out).code == 0, "a second time over the first"


def test_editors_of_two_names_are_paired_by_hand(runs: Path) -> None:
    refused(
        cbench("compare", runs / "old", runs / "renamed"),
        "no editor has the same name",
        "--editor sim-blur --with sim-next",
    )
    found = compared(runs / "old", runs / "renamed", "--editor", "sim-model", "--with", "sim-next")
    same = compared(runs / "old", runs / "new", "--editor", "sim-model")
    assert found["editors"][0]["change"] == pytest.approx(same["editors"][0]["change"])
    refused(cbench("compare", runs / "old", runs / "new", "--editor", "sim-modl"), "did you mean 'sim-model'")
    refused(cbench("compare", runs / "old", runs / "new", "--with", "sim-blur"), "--with needs --editor")


def _edit(run: Path, change: Any) -> None:
    content = json.loads((run / "manifest.json").read_text())
    change(content)
    (run / "manifest.json").write_text(json.dumps(content))


def test_what_makes_it_unfair_is_told_in_one_line(runs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs / "new", other)

    def change(content: dict[str, Any]) -> None:
        content["fixed"]["seed"] = 99
        content["pairs"]["flip-horizontal"]["forward"] = "Mirror it."
        content["sources"]["p0"]["sha256"] = "0" * 64
        content["spec"]["analysis"]["draws"] = 200

    _edit(other, change)
    done = cbench("compare", runs / "old", other, "--no-page")
    assert done.code == 0
    assert done.err.count("\n") == 1
    for words in ("p0 is another image in each run", "the instructions of flip-horizontal differ", "setting seed: ",
                  "analysis draws: 100 → 200"):  # fmt: skip
        assert words in done.err
    assert row(compared(runs / "old", other), "sim-model")["n_sources"] == 5


def test_a_metric_of_two_versions_is_left_out_and_nothing_comparable_is_refused(runs: Path, tmp_path: Path) -> None:
    import sqlite3

    other = tmp_path / "other"
    shutil.copytree(runs / "new", other)

    def remeasure(metric: str) -> None:
        with sqlite3.connect(other / "run.sqlite") as base:
            base.execute("update measurements set fingerprint = 'x@9' where metric = ?", (metric,))

    remeasure("rmse")
    found = compared(runs / "old", other)
    assert any("rmse was measured under two versions" in one for one in found["warnings"])
    assert {one["metric"] for one in found["metrics"]} == {"ssim"}
    remeasure("ssim")
    refused(cbench("compare", runs / "old", other), "two versions", "measure both runs alike")


def test_runs_that_share_nothing_are_refused(runs: Path, tmp_path: Path) -> None:
    refused(cbench("compare", runs / "old", runs / "old"), "named twice")
    quick_run(tmp_path / "elsewhere", jpeg(15), images={"q": picture(50)})
    refused(cbench("compare", runs / "old", tmp_path / "elsewhere"), "no case in common")
    quick_run(tmp_path / "other-metric", jpeg(15), images=MANY, metrics=["psnr"])
    refused(cbench("compare", runs / "old", tmp_path / "other-metric"), "no metric in common")
    quick_run(tmp_path / "strict", jpeg(15), images=MANY, align="strict")
    refused(cbench("compare", runs / "old", tmp_path / "strict"), "two alignments (auto, strict)", "--align auto")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    refused(cbench("compare", runs / "old", runs / "new", "--out", tmp_path / "mine"), "no comparison's")
    assert (tmp_path / "mine" / "index.html").read_text() == "mine"
    refused(cbench("compare", runs / "old", runs / "new", "--out", runs / "old"), "is a run")


def test_comparing_changes_neither_run(runs: Path, tmp_path: Path) -> None:
    before = read_manifest(runs / "old" / "manifest.json")
    names = sorted(path.name for path in (runs / "old").iterdir())
    assert cbench("compare", runs / "old", runs / "new", "--out", tmp_path / "page").code == 0
    assert read_manifest(runs / "old" / "manifest.json") == before
    assert sorted(path.name for path in (runs / "old").iterdir()) == names
    assert all(math.isfinite(one["change"]) for one in compared(runs / "old", runs / "new")["cases"])
