"""`cbench claims`: what it prints, writes and returns."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from convergebench.cli.main import main
from tests.claims.folders import SCORES, own_file, table

Told = tuple[int, str, str]


@pytest.fixture
def cbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str) -> Told:
        monkeypatch.setattr(sys, "argv", ["cbench", "claims", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_without_a_word_all_shipped_claims_are_checked(cbench: Callable[..., Told]) -> None:
    code, out, err = cbench()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["claim", "verdict", "sentence", "evidence"]
    assert lines[-2:] == [
        "18 hold, 8 do not, 0 cannot be told",
        "36 more wait for a run: cbench claims RUN",
    ]
    assert max(len(line) for line in lines) <= 80
    assert "\x1b" not in out
    assert sum(line.startswith("K") for line in lines) == 26
    (line,) = [line for line in lines if line.startswith("K7 ")]
    assert "does not hold" in line
    assert "PiSA-SR 22.744" in line


def test_one_file_and_one_claim(cbench: Callable[..., Told]) -> None:
    _, out, _ = cbench("pico-banana")
    assert out.splitlines()[-2:] == [
        "4 hold, 2 do not, 0 cannot be told",
        "8 more wait for a run: cbench claims pico-banana RUN",
    ]
    code, out, _ = cbench("convergebench")
    assert (code, out.splitlines()) == (
        0,
        ["no claim here is about a paper's tables", "5 more wait for a run: cbench claims convergebench RUN"],
    )
    _, out, _ = cbench("--claim", "K7", "--claim", "K16")
    assert out.splitlines()[-1] == "1 holds, 1 does not, 0 cannot be told"


def test_strict_ends_with_one_where_a_claim_does_not_hold(cbench: Callable[..., Told]) -> None:
    assert cbench("pico-banana", "--strict")[0] == 1
    assert cbench("pico-banana", "--strict", "--claim", "K13")[0] == 0


def test_json_has_every_piece_of_evidence(cbench: Callable[..., Told]) -> None:
    told = json.loads(cbench("--json")[1])
    assert told["summary"] == {"holds": 18, "does_not_hold": 8, "cannot_be_told": 0}
    assert told["summary_by_tables"] == {"paper": told["summary"]}
    claims = {claim["id"]: claim for claim in told["claims"]}
    assert len(claims["K12"]["evidence"]) == 36
    (psnr, *_) = claims["K7"]["evidence"]
    assert psnr["values"] == [{"of": "PiSA-SR", "value": 22.744}, {"of": "Nano Banana 2", "value": 22.541}]
    assert psnr["holds"] is False
    assert len(told["waiting"]) == 36


def test_answers_are_written_as_the_name_says(cbench: Callable[..., Told], tmp_path: Path) -> None:
    for name in ("a.md", "a.csv", "a.json"):
        code, out, _ = cbench("banana100", "--out", name)
        assert (code, out.splitlines()[-1]) == (0, f"written  {name}")
    page = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        *("# Claims", "## On the tables of the papers", "## Waiting for a run")
    ]
    assert "| K16 | holds | 1,400 images were made with each further editor. *Tested: " in page
    assert "- B1 (banana100): No classical metric detects the damage on every image." in page
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["K16"]["evidence"] == "stated 1400, worked out 1400"
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["summary"]["holds"] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json", "a.md"]


def test_runs_are_answered_one_below_the_other(cbench: Callable[..., Told], tmp_path: Path) -> None:
    table(tmp_path / "run", "ranking", "editor,quality_rank,semantic_rank\nx,1,2\ny,2,1\n")
    table(tmp_path / "other", "ranking", "editor,quality_rank,semantic_rank\nx,1,1\n")
    code, out, _ = cbench("convergebench", "run", "other", "--claim", "C4")
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith(("on ", "0", "1"))] == [
        "on run",
        "1 holds, 0 do not, 0 cannot be told",
        "on other",
        "0 hold, 1 does not, 0 cannot be told",
    ]
    _, out, _ = cbench("pico-banana", "run", "--claim", "K13")
    assert out.splitlines()[-1] == "run has none of the tables that these claims use"


def test_names_of_editors_can_be_said(cbench: Callable[..., Told], tmp_path: Path) -> None:
    table(tmp_path / "run", "ranking", "editor,half_life_median,semantic,quality\nmine,9,1,1\n")
    told = json.loads(cbench("convergebench", "run", "--claim", "C2", "--name", "nano_banana=mine", "--json")[1])
    assert told["claims"][0]["verdict"] == "does not hold"
    assert told["claims"][0]["evidence"][0]["text"] == "half-life 9 (claimed <= 5)"


def test_words_in_tables_cannot_steer_the_terminal(cbench: Callable[..., Told], tmp_path: Path) -> None:
    table(tmp_path, "odd", "editor,score\n\x1b[31m[bold]red,1\n")
    own_file(
        tmp_path,
        'paper = "p"\n[[claims]]\nid = "x"\nwhere = ""\nsentence = "s"\n'
        'test = { kind = "every", table = "file:odd.csv", left = { column = "score" }, relation = ">", right = 3 }\n',
    )
    code, out, _ = cbench("mine.toml")
    assert code == 0
    assert "\x1b" not in out
    assert "[bold]" in out.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["banana10"], "'banana10' is neither a claim file nor the folder of a run; did you mean 'banana100'?"),
        (["zzz"], "'zzz' is neither a claim file nor the folder of a run (shipped claim files: nano-banana-2, "),
        (["none.toml"], "there is no claim file 'none.toml' (shipped: "),
        (["--claim", "K77"], "there is no claim 'K77' here; did you mean 'K7'?"),
        (["--out", "a.pdf"], "a.pdf: give --out a name that ends in .json, .csv, .md"),
        (["--out", "no/a.md"], "there is no folder no for --out no/a.md"),
        (["--name", "qwen"], "--name qwen: use WORD=NAME, e.g. --name restorer=my-editor"),
        (["--name", "qven=x"], "--name qven=x: no claim file here has the name 'qven'; did you mean 'qwen'?"),
        (["empty"], "empty has no tables; write them with: cbench report empty"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], message: str, cbench: Callable[..., Told], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = cbench(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_nothing_is_printed_when_one_file_is_broken(cbench: Callable[..., Told], tmp_path: Path) -> None:
    table(tmp_path, "scores", SCORES)
    own_file(tmp_path, 'paper = "p"\n[[claims]]\nid = "x"\n')
    code, out, err = cbench("banana100", "mine.toml")
    assert (code, out) == (2, "")
    assert "mine.toml: claim x: " in err
