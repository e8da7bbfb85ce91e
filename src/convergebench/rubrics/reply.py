"""Parse a model's reply: exactly the requested form, or nothing.

A reply has a form. `json`: one object with the fields of the form, all of them, no others, numbers within their scale.
`tag`: one plain number between `<answer>` and `</answer>`, after thinking in `<think>` tags if there is any. `word`:
one of two bare words, such as `no` and `yes`. Anything else is None; no value is extracted from free text.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated, Any, Literal, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    ValidationError,
    create_model,
    model_serializer,
    model_validator,
)

from convergebench.documents import Strict

_FENCED = re.compile(r"```(?:json)?\n(.*)\n```", re.S)
_THOUGHT = re.compile(r"<think>(?:(?!</think>).)*</think>\s*", re.S)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_QUOTED = re.compile(r"""(?:"([^"]*)"|'([^']*)'|“([^“”]*)”|‘([^‘’]*)’)""")
_WORDS = {"number": "number", "text": "text", "texts": "list of texts"}


class ReplyField(Strict):
    """One field of the reply."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    type: Literal["number", "text", "texts"] = "number"
    about: Annotated[str, Field(min_length=1)]
    scale: tuple[FiniteFloat, FiniteFloat] | None = None
    """Lowest and highest number."""
    optional: bool = False
    """May be null, where the pictures do not show the answer."""

    @model_validator(mode="after")
    def _numbers_have_a_scale(self) -> ReplyField:
        if (self.type == "number") != (self.scale is not None):
            raise ValueError(f"'{self.name}': only a number has a scale, and every number needs one")
        if self.scale is not None and self.scale[0] >= self.scale[1]:
            raise ValueError(f"'{self.name}': the scale {self.scale} must go from low to high")
        return self


Choice = Annotated[str, Field(pattern=r"^[a-z]+$")]


class ReplyForm(Strict):
    """What a reply must look like."""

    form: Literal["json", "tag", "word"] = "json"
    tag: Annotated[str, Field(pattern=r"^[a-z]*$")] = ""
    """The tag that holds the number, for the form `tag`."""
    choices: tuple[Choice, ...] = ()
    """The two words of the form `word`: for the lower and for the upper end of the field's scale."""
    unclipped: bool = False
    """Numbers outside their scale are kept as given; otherwise such a reply is unparsable."""
    fields: Annotated[tuple[ReplyField, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _a_tag_or_a_word_holds_one_number(self) -> ReplyForm:
        if (self.form == "tag") != bool(self.tag):
            raise ValueError("only the form 'tag' has a tag, and it needs one")
        if len(self.choices) != 2 * (self.form == "word") or len(set(self.choices)) != len(self.choices):
            raise ValueError("only the form 'word' has choices, and it needs two")
        if self.form != "json" and [field.type for field in self.fields] != ["number"]:
            raise ValueError(f"the form '{self.form}' has exactly one field, a number")
        if self.form == "word" and (self.unclipped or self.fields[0].optional):
            raise ValueError("the form 'word' allows only its two words")
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names):
            raise ValueError("two fields have the same name")
        return self

    @model_serializer(mode="wrap")
    def _without_empty_choices(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out empty `choices`, a later addition, so that keys of older questions stay the same."""
        content: dict[str, Any] = handler(self)
        if not self.choices:
            del content["choices"]
        return content

    def as_text(self) -> str:
        """The form as a sentence for the question."""
        if self.form == "word":
            return f"Reply with one word, {self.choices[1]} or {self.choices[0]}, and nothing else."
        if self.form == "tag":
            return f"Give one number between <{self.tag}> and </{self.tag}>."
        lines = [f'- "{field.name}" ({_kind(field)}): {field.about}' for field in self.fields]
        return "\n".join(["Reply with one JSON object and nothing else. Its keys, in this order:", *lines])

    def json_schema(self) -> dict[str, Any]:
        """The form as a JSON schema, in the subset that servers enforce: all keys required, no others.

        Scales are left to the question and to `parse`: some servers reject a schema with bounds.
        """
        return {
            "type": "object",
            "properties": {field.name: _schema(field) for field in self.fields},
            "required": [field.name for field in self.fields],
            "additionalProperties": False,
        }


def parse(text: str, form: ReplyForm) -> dict[str, Any] | None:
    """The fields of a reply, or None if it does not have the requested form."""
    return {"json": _from_json, "tag": _from_tag, "word": _from_word}[form.form](text, form)


def _from_json(text: str, form: ReplyForm) -> dict[str, Any] | None:
    fenced = _FENCED.fullmatch(text.strip())  # the same object in a code fence is the same object
    try:
        content = json.loads(
            fenced[1] if fenced else text, object_pairs_hook=_each_key_once, parse_constant=_no_constant
        )
        return _checked(content, form)
    except (ValueError, RecursionError):
        return None


def _from_tag(text: str, form: ReplyForm) -> dict[str, Any] | None:
    reply = text.strip()
    if thought := _THOUGHT.match(reply):  # only at the start: many opening tags cost no time
        reply = reply[thought.end() :]
    opening, closing = f"<{form.tag}>", f"</{form.tag}>"
    if not (reply.startswith(opening) and reply.endswith(closing)):
        return None
    number = reply[len(opening) : -len(closing)].strip()
    if not _NUMBER.fullmatch(number):
        return None
    (field,) = form.fields
    try:
        return _checked({field.name: float(number)}, form)
    except ValidationError:
        return None


def _from_word(text: str, form: ReplyForm) -> dict[str, Any] | None:
    """The whole reply must be one of the choices, in any case, optionally quoted and with one full stop."""
    reply = text.strip()
    bare = reply.removesuffix(".")
    if quoted := _QUOTED.fullmatch(bare):
        # the full stop may be inside the quotation marks or after them, not both
        bare = next(part for part in quoted.groups() if part is not None)
        bare = bare.removesuffix(".") if not reply.endswith(".") else bare
    bare = bare.lower()
    if bare not in form.choices:
        return None
    (field,) = form.fields
    assert field.scale is not None
    return {field.name: field.scale[form.choices.index(bare)]}


def _checked(content: Any, form: ReplyForm) -> dict[str, Any]:
    """The validated fields; raises `ValidationError`, which is a `ValueError`."""
    return _model(form).model_validate(content).model_dump(by_alias=True)


@cache
def _model(form: ReplyForm) -> type[BaseModel]:
    """Attributes are numbered, since a field may be called `copy` or `model_dump` like the class's own members."""
    fields: dict[str, Any] = {
        f"field_{number}": (_type(field, form.unclipped), Field(alias=field.name))
        for number, field in enumerate(form.fields)
    }
    return create_model("Reply", __config__=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False), **fields)


def _type(field: ReplyField, unclipped: bool) -> Any:
    kind: Any = {"number": float, "text": str, "texts": list[str]}[field.type]
    if field.scale is not None and not unclipped:
        kind = Annotated[float, Field(ge=field.scale[0], le=field.scale[1])]
    return kind | None if field.optional else kind


def _schema(field: ReplyField) -> dict[str, Any]:
    kind = {"number": "number", "text": "string", "texts": "array"}[field.type]
    schema: dict[str, Any] = {"type": [kind, "null"] if field.optional else kind, "description": field.about}
    if field.type == "texts":
        schema["items"] = {"type": "string"}
    return schema


def _kind(field: ReplyField) -> str:
    scale = f" from {field.scale[0]:g} to {field.scale[1]:g}" if field.scale is not None else ""
    return f"{_WORDS[field.type]}{scale}{', or null' if field.optional else ''}"


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
