"""The words of the page: what raters are asked, and what each value means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RESTORATION = "restoration"


@dataclass(frozen=True, slots=True)
class AskedLevel:
    """One answer to a question: a button."""

    value: float
    text: str
    meaning: str
    key: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question with its buttons; `ends` are the words at both ends of its scale."""

    name: str
    title: str
    words: str
    levels: tuple[AskedLevel, ...]
    ends: tuple[str, str] = ("", "")


_SCORE = ("not at all, or worse than before", "barely", "a little", "fairly well", "well", "perfectly")
_OVERALL = ("unusable", "poor", "fair", "good", "excellent")
_SEMANTICS = (
    "shows something else",
    "important things changed",
    "some things changed",
    "small changes",
    "all the same",
)
_DETAIL = (
    "far too little",
    "too little",
    "slightly too little",
    "just right",
    "slightly too much",
    "too much",
    "far too much",
)
_SHARPNESS = (
    "far too blurred",
    "too blurred",
    "slightly blurred",
    "just right",
    "slightly too sharp",
    "too sharp",
    "far too sharp",
)
_TITLES = {
    "score": ("How well has the picture been restored?", "Compare the result with the damaged picture."),
    "overall": ("Overall", "How good is the result as a whole?"),
    "semantics": ("Content", "Does it still show the same things, people and letters?"),
    "detail": ("Detail", "Is there as much fine detail as there should be? Too much means that it was invented."),
    "sharpness": ("Sharpness", "Are edges as sharp as they should be?"),
    "preference": ("Which picture is restored better?", "The damaged picture is what both were made from."),
}
_TITLES_RETURNED = {
    **_TITLES,
    "score": ("How much is it still the same picture?", "Compare the result with the original."),
    "preference": ("Which picture is closer to the original?", "Both should show the original, unchanged."),
}
_MEANINGS: Mapping[str, Sequence[str]] = {
    "score": _SCORE, "overall": _OVERALL, "semantics": _SEMANTICS, "detail": _DETAIL, "sharpness": _SHARPNESS,
}  # fmt: skip
_FAULTS = {
    "structure-change": ("Shapes changed", "a face, a hand, a letter or an object has another form than in the input"),
    "invented-edges": ("Invented lines", "edges or outlines where the input has none"),
    "invented-texture": ("Invented texture", "pattern, grain, hair or leaves that nothing in the input speaks for"),
    "colour-on-grey": ("Colour on grey", "a grey picture, or a grey part of it, became coloured"),
    "lost-object": ("Something is gone", "a thing that the input shows is missing"),
    "new-object": ("Something was added", "a thing that the input does not show"),
}


def asked(mode: str, questions: Mapping[str, Sequence[float]], study: str) -> list[AskedQuestion]:
    """The questions of a plan with their buttons and keys, in order."""
    titles = _TITLES if study == RESTORATION else _TITLES_RETURNED
    if mode == "label":
        return [_fault(name, number) for number, name in enumerate(questions, start=1)]
    found = []
    for name, values in questions.items():
        if name == "preference":
            names = {
                1.0: ("A", "the left picture", "←"),
                0.5: ("equal", "both alike", "↓"),
                0.0: ("B", "the right picture", "→"),
            }
            levels = tuple(AskedLevel(value, *names[value]) for value in values)
            found.append(AskedQuestion(name, *titles[name], levels))
            continue
        meanings, signed = _MEANINGS[name], min(values) < 0
        levels = tuple(
            AskedLevel(value, _number(value, signed), meanings[place], str(place + 1) if signed else f"{value:g}")
            for place, value in enumerate(values)
        )
        found.append(AskedQuestion(name, *titles[name], levels, (meanings[0], meanings[-1])))
    return found


def panes(study: str, mode: str) -> dict[str, str]:
    """What the pictures are called on the page."""
    restored = study == RESTORATION
    return {
        "input": "damaged" if restored else "original",
        "result": "restored" if restored else "result",
        "first": "A",
        "second": "B",
        "clean": "undamaged",
    }


def _fault(name: str, number: int) -> AskedQuestion:
    title, words = _FAULTS.get(name, (name.replace("-", " ").capitalize(), ""))
    return AskedQuestion(name, title, words, (AskedLevel(1.0, title, words, str(number) if number < 10 else ""),))


def _number(value: float, signed: bool) -> str:
    return (f"+{value:g}" if value > 0 else f"{value:g}").replace("-", "−") if signed else f"{value:g}"
