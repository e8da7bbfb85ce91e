"""Variants as data: the paper's words where it prints them, our own where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.editors.instructions.instruction import understand
from convergebench.edits.variants import load_variants, shipped_variants
from convergebench.errors import StudyError
from convergebench.types import Settings

PROMPT = "Produce an exact replica of the provided image, with no alterations."
FAMILIES = {
    "replication", "phrasing", "multi-step", "reconstruction", "hyperparameter", "addition", "denoise", "session-mode",
    "session",
}  # fmt: skip


def variant(name: str):  # type: ignore[no-untyped-def]
    (found,) = load_variants([name])
    return found


def test_plain_replication_has_the_exact_words_of_the_paper() -> None:
    assert [step.words for step in variant("replicate").steps] == [PROMPT]
    assert variant("replicate").origin == "Banana100"


def test_only_words_that_the_paper_prints_are_said_to_be_its_own() -> None:
    for one in shipped_variants():
        printed = all(step.words == PROMPT for step in one.steps)
        assert one.origin == ("Banana100" if printed else "ours"), one.id


def test_all_families_of_the_paper_are_there() -> None:
    assert {one.family for one in shipped_variants()} == FAMILIES
    assert len(load_variants(["phrasing"])) >= 3


def test_a_hundred_fruits_are_a_hundred_different_ones() -> None:
    fruits = variant("add-100-fruits")
    assert len({step.words for step in fruits.steps}) == fruits.period == 100
    assert fruits.at(101) == fruits.at(1)


def test_mirroring_and_turning_ask_for_what_brings_the_picture_back() -> None:
    assert [step.operation for step in variant("mirror").steps] == ["flip-horizontal"]
    assert [step.operation for step in variant("rotate").steps] == ["rotate-90"]


def test_reconstructions_come_back_after_a_whole_cycle() -> None:
    assert [step.operation for step in variant("patches-edges-photo").steps] == ["patches", "edges", "rebuild"]
    assert [step.operation for step in variant("monochrome-colour").steps] == ["monochrome", "colourise"]
    assert {one.compared for one in load_variants(["reconstruction"])} == {"cycle"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("seed-fixed", Settings(seed_policy="fixed")),
        ("temperature-0", Settings(temperature=0.0)),
        ("temperature-04", Settings(temperature=0.4)),
        ("resolution-1k", Settings(resolution="1K")),
        ("resolution-in-turns", Settings(interleaved=("1K", "2K", "4K"))),
        ("replicate-single-session", Settings(session="single")),
    ],
)
def test_hyperparameters_are_settings_over_those_of_the_study(name: str, expected: Settings) -> None:
    one = variant(name)
    assert one.apply_to(Settings()) == expected
    assert one.steps == variant("replicate").steps
    assert one.baseline == "replicate"


def test_turns_take_the_place_of_one_resolution_and_one_that_of_turns() -> None:
    assert variant("resolution-in-turns").apply_to(Settings(resolution="2K")).at(3).resolution == "4K"
    assert variant("resolution-1k").apply_to(Settings(interleaved=("2K", "4K"))).at(2).resolution == "1K"


def test_every_session_of_a_person_is_a_variant_that_ends() -> None:
    apple = variant("session-apple-colour")
    assert apple.ends
    assert apple.steps[0].words == "Make the apple green."


def test_what_the_words_ask_for_is_what_a_reader_of_words_understands() -> None:
    recognised = {"flip-horizontal", "rotate-90", "add", "patches", "edges", "colourise", "denoise", "replicate"}
    for one in shipped_variants():
        for step in one.steps[:20]:
            if step.operation in recognised and one.family != "session":
                assert understand(step.words).action == step.operation, step.words


def test_apart_starts_every_step_anew_and_a_cycle_as_a_whole() -> None:
    steps = variant("mirror").as_independent()
    assert steps.label == "mirror-independent"
    assert steps.baseline == "mirror"
    assert all(steps.starts_from_source(number) for number in range(1, 6))
    cycle = variant("patches-edges-photo").as_independent()
    assert [number for number in range(1, 8) if cycle.starts_from_source(number)] == [1, 4, 7]
    assert [number for number in range(1, 8) if variant("mirror").starts_from_source(number)] == [1]


def test_a_file_of_ones_own_is_read_like_the_shipped_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[variant]]\nid = "nuts"\nfamily = "mine"\norigin = "me"\ntitle = "Nuts"\ncompared = "around"\n'
        'things = ["a walnut", "an almond"]\nsteps = [{ words = "Put $thing there.", operation = "add" }]\n'
        '[[variant]]\nid = "cold-nuts"\nfamily = "mine"\norigin = "me"\ntitle = "Cold nuts"\nlike = "nuts"\n'
        "settings = { temperature = 0.0 }\n"
    )
    nuts, cold = load_variants([str(file)])
    assert [step.words for step in nuts.steps] == ["Put a walnut there.", "Put an almond there."]
    assert cold.steps == nuts.steps
    assert (cold.compared, cold.baseline) == ("around", "nuts")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('steps = [{ words = "Put $thing there.", operation = "add" }]', "needs a list of things"),
        ('steps = [{ words = "Put $stuff there.", operation = "add" }]', r"only \$thing"),
        ('steps = [{ words = "Write $5 on it.", operation = "change" }]', r"single \$"),
        ("", "either steps of its own or like"),
        ('like = "nobody"', "is not a variant with steps of its own"),
        ('steps = [{ words = "Turn it.", operation = "twirl" }]', "operation"),
        (
            'steps = [{ words = "Copy it.", operation = "replicate" }]\nsettings = { temperatur = 1 }',
            "unknown key .temperatur.",
        ),
    ],
)
def test_a_slip_in_a_file_is_told_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'[[variant]]\nid = "one"\nfamily = "mine"\norigin = "me"\ntitle = "One of mine"\n{text}\n')
    with pytest.raises(StudyError, match=says) as caught:
        load_variants([str(file)])
    assert "\n" not in str(caught.value)


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(StudyError, match="did you mean 'mirror'"):
        load_variants(["miror"])
