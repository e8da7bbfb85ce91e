from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.images import load_suite
from convergebench.images.folder import image_ids
from tests.images.samples import file_bytes, picture


def fill(folder: Path, *names: str) -> Path:
    for seed, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file_bytes(picture(seed=seed)))
    return folder


def test_kinds_come_from_the_names_of_sub_folders(tmp_path: Path) -> None:
    suite = load_suite(str(fill(tmp_path, "Faces/anna.png", "object/cup.png", "scenes/a/hill.png", "portrait/bo.png")))
    assert {image.id: image.kind for image in suite.images} == {
        "anna": "face",
        "bo": "face",
        "cup": "object",
        "hill": "scene",
    }
    assert "kind from the folder's name" in suite.images[0].source


def test_an_image_without_a_kind_is_a_scene_and_says_so(tmp_path: Path) -> None:
    (image,) = load_suite(str(fill(tmp_path, "x.png"))).images
    assert image.kind == "scene"
    assert "kind not stated, taken as scene" in image.source
    assert image.licence == "not stated"


def test_kinds_csv_wins_over_folder_names(tmp_path: Path) -> None:
    fill(tmp_path, "faces/anna.png", "faces/cup.png")
    (tmp_path / "kinds.csv").write_text("file,kind\nfaces/cup.png,object\n")
    assert [image.kind for image in load_suite(str(tmp_path)).images] == ["face", "object"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name,kind\na.png,face\n", "needs the columns file, kind"),
        ("file,kind\na.png,An animal\n", "is 'An animal', not face, object, scene or a word of your own"),
        ("file,kind\nb.png,face\n", "names 'b.png', which is not there"),
    ],
)
def test_a_faulty_kinds_csv_is_told(tmp_path: Path, text: str, fault: str) -> None:
    fill(tmp_path, "a.png")
    (tmp_path / "kinds.csv").write_text(text)
    with pytest.raises(StudyError, match=fault):
        load_suite(str(tmp_path))


def test_an_image_is_read_as_it_is_stored(tmp_path: Path) -> None:
    data = file_bytes(picture(30, 20), "JPEG")
    (tmp_path / "a.jpg").write_bytes(data)
    (image,) = load_suite(str(tmp_path)).images
    assert image.read() == data
    assert (image.width, image.height) == (30, 20)


def test_a_file_that_changes_after_loading_is_told(tmp_path: Path) -> None:
    (image,) = load_suite(str(fill(tmp_path, "a.png"))).images
    (tmp_path / "a.png").write_bytes(file_bytes(picture(seed=9)))
    with pytest.raises(StudyError, match="has changed since"):
        image.read()


def test_unreadable_files_are_all_named_in_one_line(tmp_path: Path) -> None:
    fill(tmp_path, "good.png")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "cut.png").write_bytes(file_bytes(picture())[:-20])
    with pytest.raises(StudyError) as caught:
        load_suite(str(tmp_path))
    message = str(caught.value)
    assert message.startswith("2 of 3 images")
    assert "cut.png" in message
    assert "empty.png" in message
    assert "\n" not in message


def test_many_unreadable_files_are_counted(tmp_path: Path) -> None:
    for index in range(9):
        (tmp_path / f"{index}.png").write_bytes(b"no")
    with pytest.raises(StudyError, match="and 4 more"):
        load_suite(str(tmp_path))


def test_hidden_and_other_files_are_left_out(tmp_path: Path) -> None:
    fill(tmp_path, "a.png", ".b.png", ".thumbs/c.png")
    (tmp_path / "notes.txt").write_text("x")
    assert [image.id for image in load_suite(str(tmp_path)).images] == ["a"]


def test_a_folder_without_images_is_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no images in"):
        load_suite(str(tmp_path))


def test_ids_grow_only_where_names_clash() -> None:
    files = [Path("a/1.png"), Path("b/1.png"), Path("b/2.png"), Path("b/3.png"), Path("b/3.jpg")]
    assert image_ids(files) == ["a-1", "b-1", "2", "b-3.png", "b-3.jpg"]


@given(st.lists(st.text("ab1", min_size=1, max_size=2), min_size=1, max_size=3), st.sampled_from([".png", ".jpg"]))
def test_an_id_is_a_word_without_slashes(parts: list[str], suffix: str) -> None:
    (id,) = image_ids([Path(*parts).with_suffix(suffix)])
    assert id == parts[-1]


def test_a_table_may_also_say_what_is_seen_who_is_credited_and_under_which_licence(tmp_path: Path) -> None:
    fill(tmp_path, "a.png", "b.png")
    rows = "a.png,face,A man with a hat,man; hat ;,CC-BY-4.0,Photo: Jo\nb.png,scene,,,,\n"
    (tmp_path / "kinds.csv").write_text("file,kind,title,holds,licence,credit\n" + rows, encoding="utf-8")
    told, untold = load_suite(str(tmp_path)).images
    assert (told.title, told.holds, told.licence, told.credit) == (
        "A man with a hat",
        ("man", "hat"),
        "CC-BY-4.0",
        "Photo: Jo",
    )
    assert (untold.title, untold.holds, untold.licence, untold.credit) == ("", None, "not stated", "")
