"""What an instruction asks the studio for. Nothing is guessed: what is not understood is refused with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from convergebench.editors.instructions.instruction import Intent, understand
from convergebench.editors.instructions.vocabulary import COLOURS, PLACES, THING_WORDS, Colour
from convergebench.editors.studio.looks import BEYOND, FRAMING, LOOKS, Patterns, StudioStep
from convergebench.edits.geometry import plain_words
from convergebench.errors import Refused
from convergebench.vision.objects import COCO_LABELS


@dataclass(frozen=True, slots=True)
class StudioTask:
    """One thing to do."""

    step: StudioStep
    variant: str = ""
    """Which of the step's ways: `warm`, `rain`, `oil` …"""
    target: str = ""
    """What it is done to: a name of the vocabulary or of the detector, `main`, `it`, or a part (`hair`, `sky`)."""
    thing: str = ""
    """The object to add, by its name in the vocabulary."""
    colour: Colour | None = None
    place: str | None = None
    text: str = ""
    """What to write, in the spelling of the instruction."""


_QUOTED = re.compile(r"[\"“”«]([^\"“”«»]{1,80})[\"“”»]|(?<!\w)['‘]([^'‘’]{1,80})['’](?!\w)")
_WRITING = r"text|writing|lettering|letters|words?|caption|sign|signs|poster|billboard|label|inscription|title|font"
_ADJECTIVE = re.compile(r" (?!(on|in|at|from|with|to|by|and)\b)\w")
"""What follows a word that only describes another one."""
_GENERAL = re.compile(r"\b(main (object|subject|thing)|object|subject|it|its|thing)\b")


def read_studio_task(instruction: str) -> StudioTask:
    """The task, or `Refused`."""
    words = plain_words(instruction)
    intent = understand(instruction)
    task = (
        _about_writing(instruction, words)
        or _about_turning(intent, words)
        or _about_looks(words, FRAMING)
        or _about_background(words)
        or _about_objects(words)
        or _about_looks(words, LOOKS)
        or _about_people(words, intent)
        or _about_shape(words)
        or _about_parts(words, intent)
    )
    if task is None:
        raise Refused(f"sim-studio does not know how to '{_short(instruction)}'", reason="not-understood")
    return task


def _about_writing(instruction: str, words: str) -> StudioTask | None:
    quoted = [first or second for first, second in _QUOTED.findall(instruction)]
    about = re.search(rf"\b({_WRITING})\b", words)
    language = re.search(r"\b(spanish|french|german|italian)\b", words)
    if re.search(r"\btranslat\w+", words):
        return StudioTask("translate", language[1] if language else words.split()[-1])
    if (
        about
        and re.search(r"\b(replac\w+|swap|reword|instead|says?|reads?|change\b.*\b(to|say|read))\b", words)
        and quoted
    ):
        return StudioTask("replace-text", text=quoted[-1], place=_place(words))
    restyled = re.search(
        r"\b(font|bold|serif|italic|handwrit\w+|typeface|lettering style)\b|\bcolou?r\b|\brecolou?r\b", words
    )
    if (
        about
        and not quoted
        and (restyled or _first_colour(words))
        and re.search(r"\b(change|make|turn|set|recolou?r|give|restyle)\b", words)
    ):
        variant = "handwritten" if re.search(r"handwrit|script|cursive", words) else "printed"
        return StudioTask("restyle-text", variant, colour=_last_colour(words))
    if quoted and re.search(r"\b(add|write|put|place|print|insert|paint|include|letter)\b", words):
        variant = "handwritten" if re.search(r"handwrit|script|cursive|by hand", words) else "printed"
        return StudioTask(
            "add-text", variant, colour=_colour_outside_quotes(instruction), place=_place(words), text=quoted[-1]
        )
    return None


def _about_turning(intent: Intent, words: str) -> StudioTask | None:
    whole = re.search(r"\b(image|picture|photo|photograph|it)\b|^\w+ (horizontally|vertically|\d+)", words)
    if intent.action.startswith(("flip-", "rotate-")) and whole and not re.search(r"\b(object|subject)\b", words):
        return StudioTask("turn", intent.action)
    return None


