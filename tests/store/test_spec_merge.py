"""Two study files of one run: the manifest never says less than the run holds."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.store.spec_merge import kept_amounts, merge_specs


def spec(**more: Any) -> dict[str, Any]:
    return {
        "study": "roundtrip",
        "images": {"suite": "builtin", "kinds": ["face"], "limit": 4},
        "edits": {"pairs": ["v1"], "wordings": 1},
        "editors": [{"name": "a", "use": "a", "settings": {}}],
        "measure": {"metrics": ["ssim"], "align": "strict"},
        "roles": {},
        "analysis": {"draws": 100},
        "roundtrip": {"rounds": 8, "replicates": 1, "order": "single"},
        **more,
    }


def test_a_first_study_is_taken_as_it_is() -> None:
    assert merge_specs({}, spec()) == spec()
    assert merge_specs(spec(), {}) == spec(), "an import brings no study"


def test_less_changes_nothing_and_is_said() -> None:
    less = spec(roundtrip={"rounds": 3, "replicates": 1, "order": "single"}, images={**spec()["images"], "limit": 2})
    assert merge_specs(spec(), less) == spec()
    assert kept_amounts(less, spec()) == ["8 rounds (asked for 3)", "up to 4 images (asked for 2)"]


def test_more_is_taken_over_and_needs_no_word() -> None:
    more = spec(roundtrip={"rounds": 20, "replicates": 2, "order": "single"}, images={**spec()["images"], "limit": 0})
    assert merge_specs(spec(), more) == more
    assert merge_specs(more, spec()) == more
    assert kept_amounts(more, more) == []


@pytest.mark.parametrize(
    ("table", "key", "before", "now", "both"),
    [
        ("measure", "metrics", ["default"], ["lpips", "default"], ["default", "lpips"]),
        ("edits", "pairs", ["v1"], ["mine.toml"], ["v1", "mine.toml"]),
        ("images", "kinds", ["face"], ["scene"], ["face", "scene"]),
        ("session", "sessions", ["portrait"], [], []),  # none named = all
    ],
)
def test_lists_become_longer(table: str, key: str, before: Any, now: Any, both: Any) -> None:
    merged = merge_specs(*({table: {key: value}} for value in (before, now)))
    assert merged[table][key] == both


def test_editors_are_one_list_by_name() -> None:
    other = [{"name": "b", "use": "b", "settings": {}}]
    assert [one["name"] for one in merge_specs(spec(), spec(editors=other))["editors"]] == ["a", "b"]


def test_what_is_no_amount_is_as_it_was_said_last() -> None:
    requested = spec(measure={"metrics": ["ssim"], "align": "fit"}, analysis={"draws": 50})
    assert merge_specs(spec(), requested) == requested


def test_rows_of_a_grid_that_differ_only_in_amounts_are_one() -> None:
    def grid(steps: int | None, variants: list[str]) -> dict[str, Any]:
        row = {"variants": variants, "images": [], "steps": steps, "runs": 2}
        return {"study": "replicate", "replicate": {"steps": 100, "runs": 5, "grid": [row]}}

    merged = merge_specs(grid(50, ["replicate"]), grid(20, ["replicate"]))
    assert [row["steps"] for row in merged["replicate"]["grid"]] == [50]
    merged = merge_specs(grid(50, ["replicate"]), grid(20, ["mirror"]))
    assert [row["variants"] for row in merged["replicate"]["grid"]] == [["replicate"], ["mirror"]]


def test_a_limit_of_another_suite_says_nothing_about_this_one() -> None:
    other = spec(images={"suite": "mine", "kinds": ["face"], "limit": 2})
    assert merge_specs(spec(), other)["images"]["limit"] == 2
