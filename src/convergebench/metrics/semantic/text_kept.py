"""How much of the text in the picture can still be read?

Text is found and read in the reference by PP-OCRv4, and then read again at the same places of the subject. What does
not come out whole is looked for once more: the lines found in the subject on that place, or within half a line's height
of it, are put together from left to right, and the stretch that comes nearest is taken. Of n letters, n − edit distance
are kept, not fewer than 0. The value is the share of all letters kept: 1 for all, 0 for none, higher is better.
Capitals and spaces do not count, since the reader itself is unsure of them; wide and narrow forms of a sign are one.
Added text does not lower the value. A reference with fewer than 3 letters has no value (`no-text`); a
subject without any text has 0.

The reader knows Latin letters without accents, digits and Chinese; other scripts come out as whatever looks alike, in
both images alike, so that their loss is seen, if less exactly. Text upside down or running upwards is not read, or read
as nonsense. Images of different sizes are refused (`size`), since places would not meet. Small letters are read badly
already in the reference, and what is read badly is easily read otherwise. On eight pictures with print of 12 to 40
pixels, JPEG of quality 40 or 15 keeps 0.92 to 1 and blur of σ 2 0.95 to 1; blur of σ 4 keeps nothing of print of 16
pixels and less, and 0.52 to 0.98 of larger print. Below 0.9 (`noticeable`) text is going; 0.5 (`half`) is half the
letters. Paper: Du et al., PP-OCR (2020). Code: ours; it reads what the package rapidocr reads, spaces and lines upside
down aside. Weights: Apache-2.0.
"""

from __future__ import annotations

import unicodedata

from convergebench.errors import Unmeasurable
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.semantic._ocr import WEIGHTS, TextLine, lines, read_at

FEWEST = 3
"""Letters under which a find may as well be a pattern that looks like text."""


@metric(
    "text-kept",
    kind="semantic",
    better="higher",
    range=(0.0, 1.0),
    dimension="none",
    self_value=1.0,
    noticeable=0.9,
    half=0.5,
    paper="Du et al. 2020, arXiv:2009.09941; Liao et al. 2020, arXiv:1911.08947",
    licence="Apache-2.0 (own code); weights Apache-2.0",
    needs=("text",),
    weights=(WEIGHTS,),
)
def text_kept(item: Item) -> float:
    """Share of the reference's letters that can still be read in the same place."""
    subject, reference = pair(item)
    expected = [(line, letters(line.text)) for line in lines(reference)]
    total = sum(len(word) for _, word in expected)
    if total < FEWEST:
        raise Unmeasurable("no-text", "no text was found in the reference")
    again = read_at(subject, [line.corners for line, _ in expected])
    lost = [missing(word, letters(text)) for (_, word), text in zip(expected, again, strict=True)]
    if any(lost):
        found = lines(subject)
        around = ["".join(letters(other.text) for other in near(line, found)) for line, _ in expected]
        lost = [min(n, missing(word, text)) for n, (_, word), text in zip(lost, expected, around, strict=True)]
    return 1 - sum(lost) / total


def letters(text: str) -> str:
    """What counts of a text: no spaces, no case, one form of every sign."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def near(line: TextLine, found: tuple[TextLine, ...]) -> list[TextLine]:
    """The lines whose middle is on this one or half its height off, from left to right."""
    left, top, right, bottom = line.box
    margin = (bottom - top) / 2

    def touches(other: TextLine) -> bool:
        x, y, x_end, y_end = other.box
        return x < right + margin and left - margin < x_end and top - margin < (y + y_end) / 2 < bottom + margin

    return sorted(filter(touches, found), key=lambda other: other.box[0])


def missing(word: str, text: str) -> int:
    """Fewest changes that turn some stretch of `text` into `word` (Sellers 1980); never more than its length."""
    row = [0] * (len(text) + 1)  # a stretch may begin anywhere …
    for number, letter in enumerate(word, start=1):
        before, row = row, [number]
        for column, other in enumerate(text, start=1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other)))
    return min(row)  # … and end anywhere
