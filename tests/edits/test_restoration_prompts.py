"""The twelve prompts: two lengths × with and without a request for fidelity, three wordings each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from convergebench.edits.restoration_prompts import STABILITY, load_prompts, shipped_prompts
from convergebench.errors import ConvergeBenchError, StudyError

WORDS = {"S": (29, 30), "SF": (26, 28), "L": (35, 47), "LF": (34, 38)}
"""Fewest and most words of each group, as published."""


def test_there_are_three_prompts_in_each_cell_of_the_design() -> None:
    cells = Counter((one.group, one.length, one.fidelity) for one in shipped_prompts())
    assert cells == {
        ("S", "short", False): 3,
        ("SF", "short", True): 3,
        ("L", "long", False): 3,
        ("LF", "long", True): 3,
    }


@pytest.mark.parametrize("prompt", shipped_prompts(), ids=lambda one: one.id)
def test_a_prompt_has_as_many_words_as_its_group_is_published_with(prompt: object) -> None:
    from convergebench.edits.restoration_prompts import RestorationPrompt

    assert isinstance(prompt, RestorationPrompt)
    fewest, most = WORDS[prompt.group]
    assert fewest <= len(prompt.words.split()) <= most


def test_only_prompts_with_fidelity_ask_to_keep_what_is_there() -> None:
    keeping = ("preserv", "maintain", "fidelity to", "without altering", "unchanged", "consistent")
    for one in shipped_prompts():
        assert any(word in one.words for word in keeping) == one.fidelity, one.id


def test_prompts_are_found_by_id_group_and_set_each_once() -> None:
    assert [one.id for one in load_prompts(["LF3"])] == ["LF3"]
    assert [one.id for one in load_prompts(["SF", "SF2", "S1"])] == ["SF1", "SF2", "SF3", "S1"]
    assert tuple(one.id for one in load_prompts(["stability"])) == tuple(
        one.id for one in shipped_prompts() if one.id in STABILITY
    )
    assert len(load_prompts(["all"])) == 12


def test_an_unknown_prompt_is_told_with_the_nearest_name() -> None:
    with pytest.raises(StudyError, match=r"unknown prompt 'LF4'.*LF3.*a TOML file works too"):
        load_prompts(["LF4"])


def own(folder: Path, text: str) -> str:
    path = folder / "prompts.toml"
    path.write_text(text)
    return str(path)


def test_prompts_of_ones_own_stand_alone_or_in_a_design(tmp_path: Path) -> None:
    path = own(tmp_path, '[[prompt]]\nid = "mine"\nwords = "Repair this picture."\n')
    (mine, *_) = load_prompts([path, "LF3"])
    assert (mine.id, mine.group, mine.length, mine.fidelity) == ("mine", "mine", None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[prompt]]\nid = "LF3"\nwords = "Other words."\n', "two prompts are called 'LF3'"),
        ('[[prompt]]\nid = "a"\nwords = "One."\n[[prompt]]\nid = "a"\nwords = "Two."\n', "two prompts are called 'a'"),
        ('[[prompt]]\nid = "a/b"\nwords = "One."\n', "id"),
        ('[[prompt]]\nid = "a"\nwords = ""\n', "words"),
        ("", "prompt"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConvergeBenchError) as told:
        load_prompts(["LF3", own(tmp_path, text)])
    assert said in str(told.value)
    assert "\n" not in str(told.value)
