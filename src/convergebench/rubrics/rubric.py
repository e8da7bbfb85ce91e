"""Rubrics: a question, its pictures and the form of its reply, as data.

A rubric is a TOML file. Shipped ones are found by name, a user's own by path. A question carries its full text, so
the journal can be read without the rubric, and another text is another question.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.ids import fingerprint
from convergebench.registry import suggest
from convergebench.rubrics.reply import ReplyForm
from convergebench.types import Better, CompareRole

DATA = Path(__file__).parent / "data"

Picture = Literal["subject", "reference", "via", "first", "second"]
PLACEHOLDERS = ("instruction", "forward", "reasoning", "edit_type", "history", "reply")
"""Placeholders of a template: the instruction the subject was made with, the one that is being undone, the editor's
summary of its reasoning about the subject, the kind of edit that is wanted, what was edited before, the form of the
reply."""


class MetricTable(Strict):
    """Makes a rubric a metric."""

    value: str
    """The field, a number, that is the value."""
    better: Better
    """`higher`, `lower` or `neither`."""
    roles: Annotated[tuple[CompareRole, ...], Field(min_length=1)] = ("return",)
    """Which kinds of comparison it is asked about."""
    asks: Annotated[str, Field(min_length=1)] = "rater"
    """The role that is asked."""


class Rubric(Strict):
    """A question with its pictures and the form of its reply."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    version: Annotated[int, Field(ge=1)] = 1
    about: str = ""
    origin: str = ""
    """Source of the text, if it is not our own."""
    pictures: tuple[Picture, ...]
    """Which pictures, in the order shown; none: the question is about text alone."""
    system: str = ""
    template: Annotated[str, Field(min_length=1)]
    """The question; `$instruction`, `$forward`, `$reasoning` and `$reply` are filled in."""
    reply: ReplyForm
    metric: MetricTable | None = None

    @model_validator(mode="after")
    def _varies(self) -> Rubric:
        if not self.pictures and not self.needs:
            raise ValueError("the question shows no image and has no placeholder, so it would always be the same")
        return self

    @model_validator(mode="after")
    def _the_value_is_a_number(self) -> Rubric:
        numbers = [field.name for field in self.reply.fields if field.type == "number"]
        if self.metric is not None and self.metric.value not in numbers:
            raise ValueError(f"metric.value is not a number of the reply{suggest(self.metric.value, numbers)}")
        return self

    @field_validator("system")
    @classmethod
    def _without_placeholders(cls, text: str) -> str:
        for word in PLACEHOLDERS:
            if f"${word}" in text or f"${{{word}}}" in text:
                raise ValueError(f"system has no placeholders; put ${word} into the template")
        return text

    @field_validator("template")
    @classmethod
    def _known_placeholders(cls, text: str) -> str:
        template = Template(text)
        if not template.is_valid():
            raise ValueError("there is a single $ in the template; write $$ for a dollar sign")
        for word in template.get_identifiers():
            if word not in PLACEHOLDERS:
                raise ValueError(
                    f"the template asks for ${word}{suggest(word, PLACEHOLDERS)} (known: {', '.join(PLACEHOLDERS)})"
                )
        return text

    @property
    def fingerprint(self) -> str:
        """A hash of everything that a question and its reply depend on."""
        return fingerprint(self.name, self.version, self.model_dump(mode="json", exclude={"about", "origin"}))

    @property
    def needs(self) -> tuple[str, ...]:
        """Placeholders that must have a value, `reply` aside."""
        return tuple(word for word in Template(self.template).get_identifiers() if word != "reply")


def question(rubric: Rubric, words: Mapping[str, str], **facts: str | None) -> dict[str, Any]:
    """The payload of a question. `facts` (the operation, say) are for roles that measure, not shown to models."""
    # strip the template before filling it in, so that the filled-in text stays unchanged
    text = Template(rubric.template.strip()).substitute({**words, "reply": rubric.reply.as_text()})
    return {
        "rubric": rubric.name,
        "pictures": list(rubric.pictures),
        "system": rubric.system.strip(),
        "text": text,
        "reply": rubric.reply.model_dump(mode="json"),
        **{name: fact for name, fact in facts.items() if fact},
    }


def form_of(payload: Mapping[str, Any]) -> ReplyForm:
    """The form of reply that a question requests."""
    return ReplyForm.model_validate(payload["reply"])


def rubric_names() -> tuple[str, ...]:
    """Names of the shipped rubrics."""
    return tuple(sorted(path.stem for path in DATA.glob("*.toml")))


def load_rubric(name: str) -> Rubric:
    """A shipped rubric by its name, or one of your own by its path."""
    if name in rubric_names():
        return _shipped(name)
    if name.endswith(".toml"):
        return read_document(Path(name), Rubric)
    raise StudyError(
        f"unknown rubric '{name}'{suggest(name, rubric_names())} (known: {', '.join(rubric_names())}, or a .toml file)"
    )


@cache
def _shipped(name: str) -> Rubric:
    return read_document(DATA / f"{name}.toml", Rubric)
