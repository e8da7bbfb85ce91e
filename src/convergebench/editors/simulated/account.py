"""The reasoning summary of a simulated editor, in titled sections.

It has the form of providers' summaries: bold titles with paragraphs, first about making the picture, then about
checking it. It always claims success if the editor believes it followed the instruction, whatever the picture shows.
It mentions noise in its input only once it notices any.
"""

from __future__ import annotations

from convergebench.editors.instructions.instruction import Intent
from convergebench.edits.geometry import GEOMETRY

NOTICED = "The input image looks noisy: its flat areas show grain, and its fine texture is full of visible artefacts."
"""The only sentence that mentions noise."""

_TURNS = {
    "flip-horizontal": "mirrored from left to right",
    "flip-vertical": "mirrored from top to bottom",
    "rotate-90": "turned clockwise by a quarter",
    "rotate-180": "turned by a half",
    "rotate-270": "turned counter-clockwise by a quarter",
}


def summary(account: str, intent: Intent, *, did: bool = True, noticed: bool = False) -> str:
    """The four sections around a one-line account."""
    request, claim, closing = _about(intent)
    if not did:
        claim = f"{account} So the request was not carried out."
        closing = "The output equals the input. I cannot claim more than that."
    parts = (
        ("Reading the Request", f"I am asked for {request}." + (f" {NOTICED}" if noticed else "")),
        ("Working on the Picture", f"I go over the layout and the light, and then set to work. {account}"),
        ("Checking the Result", f"I hold the output against the request. {claim}"),
        ("Confirming the Outcome", closing),
    )
    return "\n\n".join(f"**{title}**\n\n{text}" for title, text in parts)


def _about(intent: Intent) -> tuple[str, str, str]:
    """The request, the claim about it, and the end of the summary."""
    thing = f"the {intent.thing}" if intent.thing else "it"
    matches = "The output fully matches the request. No further change is needed."
    if intent.action in GEOMETRY:
        turned = _TURNS[intent.action]
        return f"a picture {turned}", f"The image has been correctly {turned}, and nothing else has changed.", matches
    match intent.action:
        case "add":
            claim = f"There is now one more: {thing} has been successfully added beside everything that was there."
            return f"an addition, {thing}", claim, matches
        case "remove":
            return f"a removal, {thing}", f"{thing.capitalize()} has been successfully removed.", matches
        case "replicate":
            claim = "The output is an exact copy of the input: all elements are accurately reproduced."
            return "an exact copy", claim, "The copy is perfect, and the task is complete."
        case "grey":
            claim = "The image is now fully monochrome: every colour has been successfully converted to grey."
            return "a monochrome picture", claim, matches
        case "unknown":
            return "something that I do not understand", "", ""
    return f"a change ({intent.action})", "The change has been successfully made.", matches
