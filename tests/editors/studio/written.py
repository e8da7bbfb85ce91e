"""Every sentence that the template writer can write, and the step that the studio should see in it."""

from __future__ import annotations

from string import Template

from convergebench.roles.template_writer import sentences

EXPECTED = {
    "color-tone": "tone", "film-grain": "film", "add-object": "add", "remove-object": "remove",
    "replace-object": "replace", "change-attribute": "recolour", "relocate-object": "move",
    "reshape-object": "reshape", "new-background": "background", "change-season": "season",
    "change-weather": "weather", "change-lighting": "light", "art-style": "style", "cartoon-or-sketch": "drawing",
    "modern-or-historical": "era", "replace-text": "replace-text", "add-text": "add-text",
    "restyle-text": "restyle-text", "translate-text": "translate", "accessories": "add", "clothing": "clothes",
    "pose": "beyond-the-studio", "expression": "expression", "age-or-gender": "beyond-the-studio",
    "anime-person": "person", "3d-cartoon-person": "person", "comic-person": "person", "ink-sketch-person": "person",
    "sticker-person": "person", "caricature": "person", "toy-figure": "person", "brick-figure": "person",
    "yellow-cartoon-person": "person", "zoom-in": "zoom", "outpaint": "extend",
}  # fmt: skip

FILLED_IN = [
    {"object": "brown main object", "place": "in the middle", "colour": "blue", "thing": "red ball", "away": "left",
     "edge": "top", "word": "OPEN"},
    {"object": "white cup", "place": "on the right", "colour": "green", "thing": "table lamp", "away": "left",
     "edge": "bottom", "word": "COFFEE"},
    {"object": "orange potted plant", "place": "on the left", "colour": "pink", "thing": "grey cat", "away": "right",
     "edge": "top", "word": "SALE"},
    {"object": "person", "place": "in the middle", "colour": "turquoise", "thing": "gift box", "away": "right",
     "edge": "bottom", "word": "WELCOME"},
]  # fmt: skip
"""What pictures may lead to: nothing named, things that can also be added, a colour that is also a fruit, a person."""


def every_sentence(edit_type: str, pictures: int = len(FILLED_IN)) -> list[str]:
    """All of one type, filled in for so many pictures."""
    known = (*sentences().sentences[edit_type], *sentences().again.get(edit_type, ()))
    return [Template(one).substitute(words) for one in known for words in FILLED_IN[:pictures]]
