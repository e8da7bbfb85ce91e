from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.ids import answer_id
from convergebench.metrics.judged._asked import ParsedReply
from convergebench.metrics.judged.from_rubric import metric_from_rubric
from convergebench.rubrics.rubric import form_of, load_rubric, question, rubric_names

OWN = """
name = "mood"
version = 2
pictures = ["subject"]
template = "How merry is it? Costs $$5. $reply"

[[reply.fields]]
name = "merry"
scale = [0, 100]
about = "how merry"

[metric]
value = "merry"
better = "higher"
roles = ["source", "return"]
"""


@pytest.mark.parametrize("name", rubric_names())
def test_every_shipped_rubric_reads_and_says_who_it_is(name: str) -> None:
    rubric = load_rubric(name)
    assert rubric.name == name
    assert rubric.about
    words = dict.fromkeys(rubric.needs, "add a {hat} for $5")
    asked = question(rubric, words)
    assert form_of(asked) == rubric.reply
    assert "$reply" not in asked["text"]
    assert not rubric.needs or "add a {hat} for $5" in asked["text"]


@pytest.mark.parametrize(("version", "is_valid"), [(1, True), (0, False)])
def test_versions_count_from_one(version: int, is_valid: bool, tmp_path: Path) -> None:
    own = tmp_path / "mood.toml"
    own.write_text(OWN.replace("version = 2", f"version = {version}"))
    if is_valid:
        assert load_rubric(str(own)).version == version
    else:
        with pytest.raises(StudyError, match="version"):
            load_rubric(str(own))


def test_the_shipped_ones() -> None:
    assert rubric_names() == (
        "count-objects",
        "find-content",
        "inspect-quality",
        "judge-edit",
        "judge-two-edits",
        "quality-rubric",
        "rewrite-instruction",
        "self-evaluation",
        "semantics-backward",
        "semantics-forward",
        "visualquality-r1",
        "write-instruction",
        "write-next-instruction",
    )


def test_what_was_asked_before_there_were_words_to_choose_from_is_still_the_same_question() -> None:
    """Or answers that stand in journals would be asked for, and paid for, again."""
    known = {
        "quality-rubric": "quality-rubric@1:db77d8f708dc",
        "semantics-backward": "semantics-backward@1:561c5f7cecf4",
        "semantics-forward": "semantics-forward@1:ad24472e9102",
        "visualquality-r1": "visualquality-r1@1:e78cfd37b0ee",
    }
    assert {name: load_rubric(name).fingerprint for name in known} == known
    asked = question(load_rubric("semantics-forward"), {"instruction": "add a hat"}, operation="add")
    key = answer_id(parents=("i1:a", "i1:b"), role="judge", payload=asked, fingerprint="f", replicate=0)
    assert key == "a1:140d94933610d8ee7098eb720ffb67b5"


def test_a_model_that_was_trained_on_its_prompt_gets_it_word_for_word() -> None:
    asked = question(load_rubric("visualquality-r1"), {})
    assert asked["system"] == ""
    assert asked["text"] == (
        "You are doing the image quality assessment task. Here is the question: What is your overall rating on the "
        "quality of this picture? The rating should be a float between 1 and 5, rounded to two decimal places, with 1 "
        "representing very poor quality and 5 representing excellent quality. First output the thinking process in "
        "<think> </think> tags and then output the final answer with only one score in <answer> </answer> tags."
    )


TEMPLATE = (
    "Below is a reasoning summary from an image editing model. Please identify if the reasoning summary mentions that "
    "the original image is noisy, pixelated, or contains visible artifacts. Output “yes” or “no” only.\n"
)


@pytest.mark.parametrize("summary", ["A hat.", "**Title**\n\nTwo lines,\n$reply and {this} for $5.\n\n", "  spaced  "])
def test_a_summary_is_put_into_the_papers_words_and_nothing_is_added_or_taken_away(summary: str) -> None:
    asked = question(load_rubric("self-evaluation"), {"reasoning": summary})
    assert (asked["system"], asked["pictures"]) == ("", [])
    assert asked["text"] == TEMPLATE + summary


def test_things_to_count_are_named_by_the_instruction() -> None:
    rubric = load_rubric("count-objects")
    assert (rubric.pictures, rubric.needs) == (("subject",), ("instruction",))
    assert "«add an apple»" in question(rubric, {"instruction": "add an apple"})["text"]


