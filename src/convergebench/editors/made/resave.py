"""The control of a cure: the answer's pixels saved anew, and nothing else.

Whatever travelled in the file beside the pixels is gone: a profile, a provider's marks, the layers of a simulated
editor. Editors that correct pixels lose it too, so they are to be compared with this and not with the bare editor.
"""

from __future__ import annotations

from typing import Any

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.made.base import Part, check_name, part_of
from convergebench.editors.made.pixels import Corrected, CorrectedEditor
from convergebench.images.frame import Pixels

VERSION = 1


class Options(Strict):
    """Nothing to choose."""

    of: Any = None


class Resave(CorrectedEditor):
    """Returns the answer's pixels as PNG."""

    def correct(self, after: Pixels, before: Pixels) -> Corrected:
        """The answer as it is."""
        return Corrected(after, {})


def resave(name: str, **options: Any) -> Resave:
    """`resave`: saves the answer anew and nothing else, the control for the other cures; `resave(E)`."""
    of = part_of(name, "of", check_document(options, Options, where=name).of)
    check_name("resave", name, [Part(of)])
    return Resave(name, ids.fingerprint("resave", VERSION, {"of": of.fingerprint}), of)


resave.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
