"""Words that name a whole look, a framing, or what the studio cannot do. Data only."""

from __future__ import annotations

from typing import Literal

StudioStep = Literal[
    "turn", "tone", "film", "era", "light", "weather", "season", "style", "drawing", "background", "zoom", "extend",
    "add", "remove", "replace", "recolour", "move", "reshape", "add-text", "replace-text", "restyle-text", "translate",
    "person", "clothes", "expression",
]  # fmt: skip

Patterns = tuple[tuple[str, StudioStep, str], ...]
"""Pattern, step and variant."""

_PERSON = (
    r"person|people|man|woman|men|women|boy|girl|child|lady|guy|her|him|his|she|he|portrait|face|astronaut|subject"
)

FRAMING: Patterns = (
    (r"\bzoom(ed)? in\b|\bclose-?up\b|\bcrop\b.*\b(closer|tight|in)\b|\btighter (crop|framing|view)\b", "zoom", ""),
    (r"\boutpaint|\bshow more of (the|what)\b", "extend", ""),
    (r"\b(extend|expand|enlarge|widen|grow)\b.*\b(canvas|frame|borders?|edges?|boundar|view|scene)", "extend", ""),
)
LOOKS: Patterns = (
    (r"\bsticker", "person", "sticker"),
    (r"\bsimpson|\byellow[- ]skin", "person", "yellow"),
    (r"\bcaricature", "person", "caricature"),
    (r"\bfunko|\b(vinyl|toy) figure|\bbobble", "person", "toy"),
    (r"\blego\b|\bminifig|\bbrick figure", "person", "brick"),
    (rf"^(?=.*\b({_PERSON})\b).*\b(pixar|disney|3d)\b", "person", "3d"),
    (rf"^(?=.*\b({_PERSON})\b).*\b(anime|manga)\b", "person", "anime"),
    (rf"^(?=.*\b({_PERSON})\b).*\b(cel[- ]shad|western comic|comic[- ]book)", "person", "comic"),
    (rf"^(?=.*\b({_PERSON})\b).*\b(ink sketch|line[- ]art|ink drawing|pen and ink)", "person", "ink"),
    (r"\bvan gogh|\bstarry night|\bswirl", "style", "swirls"),
    (r"\bimpressionis|\bmonet\b", "style", "impressionist"),
    (r"\bwatercolou?r|\baquarelle", "style", "watercolour"),
    (r"\boil[- ]paint|\boil on canvas|\bpainterly\b|\brenaissance", "style", "oil"),
    (r"\bpop[- ]art|\bwarhol", "style", "pop art"),
    (r"\bpointillis|\bseurat", "style", "dots"),
    (r"\banime\b|\bmanga\b", "style", "anime"),
    (r"\bcomic\b|\bcel[- ]shad|\bgraphic novel", "drawing", "comic"),
    (r"\bcharcoal\b", "drawing", "charcoal"),
    (r"\bpencil\b|\bsketch\b|\bgraphite\b", "drawing", "pencil"),
    (r"\bline[- ](art|drawing)|\bink\b", "drawing", "ink"),
    (r"\bcartoon", "drawing", "cartoon"),
    (r"\bfilm grain|\bvintage (filter|film|look)|\bgrainy\b|\b35 ?mm\b|\bpolaroid|\bretro filter", "film", ""),
    (r"\banalog(ue)?\b.*\b(film|photo)", "film", ""),
    (r"\bmodern(i[sz]e|ise|ize)?\b|\bcontemporary\b|\bdigital (photo|camera)", "era", "modern"),
    (r"\bsepia\b|\bhistoric|\bvictorian|\bdaguerreotype|\b1[89]\d0s\b|\bcentury\b", "era", "old"),
    (r"\bold[- ](photo|time|fashioned)|\bantique|\bvintage\b", "era", "old"),
    (r"\bgolden[- ]hour|\bsunset\b|\blate[- ]afternoon|\bevening light", "light", "golden"),
    (r"\bfluorescent", "light", "fluorescent"),
    (r"\bmoonli|\bnight(time| scene|fall)?\b", "light", "night"),
    (r"\bstudio light|\bspotlight|\bsoft ?box", "light", "studio"),
    (r"\bcandle ?lit\b|\bcandlelight|\blamplight", "light", "candle"),
    (r"\bautumn|\bfall (foliage|colou?rs|season|scene)|\binto fall\b", "season", "autumn"),
    (r"\bwinter", "season", "winter"),
    (r"\bspring(time)?\b", "season", "spring"),
    (r"\bsummer", "season", "summer"),
    (r"\brain(y|ing|fall|storm)?\b|\bdownpour|\bdrizzl", "weather", "rain"),
    (r"\bsnow(y|ing|fall|storm|flakes)?\b|\bblizzard", "weather", "snow"),
    (r"\bfog(gy)?\b|\bmist(y)?\b|\bhaz[ey]\b", "weather", "fog"),
    (r"\bovercast|\bstorm(y)?\b|\bcloudy\b|\bgr[ea]y clouds", "weather", "overcast"),
    (r"\bsunny\b|\bsunshine|\bclear sky|\bsunlit", "weather", "sunny"),
    (r"\bwarm(er|th)?\b", "tone", "warm"),
    (r"\bcool(er)?\b|\bcold(er)?\b|\bbluish\b", "tone", "cool"),
)  # fmt: skip
"""Patterns of whole looks, the first that fits: more particular ones come first."""
BEYOND: tuple[tuple[str, str], ...] = (
    (r"\b(pose|posture|stance)\b|\b(raise|lift|lower|tilt|bend|cross|wave|fold|turn)\b.{0,24}\b(arms?|hands?|head|legs?|"
     r"chin|shoulders?|body|torso)\b", "change a pose"),
    (r"\b(older|younger|elderly|aged|teenager|toddler|gender|masculine|feminine|wrinkles|years? old)\b|\b(a|into|as) "
     r"(an? )?(old|young)? ?(boy|girl|baby)\b", "change age or gender"),
    (r"\b(surpris|angr|cry|tears|wink|laugh|scream)\w*", "make this expression"),
)  # fmt: skip
"""What would need a model of people; it is refused by name."""