def _about_background(words: str) -> StudioTask | None:
    if not re.search(r"\bbackground\b|\bbackdrop\b|\bbehind (the|her|him|them|it)\b|\b(setting|surroundings)\b", words):
        return None
    for pattern, scene in (
        (r"\bbeach\b|\bsea\b|\bocean\b|\bcoast", "beach"),
        (r"\bmountain|\balpine|\bpeaks\b|\bhills\b", "mountains"),
        (r"\bcity\b|\bskyline|\burban\b|\bskyscraper", "city"),
        (r"\bforest\b|\bwoods?\b|\btrees\b|\bmeadow|\bpark\b", "forest"),
        (r"\bstudio\b|\bplain\b|\bseamless\b|\bgradient", "studio"),
        (r"\bspace\b|\bstars?\b|\bstarry\b|\bgalax", "space"),
        (r"\bdesert\b|\bdunes?\b", "desert"),
    ):
        if re.search(pattern, words):
            return StudioTask("background", scene, _behind(words), colour=_last_colour(words))
    return None


def _behind(words: str) -> str:
    """What the new background is to stand behind, where the words say so."""
    found = re.search(
        r"\bbehind (.+?)(?= (?:with|to|by|into)\b|$)|^(?:set|put|place) (.+?) (?:against|in front of|on)\b", words
    )
    return (_target(found[1] or found[2]) or "") if found else ""


def _about_objects(words: str) -> StudioTask | None:
    place = _place(words)
    replaced = re.search(
        r"\b(?:replace|swap|exchange|substitute)\b (?P<old>.+?) \b(?:with|by|for)\b (?P<new>.+)", words
    )
    if replaced is None:
        replaced = re.search(r"^(?:turn|change) (?P<old>.+?) into (?P<new>an? .+)", words)
        if replaced and any(re.search(pattern, replaced["new"]) for pattern, _, _ in LOOKS):
            replaced = None  # `turn the cup into a watercolour with a red ball`
    if replaced:
        old, new = _target(replaced["old"]), understand(f"add {replaced['new']}")
        if old and new.thing:
            return StudioTask("replace", target=old, thing=new.thing, colour=new.colour, place=_place(replaced["old"]))
    target = _target(words)
    if re.search(r"^(please |now )?(remove|erase|delete|take (off|away|out)|get rid of|eliminate|clear away)\b", words):
        return StudioTask("remove", target=target or "", colour=_first_colour(words), place=place) if target else None
    moved = re.search(
        r"^(?:please |now )?(?:move|relocate|shift|slide|reposition) (.+?) (?:to|towards?|into|onto) (.+)", words
    )
    moved_thing = _target(moved[1]) if moved else None
    if moved and moved_thing:
        where = _place(moved[2])
        return StudioTask("move", target=moved_thing, place=where) if where else None
    return None


def _about_shape(words: str) -> StudioTask | None:
    target = _target(words)
    if target is None:
        return None
    for pattern, variant in (
        (r"\b(smaller|shrink|reduce\b.*\bsize|half (its|the) size|scale down|tiny)\b", "smaller"),
        (r"\b(bigger|larger|enlarge|increase\b.*\bsize|scale up|twice (its|the) size)\b", "larger"),
        (r"\b(wider|stretch(ed)? (horizontally|sideways))\b", "wider"),
        (r"\b(taller|stretch(ed)? (vertically|upwards?))\b", "taller"),
        (r"\b(tilt|lean|rotate)(ed)?\b", "tilted"),
        (r"\b(mirror|flip)(ed)?\b", "mirrored"),
    ):
        if re.search(pattern, words):
            return StudioTask("reshape", variant, target, place=_place(words))
    return None


def _about_looks(words: str, known: Patterns) -> StudioTask | None:
    for pattern, step, variant in known:
        if re.search(pattern, words):
            if step in ("tone", "weather", "season", "light") and _adds_a_thing(words):
                continue  # `a warm red scarf`, `a snow globe beside the lamp`
            return StudioTask(step, variant, _target(words) or "", place=_place(words))
    return None


