"""A round trip undoes every edit, so it takes only edits that can be undone."""

from __future__ import annotations

import pytest

from convergebench.errors import StudyError
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import EditPair, SourceImage, State


def test_an_edit_that_nobody_undoes_is_refused_before_the_first_call() -> None:
    one_way = EditPair("age", "test", "destroying", ("face",), "make it old", None, "change", None)
    image = SourceImage("a", "face", "0" * 64, 8, 8, "CC0-1.0", "here", lambda: b"")
    with pytest.raises(StudyError, match="'age' has no backward instruction"):
        RoundTrip().cases([(image, State("i1:a", "i1:a"))], [one_way])
