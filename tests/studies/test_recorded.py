"""A recorded chain is compared as one of ours would be: whole, around what was changed, or at the end of a cycle."""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.edits.variants import Variant, VariantStep, load_variants
from convergebench.studies.recorded import Recorded
from convergebench.studies.replicate import GridRow, Replicate, ReplicateTable
from convergebench.types import Case, Compare, Edit, State, Study, Word


def walk(study: Study, case: Case) -> list[Word]:
    """Every word, each edit answered."""
    words, found = study.steps(case), []
    answer = None
    try:
        while True:
            word = words.send(answer)
            found.append(word)
            answer = State(f"s{len(found)}", f"i{len(found)}") if isinstance(word, Edit) else None
    except StopIteration:
        return found


def case(label: str, category: str = "") -> Case:
    return Case(f"rice/{label}/0", State("i0", "i0"), "rice", "scene", label=label, category=category)


def compared(words: Sequence[Word], role: str) -> list[int]:
    return [word.step for word in words if isinstance(word, Compare) and word.role == role]


def test_a_chain_of_our_own_words_is_walked_as_our_study_walks_it() -> None:
    for name in ("replicate", "rotate", "monochrome-colour", "add-apples"):
        variant = load_variants([name])[0]
        ours = Replicate(ReplicateTable(steps=5, grid=(GridRow(variants=(name,)),)))
        theirs = Recorded(variant=variant, length=5)
        assert walk(theirs, case(name)) == walk(ours, case(name))
        assert theirs.rounds_of(case(name)) == ours.rounds_of(case(name))


def test_what_lies_around_is_not_compared_while_the_picture_lies_turned() -> None:
    steps = [
        ("Add a ball.", "add"),
        ("Flip it.", "flip-horizontal"),
        ("Add a cup.", "add"),
        ("Flip.", "flip-horizontal"),
    ]
    variant = Variant("mixed", "session", "set", "", tuple(VariantStep(*one) for one in steps), compared="around")  # type: ignore[arg-type]
    words = walk(Recorded(variant=variant, length=4), case("mixed"))
    assert compared(words, "around") == [1, 4]
    assert compared(words, "forward") == [1, 2, 3, 4]


def test_chains_with_words_of_their_own_list_none_for_their_label() -> None:
    variant = Variant("set", "session", "MagicBrush", "", (VariantStep("Add a dog.", "add"),), compared="around")
    facts = Recorded(variant=variant, length=1, own_words=True).edits([case("set")])["set"]
    assert (facts["instructions"], facts["operations"]) == ([], [])
    assert (facts["origin"], facts["family"], facts["compared"]) == ("MagicBrush", "session", "around")


def test_other_words_are_another_plan() -> None:
    one, other = (Variant("v", "f", "o", "", (VariantStep(words, "change"),)) for words in ("a", "b"))
    assert repr(Recorded(variant=one, length=1)) != repr(Recorded(variant=other, length=1))
