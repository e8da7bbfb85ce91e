import csv
from collections import Counter
from pathlib import Path

import pytest

from convergebench.edits import load_pairs, pair_names, pairs_for, pairs_hash
from convergebench.edits.pairs import choose_pairs, misfit
from convergebench.errors import StudyError
from convergebench.types import KINDS

OWN = """
[[pair]]
id = "{id}"
category = "accessories"
reversibility = "preserving"
kinds = ["face"]
forward_operation = "add"
backward_operation = "remove"
wordings = [{{ forward = "add a crown", backward = "remove the crown" }}]
{extra}
"""

V1 = (
    ("glasses", "accessories", "add glasses", "remove glasses"),
    ("hat", "accessories", "add hat", "remove hat"),
    ("earrings", "accessories", "add earrings", "remove earrings"),
    ("chair-left", "scene_objects", "add a chair on the left", "remove the chair"),
    ("red-ball", "scene_objects", "add a red ball", "remove the red ball"),
    ("flip-horizontal", "geometric", "flip horizontally", "flip horizontally"),
    ("rotate-90", "geometric", "rotate 90° clockwise", "rotate 90° counter-clockwise"),
)


def own_file(folder: Path, *, id: str = "crown", extra: str = "") -> str:
    path = folder / "mine.toml"
    path.write_text(OWN.format(id=id, extra=extra), encoding="utf-8")
    return str(path)


def test_v1_is_seven_pairs_word_for_word() -> None:
    assert tuple((p.id, p.category, p.forward, p.backward) for p in load_pairs(["v1"])) == V1


def test_v1_agrees_with_the_published_table() -> None:
    table = Path(__file__).parents[3] / "shared" / "tables" / "cb_v1_edit_pairs.csv"
    if not table.is_file():
        pytest.skip("the published table is not here")
    with table.open(newline="", encoding="utf-8") as stream:
        rows = [(row["category"], row["forward"], row["backward"]) for row in csv.DictReader(stream)]
    assert rows == [(p.category, p.forward, p.backward) for p in load_pairs(["v1"])]


def test_all_is_thirty_fair_pairs_of_three_categories() -> None:
    pairs = load_pairs(["all"])
    assert len(pairs) == 30
    assert {p.category for p in pairs} == {"accessories", "scene_objects", "geometric"}
    assert {p.reversibility for p in pairs} == {"preserving"}


def test_every_pair_has_three_or_four_different_wordings() -> None:
    pairs = load_pairs(["all", "later"], wordings=10)
    for id, count in Counter(p.id for p in pairs).items():
        assert 3 <= count <= 4, id
        assert len({(p.forward, p.backward) for p in pairs if p.id == id}) == count


def test_wordings_are_numbered_and_labelled() -> None:
    assert [p.label for p in load_pairs(["hat"], wordings=3)] == ["hat", "hat@1", "hat@2"]


def test_categories_fit_their_kinds() -> None:
    fits = {"accessories": ("face",), "scene_objects": ("object", "scene"), "geometric": KINDS}
    assert all(p.kinds == fits[p.category] for p in load_pairs(["all"]))


def test_operations_of_geometric_pairs_undo_each_other() -> None:
    undo = {"rotate-90": "rotate-270", "rotate-270": "rotate-90"}
    for pair in load_pairs(["geometric"]):
        assert pair.backward_operation == undo.get(pair.forward_operation, pair.forward_operation)


def test_every_kind_has_pairs_in_v1() -> None:
    pairs = load_pairs(["v1"])
    assert {kind: len(pairs_for(kind, pairs)) for kind in KINDS} == {"face": 5, "object": 4, "scene": 4}


def test_later_pairs_are_never_part_of_the_default_sets() -> None:
    later = {p.id for p in load_pairs(["later"])}
    assert later
    assert not later & {p.id for p in load_pairs(["v1", "all"])}
    assert {p.category for p in load_pairs(["later"])} >= {"colour", "exact_colour", "expression", "lighting"}
    assert {p.reversibility for p in load_pairs(["later"])} == {"preserving", "destroying", "hallucinating"}