def test_the_way_back_shows_both_instructions_and_three_pictures() -> None:
    rubric = load_rubric("semantics-backward")
    asked = question(rubric, {"forward": "add hat", "instruction": "remove hat"}, operation="remove")
    assert rubric.pictures == ("reference", "via", "subject")
    assert asked["text"].index("«add hat»") < asked["text"].index("«remove hat»")
    assert asked["operation"] == "remove"
    assert "operation" not in asked["text"]


def test_a_rubric_of_ones_own_works_by_path_and_is_a_metric(tmp_path: Path) -> None:
    path = tmp_path / "mood.toml"
    path.write_text(OWN)
    rubric = load_rubric(str(path))
    assert question(rubric, {})["text"].startswith("How merry is it? Costs $5. Reply with one JSON object")
    metric = metric_from_rubric(rubric, str(path))
    facts = metric.facts
    assert (facts.name, facts.kind, facts.range, facts.asks) == ("mood", "no-reference", (0.0, 100.0), "rater")
    assert metric.rubrics == {"source": str(path), "return": str(path)}
    assert metric(ParsedReply({"merry": 40.0}, {"merry": (0.0, 100.0)})) == 40.0


def test_other_words_are_another_rubric_and_other_remarks_are_not(tmp_path: Path) -> None:
    def fingerprint(text: str) -> str:
        (tmp_path / "mood.toml").write_text(text)
        return load_rubric(str(tmp_path / "mood.toml")).fingerprint

    first = fingerprint(OWN)
    assert fingerprint(OWN.replace("merry is", "glad is")) != first
    assert fingerprint(OWN.replace("version = 2", "version = 3")) != first
    assert fingerprint(f'about = "a remark"\n{OWN}') == first


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("$reply", "$replay"), r"asks for \$replay; did you mean 'reply'"),
        (("$$5", "$5"), "write \\$\\$ for a dollar sign"),
        (("scale = [0, 100]", "scale = [9, 1]"), "must go from low to high"),
        (("scale = [0, 100]", ""), "a number has a scale"),
        (('value = "merry"', 'value = "mery"'), "is not a number of the reply; did you mean 'merry'"),
        (('name = "merry"', 'name = "Merry!"'), "pattern"),
        (('pictures = ["subject"]', 'pictures = ["object"]'), "pictures"),
        (("scale = [0, 100]", "scale = [0, inf]"), "finite"),
        (("scale = [0, 100]", "scale = [nan, 1]"), "finite"),
        (('roles = ["source", "return"]', "roles = []"), "metric.roles"),
        (
            ("version = 2", 'system = "Asked was: ${instruction}"'),
            "system has no placeholders; put .instruction into",
        ),
        (("version = 2", "vresion = 2"), "unknown key 'vresion'; did you mean 'version'"),
        (('pictures = ["subject"]', "pictures = []"), "shows no image and has no placeholder"),
    ],
)
def test_a_faulty_rubric_is_told_in_one_line(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    path = tmp_path / "mood.toml"
    path.write_text(OWN.replace(*change))
    with pytest.raises(StudyError, match=fault) as caught:
        load_rubric(str(path))
    assert "\n" not in str(caught.value)


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(StudyError, match="unknown rubric 'semantic-forward'; did you mean 'semantics-forward'"):
        load_rubric("semantic-forward")
    with pytest.raises(StudyError, match=r"cannot read missing\.toml"):
        load_rubric("missing.toml")


def test_a_rubric_without_a_metric_table_is_no_metric() -> None:
    with pytest.raises(StudyError, match=r"has no \[metric\] table"):
        metric_from_rubric(load_rubric("semantics-forward"), "semantics-forward")


def test_a_rubric_cannot_pass_for_a_metric_that_there_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN.replace('name = "mood"', 'name = "psnr"'))
    with pytest.raises(StudyError, match=r"mine\.toml is called 'psnr' like an existing metric; rename it"):
        metric_from_rubric(load_rubric(str(path)), str(path))


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    asked = question(load_rubric("semantics-forward"), {"instruction": "write $reply, ${forward} and {reply} on it"})
    assert "«write $reply, ${forward} and {reply} on it»" in asked["text"]
    assert asked["text"].count("Reply with one JSON object") == 1
