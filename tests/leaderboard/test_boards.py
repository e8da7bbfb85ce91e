"""Which entries are compared, on which cases, and that the numbers are those of the report."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from convergebench.conductor.analyse import analyse_run
from convergebench.conductor.leaderboard import build, load
from convergebench.errors import StudyError
from convergebench.leaderboard.boards import Board, make_boards, not_comparable, rules_of
from convergebench.leaderboard.checking import check_bundle
from convergebench.leaderboard.entries import LoadedBundle
from convergebench.leaderboard.settings import BoardPin, BoardSettings
from convergebench.leaderboard.standings import ALL, Standings, board_filters, board_settings
from tests.leaderboard.conftest import World
from tests.leaderboard.runs import StandIn, draw_pictures, make_run


def loaded(path: Path) -> LoadedBundle:
    found = check_bundle(path)
    assert found.accepted, found.faults
    return load(found)


def results(board: Board) -> Standings:
    return Standings(board, board.models, board_settings(board))


@pytest.fixture(scope="module")
def first(world: World) -> LoadedBundle:
    return loaded(world.bundle)


@pytest.fixture(scope="module")
def cheats(world: World) -> LoadedBundle:
    """An editor that does nothing, one that wrecks some images and leaves the others alone."""
    editors = {"lazy": StandIn("lazy", "nothing"), "wrecker": StandIn("wrecker", "wrecks")}
    return loaded(world.submitted(make_run(world.root / "cheats", world.pictures, editors), "cheats"))


def test_the_numbers_are_those_of_the_report(world: World, first: LoadedBundle) -> None:
    (board,) = make_boards([first], BoardSettings())
    found = results(board)
    report = analyse_run(world.run).comparison
    columns = [name for name in report.ranking.columns if name != "verdict"]
    assert found.rankings[ALL].select(columns).equals(report.ranking.select(columns))
    assert found.analysis.headline[0] == report.headline[0]


def test_doing_nothing_and_wrecking_images_do_not_pay(first: LoadedBundle, cheats: LoadedBundle) -> None:
    (board,) = make_boards([first, cheats], BoardSettings())
    frame = results(board).rankings[ALL]
    score = dict(zip(frame["editor"], frame["score"], strict=True))
    assert score["lazy"] == score["wrecker"] == 0.0
    assert min(score["model-a"], score["model-b"]) > 30
    assert frame["n_cases"].to_list() == [12] * 4


def test_a_bundle_with_fewer_cases_is_not_compared_and_changes_nobody_s_rank(world: World, first: LoadedBundle) -> None:
    easy = draw_pictures(world.root / "easy" / "pictures", 3)
    run = make_run(world.root / "easy-run", easy, {"sly": StandIn("sly", "sim-tint")})
    (board,) = make_boards([first, loaded(world.submitted(run, "easy"))], BoardSettings())
    assert [one.name for one in board.entries] == ["model-a", "model-b"]
    ((_, reason),) = board.left_out
    assert reason == "lacks 6 of the 12 cases of the board (first: scene-3/flip-horizontal/0)"


def test_other_images_under_the_same_names_are_not_compared(world: World, first: LoadedBundle) -> None:
    other = draw_pictures(world.root / "other" / "pictures", seed=100)
    run = make_run(world.root / "other-run", other, {"sly": StandIn("sly", "sim-tint")})
    # the board is that of most submitters; with one each, hashes decide, so the maintainer pins it
    pin = BoardPin(study="roundtrip", suite="pictures", rules=rules_of(first.bundle).hash)
    (board,) = make_boards([first, loaded(world.submitted(run, "other"))], BoardSettings(board=(pin,)))
    assert board.pinned
    ((_, reason),) = board.left_out
    assert reason.startswith("12 cases have another image or other words than on the board")


def test_a_pin_that_no_bundle_meets_compares_nothing(first: LoadedBundle) -> None:
    pin = BoardPin(study="roundtrip", suite="pictures", rules="d1:other")
    (board,) = make_boards([first], BoardSettings(board=(pin,)))
    assert not board.entries
    assert board.left_out[0][1] == "board.toml pins the rules d1:other, which no bundle has"


def test_what_else_makes_a_bundle_not_comparable(first: LoadedBundle) -> None:
    board = rules_of(first.bundle)
    assert not_comparable(board, board) == ""
    assert not_comparable(replace(board, rounds=1), board) == "has 1 rounds, the board 2"
    assert "alignment strict, the board under auto" in not_comparable(replace(board, align="strict"), board)
    assert "in the order nested" in not_comparable(replace(board, order="nested"), board)
    fewer = {name: one for name, one in board.metrics.items() if name != "gist"}
    assert not_comparable(replace(board, metrics=fewer), board) == "was not measured by gist, which the board counts"
    other = replace(board, metrics={**board.metrics, "ssim": "ssim@9:0"})
    assert not_comparable(other, board).startswith("was measured by ssim@9:0, the board by ssim@1")


def test_more_rounds_than_the_board_are_cut(world: World, first: LoadedBundle) -> None:
    long = make_run(world.root / "long", world.pictures, {"long": StandIn("long", "sim-tint")}, rounds=3)
    pin = BoardPin(study="roundtrip", suite="pictures", rules=rules_of(first.bundle).hash)
    bundles = [first, loaded(world.submitted(long, "long"))]
    (board,) = make_boards(bundles, BoardSettings(board=(pin,)))
    found = results(board)
    assert found.given.measurements["round"].max() == 2
    scores = {row["editor"]: row["score"] for row in found.rankings[ALL].to_dicts()}
    assert scores["long"] == pytest.approx(scores["model-b"], abs=0.01)  # the same editor


def test_the_newest_submission_of_one_signer_counts_and_others_stay_beside_it(
    world: World, first: LoadedBundle
) -> None:
    newer = make_run(world.root / "newer", world.pictures, {"model-a": StandIn("model-a", "sim-tint", version=2)})
    again = loaded(world.submitted(newer, "newer"))
    stranger = loaded(world.submitted(newer, "stranger", by="Other Lab", unsigned="yes"))
    (board,) = make_boards([first, again, stranger], BoardSettings())
    assert [one.label for one in board.entries] == ["model-a (Example Lab)", "model-a (Other Lab)", "model-b"]
    assert [one.name for one in board.older] == ["model-a"]
    own = results(board).alone(board.older[0])
    report = analyse_run(world.run).comparison.ranking
    assert own["score"] == pytest.approx(report.filter(pl.col("editor") == "model-a")["score"].item())


def test_the_same_bundle_twice_counts_once(world: World, first: LoadedBundle) -> None:
    shutil.copy(world.bundle, world.root / "copy.zip")
    (board,) = make_boards([loaded(world.root / "copy.zip"), first], BoardSettings())
    assert len(board.entries) == 2
    assert not board.older


def test_filters_have_their_own_cases_and_say_how_many(world: World) -> None:
    folder = draw_pictures(world.root / "sized" / "sized", 4)
    draw_pictures(world.root / "large", 1, side=264, seed=9)
    shutil.copy(world.root / "large" / "scene" / "scene-0.png", folder / "scene" / "large.png")
    run = make_run(world.root / "sized-run", folder, {"model-a": StandIn("model-a", "sim-tint")}, rounds=1)
    (board,) = make_boards([loaded(world.submitted(run, "sized"))], BoardSettings())
    sizes = {one.name: len(one.cases) for one in board_filters(board)}
    assert sizes == {
        "all": 10,
        "category:geometric": 5,
        "category:scene_objects": 5,
        "resolution:up to 512 px": 8,
        "resolution:513 to 1024 px": 2,
    }
    ranks = results(board).rankings
    assert ranks["resolution:513 to 1024 px"]["n_cases"].item() == 2
    assert ranks["resolution:513 to 1024 px"]["low"].item() is None  # one image: no interval
    assert ranks["category:geometric"]["n_sources"].item() == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [("titel = 'x'", "titel"), ("[[board]]\nstudy = 'roundtrip'", "suite"), ("title = ", "not valid TOML")],
)
def test_a_mistake_in_board_toml_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "board.toml").write_text(text)
    with pytest.raises(StudyError, match=said):
        build(tmp_path / "b", tmp_path / "site")
    assert not (tmp_path / "site").exists()
