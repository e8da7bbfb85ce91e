"""The control for the other composites: saves the answer's pixels again, and nothing else.

All metadata of the file is lost: a colour profile, a provider's watermark, the layers of a simulated editor. Editors
that correct pixels lose it too, so compare them with this control and not with the bare editor.
"""

from __future__ import annotations

from typing import Any

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.composite.base import CompositePart, check_name, part_of
from convergebench.editors.composite.pixels import CorrectedEditor, Correction
from convergebench.images.frame import Pixels

VERSION = 1


class ResaveOptions(Strict):
    """No options but the editor."""

    of: Any = None


class ResaveEditor(CorrectedEditor):
    """Returns the answer's pixels as PNG."""

    def correct(self, after: Pixels, before: Pixels) -> Correction:
        """The pixels of the answer, unchanged."""
        return Correction(after, {})


def resave(name: str, **options: Any) -> ResaveEditor:
    """`resave`: only re-encodes the answer, the control for the other mitigations; `resave(E)`."""
    of = part_of(name, "of", check_document(options, ResaveOptions, where=name).of)
    check_name("resave", name, [CompositePart(of)])
    return ResaveEditor(name, ids.fingerprint("resave", VERSION, {"of": of.fingerprint}), of)


resave.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
