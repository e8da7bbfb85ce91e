"""A file of pictures that people rated is read whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.measuring.opinions import read_opinions, score_opinions
from convergebench.roles import make_role
from tests.engine.audited_run import make_suite
from tests.roles.server import message, serving


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_suite(tmp_path)


def written(folder: Path, text: str) -> Path:
    (folder / "mos.csv").write_text(text, encoding="utf-8")
    return folder / "mos.csv"


def test_paths_are_relative_to_the_file_and_every_metric_scores_every_picture(folder: Path) -> None:
    rated = read_opinions(written(folder, "mos, image,by\n3.5,scene/scene-0.png,x\n1,scene/scene-1.png,y\n"))
    with serving(lambda request, number: message("<answer>4.25</answer>")) as server:
        roles = {"rater": make_role("rater", server.table())}
        found = list(score_opinions(rated, ["brisque", "visualquality-r1"], roles, workers=1))
    assert [one[:3] for one in found] == [
        ("scene/scene-0.png", 3.5, "brisque"),
        ("scene/scene-1.png", 1.0, "brisque"),
        ("scene/scene-0.png", 3.5, "visualquality-r1"),
        ("scene/scene-1.png", 1.0, "visualquality-r1"),
    ]
    assert [one.status for one in found] == ["ok"] * 4
    assert found[2].value == 4.25


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("picture,mos\n", "no column 'image' in its first line"),
        ("image,mos\n", "rates no image"),
        (
            "image,mos\nscene/scene-0.png,good\nabsent.png,3\n,3\nscene/scene-1.png,nan\nscene/scene-1.png,\n",
            "line 2: mos 'good' is not a number; line 3: there is no image absent.png; line 4: no image; "
            "line 5: mos 'nan' is not a number; line 6: no mos",
        ),
        ("image,mos\nscene/scene-0.png,1\nscene/scene-0.png,2\n", "line 3: scene/scene-0.png is rated twice"),
        ("image,mos\nscene/scene-0.png,1\nscene/../scene/scene-0.png,2\n", "scene/../scene/scene-0.png is rated twice"),
        ("image,mos\n" + "absent.png,3\n" * 7, "line 6: there is no image absent.png; and 2 more"),
    ],
)
def test_every_bad_row_is_told_by_its_line_in_one_line(folder: Path, text: str, fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_opinions(written(folder, text))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_said(folder: Path) -> None:
    with pytest.raises(StudyError, match="cannot read"):
        read_opinions(folder / "absent.csv")
    with pytest.raises(StudyError, match="not UTF-8"):
        read_opinions(folder / "scene/scene-0.png")


BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What Python calls breaks of lines and a CSV file does not."""


@pytest.mark.parametrize("character", BREAKS)
def test_a_file_name_may_hold_whatever_python_calls_a_break_of_lines(folder: Path, character: str) -> None:
    name = f"a{character}b.png"
    (folder / name).write_bytes((folder / "scene" / "scene-0.png").read_bytes())
    (rated,) = read_opinions(written(folder, f"image,mos,by\n{name},3,x{character}y\n"))
    assert (rated.name, rated.mos) == (name, 3.0)


@pytest.mark.parametrize(
    "text",
    [
        'image,mos\n"scene/scene-0.png,1\n',
        "image,mos\na\0b,1\n",
        f"image,mos\n{'n' * 5000},1\n",
        f"image,mos\n{'n' * 20_000_000},1\n",
        "image,mos\n" + "n" * (1 << 20) + ",1\n",
    ],
)
def test_a_file_that_no_table_program_writes_is_refused_in_one_short_line(folder: Path, text: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_opinions(written(folder, text))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
