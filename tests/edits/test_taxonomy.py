"""The taxonomy is the paper's: 35 types in 8 categories, people-only and text-only ones marked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from convergebench.documents import read_document
from convergebench.edits.taxonomy import TaxonomyFile, categories, excluded_types, select_types, taxonomy, type_of_name
from convergebench.errors import StudyError
from convergebench.rubrics.rubric import load_rubric


def test_counts_by_category_are_the_papers() -> None:
    assert Counter(one.category for one in taxonomy().values()) == {
        "Pixel & Photometric": 2,
        "Object-Level Semantic": 6,
        "Scene Composition & Multi-Subject": 4,
        "Stylistic": 3,
        "Text & Symbol": 4,
        "Human-Centric": 14,
        "Scale": 1,
        "Spatial/Layout": 1,
    }
    assert len(categories()) == 8


def test_human_types_need_a_person_and_three_of_four_text_types_need_writing() -> None:
    assert {one.category for one in taxonomy().values() if one.needs == "person"} == {"Human-Centric"}
    assert all(one.needs == "person" for one in taxonomy().values() if one.category == "Human-Centric")
    assert [one.id for one in taxonomy().values() if one.needs == "text"] == [
        "replace-text",
        "restyle-text",
        "translate-text",
    ]
    assert taxonomy()["add-text"].needs is None


def test_types_are_chosen_by_id_category_or_the_papers_words() -> None:
    assert [one.id for one in select_types(["Stylistic"])] == ["art-style", "cartoon-or-sketch", "modern-or-historical"]
    assert [one.id for one in select_types(["zoom-in", "Zoom in", "outpaint"])] == ["zoom-in", "outpaint"]
    assert len(select_types([])) == 35
    with pytest.raises(StudyError, match="did you mean 'Stylistic'"):
        select_types(["Stylistics"])


def test_a_type_is_found_by_the_name_in_the_papers_files() -> None:
    found = type_of_name("Add film grain or vintage filter")
    assert found is not None
    assert found.id == "film-grain"
    assert type_of_name("Add film") is None


def test_what_the_paper_left_out_has_no_type() -> None:
    words = " ".join(one.name.lower() for one in taxonomy().values())
    assert len(excluded_types()) == 4
    for excluded in ("brightness", "contrast", "saturation", "sharpen", "blur", "perspective"):
        assert excluded not in words


def test_two_types_of_one_id_are_refused(tmp_path: Path) -> None:
    row = '[[type]]\nid = "same"\nname = "n"\ncategory = "c"\nscope = "whole"\n'
    (tmp_path / "twice.toml").write_text(f"version = 1\n{row}{row}")
    with pytest.raises(StudyError, match="same id"):
        read_document(tmp_path / "twice.toml", TaxonomyFile)


def test_the_writers_system_prompt_is_the_papers() -> None:
    system = load_rubric("write-instruction").system
    assert system.strip().startswith("You are an expert photo editor prompt writer.")
    assert "MUST be grounded in the visible content (objects, colors, positions)" in system
    assert [field.name for field in load_rubric("write-instruction").reply.fields] == ["prompts"]