def test_a_selection_keeps_its_order_and_names_each_pair_once() -> None:
    assert [p.id for p in load_pairs(["hat", "glasses", "v1"])][:3] == ["hat", "glasses", "earrings"]
    assert len(load_pairs(["v1", "v1", "all"])) == 30


def test_names_cover_sets_categories_and_ids_without_clashes() -> None:
    names = pair_names()
    assert {"v1", "all", "later", "geometric", "glasses"} <= set(names)
    assert len(set(names)) == len(names)


def test_an_unknown_name_is_answered_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match=r"'glases'; did you mean 'glasses'\? \(cbench list pairs\)"):
        load_pairs(["glases"])


@pytest.mark.parametrize("selection", [[], "v1"])
def test_a_selection_must_be_a_list_with_something_in_it(selection: list[str]) -> None:
    with pytest.raises(StudyError, match="no edit pairs selected"):
        load_pairs(selection)


def test_zero_wordings_are_refused() -> None:
    with pytest.raises(StudyError, match="wordings must be 1 or more"):
        load_pairs(["v1"], wordings=0)


def test_own_pairs_come_from_a_file(tmp_path: Path) -> None:
    pairs = load_pairs(["glasses", own_file(tmp_path)], wordings=2)
    assert [p.label for p in pairs] == ["glasses", "glasses@1", "crown"]


def test_an_own_pair_may_not_take_the_id_of_another_selected_one(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="two different pairs are called 'hat'"):
        load_pairs(["v1", own_file(tmp_path, id="hat")])


@pytest.mark.parametrize(
    ("extra", "fault"),
    [
        ("colour = 'red'", "unknown key 'colour' in [pair.0]"),
        ("[sets]\nmine = ['hat']", "set 'mine' names pairs that do not exist: hat"),
        ("=", "not valid TOML"),
    ],
)
def test_a_faulty_file_is_told_in_one_line(tmp_path: Path, extra: str, fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        load_pairs([own_file(tmp_path, extra=extra)])
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ids_in_a_file_are_unique(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN.format(id="crown", extra="") * 2)
    with pytest.raises(StudyError, match="pair ids must be unique; twice: crown"):
        load_pairs([str(path)])


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"cannot read .*none\.toml"):
        load_pairs([str(tmp_path / "none.toml")])


def test_the_hash_changes_with_any_word_and_with_order() -> None:
    first, second = load_pairs(["hat", "glasses"])
    assert pairs_hash([first, second]) == pairs_hash(load_pairs(["hat", "glasses"]))
    assert pairs_hash([first, second]) != pairs_hash([second, first])
    assert pairs_hash([first]) != pairs_hash(load_pairs(["hat"], wordings=2)[1:])


def test_an_edit_is_not_for_a_picture_that_holds_what_it_adds() -> None:
    hat, glasses, flip = load_pairs(["hat", "glasses", "flip-horizontal"])
    assert misfit(["man", "Cap"], hat) == "it already shows a cap"
    assert misfit(["sunglasses"], glasses) == "it already shows sunglasses"
    assert misfit(["earring", "woman"], load_pairs(["earrings"])[0]) == "it already shows an earring"
    assert misfit(["potted-plants"], load_pairs(["potted-plant"])[0]) == "it already shows a potted plant"
    assert misfit(["man", "hatch", "glass"], hat) == misfit(["glass"], glasses) == misfit(["hat"], flip) == ""


def test_an_edit_of_a_thing_is_only_for_pictures_that_hold_it(tmp_path: Path) -> None:
    (dye,) = load_pairs([own_file(tmp_path, extra='needs = ["hair", "beard"]')])
    assert misfit(["woman", "beard"], dye) == ""
    assert misfit(["statue"], dye) == "it shows no hair"
    assert misfit([], dye) == "it shows no hair"