def _about_people(words: str, intent: Intent) -> StudioTask | None:
    for pattern, what in BEYOND:
        if re.search(pattern, words) and not _adds_a_thing(words):
            raise Refused(f"sim-studio cannot {what}: it would have to invent a person", reason="beyond-the-studio")
    return StudioTask("expression", intent.action) if intent.action in ("smile", "sad", "neutral") else None


def _about_parts(words: str, intent: Intent) -> StudioTask | None:
    colour = _last_colour(words)
    clothes = re.search(
        r"\b(shirt|clothes|clothing|dress|jacket|sweater|coat|t-shirt|suit|blouse|outfit|garment|top)\b", words
    )
    if clothes and colour is not None and intent.action != "add":
        return StudioTask("clothes", target="clothes", colour=colour)
    if intent.action == "add" and intent.thing:
        return StudioTask("add", thing=intent.thing, colour=_first_colour(_said_first(words)), place=intent.place)
    if intent.action == "remove" and intent.thing:
        return StudioTask("remove", target=intent.thing, colour=intent.colour, place=intent.place)
    recolours = re.search(r"\b(make|turn|paint|colou?r|recolou?r|dye|tint|change|give)\b", words)
    part = re.search(r"\b(hair|sky|background|wall|lips)\b", words)
    target = part[1].replace("wall", "background") if part else _target(words)
    if recolours and colour is not None and target:
        return StudioTask("recolour", target=target, colour=colour, place=_place(words))
    return None


def _adds_a_thing(words: str) -> bool:
    """Whether the words ask for a thing; one that is only mentioned (`as if the cup stood in …`) does not count."""
    intent = understand(_said_first(words))
    asks = re.match(r"^(please |now )?(add|put|place|give|insert|hang|remove)\b", words)
    return bool(asks) and intent.action in ("add", "remove") and intent.thing is not None


def _said_first(words: str) -> str:
    """Up to where something else is mentioned."""
    return re.split(r" (?:as if|beside|next to|near|around|while|away from|behind|over)\b", words)[0]


def _target(words: str) -> str | None:
    """What the words are about: the first thing that has a name here, else `main` or `it` where they say so."""
    for found in _NAMED.finditer(words):
        if found[1] == "orange" and _ADJECTIVE.match(words[found.end() :]):
            continue  # a colour: `the orange cup`
        return _NAMES[found[1]]
    general = _GENERAL.search(words)
    if general is None:
        return None
    return "it" if general[1] in ("it", "its") else "main"


_NAMES = {name: thing for thing, spellings in THING_WORDS.items() for name in spellings}
_NAMES |= {label: label for label in COCO_LABELS if label not in _NAMES}
_NAMES |= {"sofa": "couch", "man": "person", "woman": "person"}
_NAMED = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))})(?:s|es)?(?![\w-])")
"""Names of things, longer ones first: `coffee cup` before `cup`."""


def _place(words: str) -> str | None:
    found = [
        (match.start(), -len(name), place)
        for place, names in PLACES.items()
        for name in names
        for match in re.finditer(rf"\b{re.escape(name)}\b", words)
    ]
    if found:
        place = min(found)[2]
        return (
            "top left"
            if place == "top" and "left" in words
            else "top right"
            if place == "top" and "right" in words
            else place
        )
    side = re.search(r"\b(bottom|lower|top|upper|all sides|both sides)\b", words)
    return (
        {"upper": "top", "lower": "bottom", "both sides": "both", "all sides": "all"}.get(side[1], side[1])
        if side
        else None
    )


def _first_colour(words: str) -> Colour | None:
    found = [(match.start(), name) for name in COLOURS for match in re.finditer(rf"\b{name}\b", words)]
    return COLOURS[min(found)[1]] if found else None


def _last_colour(words: str) -> Colour | None:
    """The colour that something is to have: `from red to blue` ends with it."""
    found = [(match.start(), name) for name in COLOURS for match in re.finditer(rf"\b{name}\b", words)]
    return COLOURS[max(found)[1]] if found else None


def _colour_outside_quotes(instruction: str) -> Colour | None:
    return _first_colour(plain_words(_QUOTED.sub(" ", instruction)))


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:59]}…"
