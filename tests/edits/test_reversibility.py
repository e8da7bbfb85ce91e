import pytest

from convergebench.edits import classify, load_pairs
from convergebench.types import EditPair, Reversibility


@pytest.mark.parametrize("pair", load_pairs(["all", "later"], wordings=10), ids=lambda pair: pair.label)
def test_the_rules_agree_with_every_judged_wording(pair: EditPair) -> None:
    assert pair.backward is not None
    assert classify(pair.forward, pair.backward) == pair.reversibility


@pytest.mark.parametrize(
    ("forward", "backward", "expected"),
    [
        # words that are in no data file
        ("Add a tattoo to the arm.", "Remove the tattoo from the arm.", "preserving"),
        ("Put a crown on the dog.", "Take the crown off the dog.", "preserving"),
        ("Mirror it.", "Mirror it.", "preserving"),
        ("Rotate by 45 degrees.", "Rotate by -45 degrees.", "preserving"),
        ("Remove the car.", "Add the car.", "destroying"),
        ("Make the picture blank white.", "Show what was there.", "destroying"),
        ("Paint the wall yellow.", "Give the wall its original paint back.", "destroying"),
        ("Crop to the upper half.", "Extend the picture downwards.", "destroying"),
        ("Make her look angry.", "Make her look calm.", "hallucinating"),
        ("Make it winter.", "Make it summer.", "hallucinating"),
        ("Convert to sepia.", "Convert to full colour.", "hallucinating"),
        ("Make him ten years older.", "Make him ten years younger.", "hallucinating"),
    ],
)
def test_the_rules_hold_for_words_nobody_has_judged(forward: str, backward: str, expected: Reversibility) -> None:
    assert classify(forward, backward) == expected