def test_a_picture_of_which_nobody_says_what_it_holds_suits_every_edit(tmp_path: Path) -> None:
    pairs = load_pairs(["all", "later", own_file(tmp_path, extra='needs = ["hair"]')])
    assert not any(misfit(None, pair) for pair in pairs)


def test_every_pair_that_adds_a_thing_says_which() -> None:
    assert [p.id for p in load_pairs(["all", "later"]) if p.forward_operation == "add" and not p.adds] == []


def test_the_hash_of_pairs_does_not_depend_on_the_pictures_they_are_for(tmp_path: Path) -> None:
    plain = pairs_hash(load_pairs([own_file(tmp_path)]))
    assert pairs_hash(load_pairs([own_file(tmp_path, extra='adds = ["crown"]')])) == plain


def test_id_forward_and_backward_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[pair]]\nid = "crown"\nforward = "add a crown"\nbackward = "remove the crown"\n'
        '[[pair]]\nid = "mirror"\nforward = "mirror the picture"\nbackward = "mirror it back"\n'
        '[[pair]]\nid = "quarter"\nforward = "rotate by 90 degrees"\nbackward = "bring it upright again"\n'
        '[[pair]]\nid = "night"\nforward = "turn day into night"\nbackward = "turn night into day"\nkinds = ["scene"]\n'
    )
    crown, mirror, quarter, night = load_pairs([str(path)])
    assert (crown.category, crown.kinds, crown.wording) == ("own", KINDS, 0)
    assert (crown.forward_operation, crown.backward_operation, crown.reversibility) == ("change",) * 2 + ("preserving",)
    assert (mirror.forward_operation, mirror.backward_operation) == ("flip-horizontal", "flip-horizontal")
    assert (quarter.forward_operation, quarter.backward_operation) == ("rotate-90", "rotate-270")
    assert (night.reversibility, night.kinds) == ("hallucinating", ("scene",))


def test_what_a_file_says_is_never_guessed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[pair]]\nid = "odd"\nforward = "mirror it"\nbackward = "mirror it"\nforward_operation = "add"\n'
        'reversibility = "destroying"\ncategory = "odd_ones"\n'
    )
    (pair,) = load_pairs([str(path)])
    assert (pair.forward_operation, pair.backward_operation) == ("add", None)
    assert (pair.reversibility, pair.category) == ("destroying", "odd_ones")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id = "a"\nbackward = "undo it"', "`forward` is missing"),
        ('id = "a"\nforward = "do"\nwordings = [{ forward = "do it" }]', "not both"),
        ('id = "a"\nforward = 3\nbackward = "undo it"', "forward"),
        ('id = "a"\nforward = "do it"\nbackwards = "undo it"', "backwards"),
        ('id = "a"\nwordings = []', "wordings"),
        ('forward = "do it"\nbackward = "undo it"', "id"),
    ],
)
def test_a_pair_that_lacks_something_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"[[pair]]\n{text}\n")
    with pytest.raises(StudyError) as raised:
        load_pairs([str(path)])
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_one_pair_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    rows = (
        f'[[pair]]\nid = "{name}"\nforward = "add it"\nbackward = "remove it"\n' for name in ("one", "two", "three")
    )
    path.write_text('[sets]\nfew = ["one", "three"]\n' + "".join(rows))
    assert [pair.id for pair in load_pairs([f"{path}#two"])] == ["two"]
    assert [pair.id for pair in load_pairs([f"{path}#few"])] == ["one", "three"]
    with pytest.raises(StudyError, match="has no pair, category or set 'tow'; did you mean 'two'"):
        load_pairs([f"{path}#tow"])
    assert choose_pairs([str(path), "v1"], ["two", "hat"]) == (f"{path}#two", "hat")
    assert choose_pairs([f"{path}#two"], ["one"]) == (f"{path}#one",)
