"""Groups of editors: the same test as for two editors, on cases that all of them have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convergebench.conductor.grouping import read_groups
from convergebench.errors import StudyError
from tests.cli.conftest import World

EDITORS = ("sim-perfect", "sim-jpeg", "sim-blur", "sim-noise")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["sim-jpeg"], "is not NAME=EDITOR,EDITOR"),
        (["a="], "is not NAME=EDITOR,EDITOR"),
        (["a=sim-jpeg"], "nothing to be compared with"),
        (["a=sim-jpeg", "b=sim-jpg"], "has no editor 'sim-jpg'; did you mean 'sim-jpeg'"),
        (["a=sim-jpeg", "b=sim-jpeg"], "is in two groups"),
        (["a=sim-jpeg", "a=sim-blur"], "is given twice"),
    ],
)
def test_bad_groups_are_told_in_one_line(texts: list[str], message: str) -> None:
    with pytest.raises(StudyError, match=message) as caught:
        read_groups(texts, EDITORS)
    assert "\n" not in str(caught.value)


def test_groups_are_read_in_their_order() -> None:
    assert read_groups(["b=sim-blur, sim-noise", "a=sim-jpeg"], EDITORS) == {
        "b": ["sim-blur", "sim-noise"],
        "a": ["sim-jpeg"],
    }


def show(world: World, *groups: str) -> dict[str, Any]:
    flags = [word for group in groups for word in ("--group", group)]
    found: dict[str, Any] = json.loads(world.cbench("show", "run", "--json", *flags).stdout)
    return found


@pytest.fixture
def run(world: World) -> World:
    world.cbench(
        "run", "study.toml", "--editor", "sim-perfect", "--editor", "sim-jpeg", "--editor", "sim-blur", "--metric",
        "ssim", "--rounds", "2", "--run", "run", "--no-report",
    )  # fmt: skip
    return world


def test_two_groups_of_one_are_two_editors_and_a_mean_lies_between(run: World) -> None:
    found = show(run, "first=sim-perfect", "second=sim-jpeg")
    (group,) = found["groups"]
    pairs = {(row["better"], row["worse"]): row for row in found["pairwise"]}
    pair = pairs["sim-perfect", "sim-jpeg"]
    assert (group["better"], group["worse"]) == ("first", "second")
    assert group["difference"] == pytest.approx(pair["difference"])
    assert group["p"] == pytest.approx(pair["p"])
    (mixed,) = show(run, "best=sim-perfect", "others=sim-jpeg,sim-blur")["groups"]
    apart = sorted(pairs["sim-perfect", name]["difference"] for name in ("sim-jpeg", "sim-blur"))
    assert apart[0] - 1e-9 <= mixed["difference"] <= apart[1] + 1e-9
    assert mixed["n_editors"] == [1, 2]
    said = run.cbench("show", "run", "--group", "best=sim-perfect", "--group", "others=sim-jpeg,sim-blur").stdout
    assert "best (1 editor) scores" in said
    assert "may differ in more" in " ".join(said.split())
