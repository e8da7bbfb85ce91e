"""Whether a summary claims success without doubt, by strict word lists, sentence by sentence.

Only sections that evaluate the result count. A sentence is a claim if it holds one of the phrases below and no word of
negation, doubt or intent. A summary with a sentence that admits a fault makes no claim, whatever else it says.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from convergebench.reasoning import sections

_DONE = (
    r"add(?:ed)?|plac(?:ed|es)|put|insert(?:ed)?|includ(?:ed|es)|mirror(?:ed)?|flip(?:ped)?|reflected|rotat(?:ed|es)"
    r"|turned|remov(?:ed|es)|convert(?:ed|s)|changed|made|carried out|done|executed|applied|implemented|completed"
    r"|replicat(?:ed|es)|reproduc(?:ed|es)|copied|rendered|captured|preserv(?:ed|es)|retained|match(?:ed|es)?"
    r"|fulfil(?:led|ls|s)|met|achieved|desaturated|positioned|oriented"
)
_WELL = r"successfully|correctly|accurately|perfectly|exactly|precisely|faithfully|flawlessly|properly|fully|completely"
_ASKED = (
    r"(?:the |your |all |every |each |of |its |original |user'?s |given |provided )*"
    r"(?:request|prompt|instruction|requirement|specification|task|input|source|original|criteria|image|goal)s?"
)
SUCCESS = re.compile(
    rf"\b(?:{_WELL})\s+(?:been\s+)?(?:{_DONE})\b"
    rf"|\b(?:{_DONE})\s+(?:{_WELL})\b"
    rf"|\b(?:{_WELL}) (?:monochrome|gr[ae]y\w*|black and white|as (?:asked|requested|instructed))\b"
    rf"|\b(?:matches|meets|satisfies|fulfils|fulfills|follows|aligns with|adheres to|complies with|conforms to)\b"
    rf"(?: \w+){{0,2}} {_ASKED}\b"
    r"|\b(?:task|request|instruction|edit|transformation) (?:is|has been|was) (?:now )?"
    r"(?:complete|completed|fulfilled|done|carried out|satisfied|finished)\b"
    r"|\bno (?:further|more|additional) (?:changes?|edits?|adjustments?|work)\b"
    r"|\b(?:confirm(?:s|ed)?|verified)\b.*\b(?:total|count|now|present|visible|there|add|mirror|flip|rotat|turn|gr[ae]y"
    r"|monochrome|match|replica|success)\w*"
    r"|\b(?:is|are) now (?:\w+ ){0,2}(?:mirrored|flipped|rotated|turned|monochrome|gr[ae]yscale|in place|present"
    r"|visible)\b"
    r"|\bthere (?:is|are) now\b",
    re.IGNORECASE,
)
EXACT = re.compile(
    r"\b(?:exact|perfect|identical|faithful|flawless|precise|true|one-to-one) "
    r"(?:copy|replica|replication|reproduction|match|duplicate|counterpart)\b"
    r"|\bidentical (?:to|with|in)\b|\bpixel[- ](?:perfect|accurate|for[- ]pixel|identical)\b|\bindistinguishable\b"
    r"|\bcopy is (?:perfect|exact|flawless|identical)\b"
    r"|\bno (?:\w+ ){0,2}(?:discrepanc(?:y|ies)|differences?|deviations?|alterations?|errors?)\b"
    r"|\bwithout (?:any )?(?:\w+ )?(?:discrepanc(?:y|ies)|differences?|deviations?|alterations?|changes?)\b"
    rf"|\b(?:exactly|perfectly|precisely|flawlessly) (?:{_DONE}|the same|alike)\b"
    rf"|\b(?:{_DONE}) (?:exactly|perfectly|precisely|flawlessly)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|neither|nor|hardly|barely|unable|unsuccessful\w*|fail\w*|appears?|appearing|seems?|seemingly"
    r"|might|may|perhaps|maybe|probably|presumably|likely|apparently|roughly|approximately|almost|nearly|mostly|largely"
    r"|partly|partially|somewhat|should|would|could|must|will|shall|if|whether|unless|until|aim\w*|intend\w*|try|trying"
    r"|attempt\w*|hope\w*|want\w*|goal|plan\w*|need to|going to|so that|ensur\w+|make sure|making sure|to be sure"
    r"|check(?:ing)? (?:that|for)|verify(?:ing)? (?:that|if)|confirm(?:ing)? that it|let me|however|although|though|but"
    r"|except|apart from|unclear|unsure|uncertain|doubt\w*)\b|n't\b|\?",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:missing|lacks?|lacking|absent|wrong\w*|incorrect\w*|inaccura\w+|mistakes?|mistaken\w*|imperfect\w*|incomplete"
    r"|mismatch\w*|misplaced|unchanged|unmirrored|unrotated|fail(?:s|ed|ure|ures)?|unsuccessful\w*|discrepanc(?:y|ies)"
    r"|deviat\w+|differs?|distort\w+|(?:does|did|do|is|was|are|were|has|have|had|could|can) not|cannot|unable)\b|n't\b",
    re.IGNORECASE,
)
_NONE_OF = re.compile(
    r"\b(?:no|without(?: any)?|zero|free of|nothing(?: \w+)?(?: is| was)?)"
    r"(?: \w+){0,2} (?:missing|discrepanc(?:y|ies)|deviat\w+|mistakes?|failures?|distort\w+|mismatch\w*|wrong)\b"
    r"|\b(?:remains?|left|stays?|everything else(?: is)?|the rest(?: is)?|background(?: is)?) unchanged\b",
    re.IGNORECASE,
)


class SuccessClaim(NamedTuple):
    """A sentence that claims success, and whether it claims that nothing at all differs."""

    sentence: str
    exact: bool


def claim_in(summary: str | None) -> SuccessClaim | None:
    """The summary's first claim of success, exact claims before others; None if it makes none."""
    evaluations = [part.text for part in sections(summary) if part.phase == "evaluation"]
    sentences = [sentence for text in evaluations for sentence in _sentences(text)]
    if any(_admits(sentence) for sentence in sentences):
        return None
    claims = [
        SuccessClaim(sentence, bool(EXACT.search(sentence)))
        for sentence in sentences
        if (SUCCESS.search(sentence) or EXACT.search(sentence)) and not _DOUBT.search(sentence)
    ]
    return max(claims, key=lambda claim: claim.exact, default=None)


def _admits(sentence: str) -> bool:
    """Whether a sentence admits a fault; faults that it denies ("no discrepancies") do not count."""
    return bool(_FAULT.search(_NONE_OF.sub(" ", sentence)))


def _sentences(text: str) -> list[str]:
    plain = re.sub(r"\s+", " ", text.replace("’", "'")).strip()
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|;\s+", plain) if part.strip()]
