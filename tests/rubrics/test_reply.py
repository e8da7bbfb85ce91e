"""A reply is what was asked for, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from convergebench.rubrics.reply import ReplyField, ReplyForm, parse
from convergebench.rubrics.rubric import load_rubric

FORM = ReplyForm(
    fields=(
        ReplyField(name="seen", type="text", about="what there is"),
        ReplyField(name="score", scale=(0, 10), about="how good", optional=True),
        ReplyField(name="flaws", type="texts", about="what is wrong"),
    )
)
GOOD = {"seen": "a cat", "score": 7.5, "flaws": ["noise"]}
R1 = load_rubric("visualquality-r1").reply
YES_OR_NO = load_rubric("self-evaluation").reply


def test_an_object_as_asked_for_is_read() -> None:
    assert parse(json.dumps(GOOD), FORM) == GOOD
    assert parse(f"\n {json.dumps(GOOD)} \n", FORM) == GOOD
    assert parse(f"```json\n{json.dumps(GOOD, indent=1)}\n```", FORM) == GOOD
    assert parse(json.dumps({**GOOD, "score": 10}), FORM) == {**GOOD, "score": 10.0}
    assert parse(json.dumps({**GOOD, "score": None}), FORM) == {**GOOD, "score": None}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The score is 7.",
        "7",
        "null",
        "[]",
        json.dumps(GOOD)[:-8],
        f"Here you are: {json.dumps(GOOD)}",
        f"{json.dumps(GOOD)} {json.dumps(GOOD)}",
        f"```json\n{json.dumps(GOOD)}\n``` I hope this helps",
        json.dumps({**GOOD, "more": 1}),
        json.dumps({"seen": "a cat", "score": 7}),
        json.dumps({**GOOD, "score": "7"}),
        json.dumps({**GOOD, "score": True}),
        json.dumps({**GOOD, "score": 11}),
        json.dumps({**GOOD, "score": -0.5}),
        json.dumps({**GOOD, "score": float("nan")}),
        json.dumps({**GOOD, "score": float("inf")}),
        json.dumps({**GOOD, "flaws": "noise"}),
        json.dumps({**GOOD, "flaws": [1]}),
        json.dumps({**GOOD, "seen": None}),
        json.dumps(GOOD).replace('"flaws"', '"score": 3, "flaws"'),
        "[" * 100_000,
    ],
)
def test_anything_else_is_nothing(text: str) -> None:
    assert parse(text, FORM) is None


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<answer>3.45</answer>", 3.45),
        ("<think>Sharp, little noise.</think>\n<answer> 4 </answer>\n", 4.0),
        ("<think>First I thought <answer>1</answer>, but no.</think><answer>2.50</answer>", 2.5),
        ("<think>black</think><answer>0.35</answer>", 0.35),
        ("<think>odd</think><answer>-1.20</answer>", -1.2),
        ("<answer>7</answer>", 7.0),
    ],
)
def test_a_number_in_its_tag_is_read_and_never_clipped(text: str, score: float) -> None:
    assert parse(text, R1) == {"score": score}


@pytest.mark.parametrize(
    "text",
    [
        "4.2",
        "The score is <answer>4.2</answer>",
        "<answer>4.2</answer> out of 5",
        "<answer>4.2/5</answer>",
        "<answer>about 4</answer>",
        "<answer></answer>",
        "<answer>4.2",
        "<think>hm <answer>4.2</answer>",
        "<answer>4</answer><answer>3</answer>",
        "<think>a</think> so <think>b</think><answer>3</answer>",
        "<answer>nan</answer>",
        "<answer>1e9</answer>",
        "<answer>٤</answer>",
        "<score>4</score>",
    ],
)
def test_a_number_anywhere_else_is_nothing(text: str) -> None:
    assert parse(text, R1) is None


def test_a_tag_holds_its_number_to_the_scale_unless_the_form_says_otherwise() -> None:
    strict = R1.model_copy(update={"unclipped": False})
    assert parse("<answer>4.9</answer>", strict) == {"score": 4.9}
    assert parse("<answer>0.9</answer>", strict) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", 1.0),
        ("no", 0.0),
        ("Yes.", 1.0),
        ("NO\n", 0.0),
        ("  yes  ", 1.0),
        ("“no”", 0.0),
        ("“No.”", 0.0),
        ("“yes”.", 1.0),
        ('"Yes"', 1.0),
        ("'no'", 0.0),
        ("‘no’.", 0.0),
    ],
)
def test_one_of_two_words_is_read_whatever_its_case_and_marks(text: str, value: float) -> None:
    assert parse(text, YES_OR_NO) == {"noticed": value}


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "“”",
        "yes, it does",
        "Yes. The summary mentions noise.",
        "yes no",
        "yes/no",
        "no no",
        "not sure",
        "yes!",
        "yes..",
        "“yes.”.",
        "yes .",
        '"yes',
        "no”",
        "“yes'",
        '"“yes”"',
        "**yes**",
        "`yes`",
        "The answer is yes",
        "Answer: no",
        "<think>noise</think>yes",
        "ja",
        "y",
        "1",
        "true",
        "yeſ",
        "ｙｅｓ",
        '{"answer": "yes"}',
        '{"noticed": 1}',
        '["yes"]',
        "yes\nyes",
        "yes" * 100_000,
    ],
)
def test_any_other_word_is_nothing(text: str) -> None:
    assert parse(text, YES_OR_NO) is None


def test_a_word_stands_for_an_end_of_the_scale() -> None:
    form = ReplyForm(
        form="word", choices=("worse", "better"), fields=(ReplyField(name="way", scale=(-1, 1), about="…"),)
    )
    assert (parse("worse", form), parse("Better.", form), parse("yes", form)) == ({"way": -1.0}, {"way": 1.0}, None)
    assert form.as_text() == "Reply with one word, better or worse, and nothing else."
    assert ReplyForm.model_validate(form.model_dump(mode="json")) == form


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"choices": ()}, "only the form"),
        ({"choices": ("yes",)}, "only the form"),
        ({"choices": ("no", "maybe", "yes")}, "only the form"),
        ({"choices": ("yes", "yes")}, "only the form"),
        ({"choices": ("No", "Yes")}, "pattern"),
        ({"form": "json"}, "only the form"),
        ({"unclipped": True}, "allows only its two words"),
        ({"fields": (ReplyField(name="seen", type="text", about="…"),)}, "'word' has exactly one field, a number"),
        ({"fields": (ReplyField(name="a", scale=(0, 1), about="…", optional=True),)}, "allows only its two words"),
    ],
)
def test_a_faulty_choice_is_told(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        ReplyForm.model_validate({**YES_OR_NO.model_dump(), **change})


def test_the_schema_is_in_the_subset_that_servers_enforce() -> None:
    schema = FORM.json_schema()
    assert schema["required"] == ["seen", "score", "flaws"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["score"] == {"type": ["number", "null"], "description": "how good"}
    assert schema["properties"]["flaws"]["items"] == {"type": "string"}


def test_the_form_in_words_names_every_key() -> None:
    words = FORM.as_text()
    assert words.splitlines()[1:] == [
        '- "seen" (text): what there is',
        '- "score" (number from 0 to 10, or null): how good',
        '- "flaws" (list of texts): what is wrong',
    ]


@pytest.mark.parametrize("name", ["model_dump", "model_config", "model_validate", "copy", "json", "schema", "class"])
def test_a_field_may_have_any_name(name: str) -> None:
    form = ReplyForm(fields=(ReplyField(name=name, scale=(0, 10), about="how much"),))
    assert parse(json.dumps({name: 5}), form) == {name: 5.0}
    assert parse(json.dumps({"field_0": 5}), form) is None


def test_a_reply_that_repeats_itself_takes_no_time() -> None:
    assert parse("<think>" * 300_000, R1) is None
    assert parse(f"{'<think>' * 100_000}</think><answer>3</answer>", R1) == {"score": 3.0}
