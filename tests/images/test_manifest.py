import hashlib
from pathlib import Path

import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.images import load_suite
from convergebench.images.export import export_suite
from tests.images.samples import file_bytes, picture

ROW = """
[[image]]
id = "{id}"
kind = "face"
licence = "CC0-1.0"
source = "a test"
sha256 = "{sha256}"
path = "{path}"
"""


def manifest(folder: Path, rows: str) -> str:
    path = folder / "suite.toml"
    path.write_text('name = "mine"\n' + rows, encoding="utf-8")
    return str(path)


def stored(folder: Path, name: str = "a.png") -> str:
    data = file_bytes(picture(20, 10))
    (folder / name).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def test_a_manifest_gives_its_images_with_what_it_says_of_them(tmp_path: Path) -> None:
    sha256 = stored(tmp_path)
    suite = load_suite(manifest(tmp_path, ROW.format(id="a", sha256=sha256, path="a.png")))
    (image,) = suite.images
    assert suite.name == "mine"
    assert (image.id, image.kind, image.licence, image.source, image.sha256) == (
        "a",
        "face",
        "CC0-1.0",
        "a test",
        sha256,
    )
    assert (image.width, image.height) == (20, 10)
    assert hashlib.sha256(image.read()).hexdigest() == sha256


def test_another_file_than_the_manifests_is_refused(tmp_path: Path) -> None:
    stored(tmp_path)
    with pytest.raises(StudyError, match=r"image 'a': .*a\.png is not the file of the manifest \(its sha256 differs\)"):
        load_suite(manifest(tmp_path, ROW.format(id="a", sha256="0" * 64, path="a.png")))


def test_a_file_changed_after_loading_is_refused(tmp_path: Path) -> None:
    (image,) = load_suite(manifest(tmp_path, ROW.format(id="a", sha256=stored(tmp_path), path="a.png"))).images
    (tmp_path / "a.png").write_bytes(b"other")
    with pytest.raises(StudyError, match="sha256 differs"):
        image.read()


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"image 'a': cannot read .*a\.png: No such file"):
        load_suite(manifest(tmp_path, ROW.format(id="a", sha256="0" * 64, path="a.png")))


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("", "image: Field required"),
        ('[[image]]\nid = "a"\nkind = "face"\n', "an image needs exactly one of path and package, or an origin"),
        (
            ROW.format(id="a", sha256="0" * 64, path="a.png") + 'package = "skimage"\nfile = "a.png"\n',
            "an image needs exactly one of path and package, or an origin",
        ),
        (ROW.format(id="a", sha256="0" * 64, path="a.png") + "seed = 1\n", "unknown key"),
        (ROW.format(id="a b", sha256="0" * 64, path="a.png"), "id: String should match"),
        (ROW.format(id="a", sha256="xyz", path="a.png"), "sha256: String should match"),
        (ROW.replace("face", "Animal").format(id="a", sha256="0" * 64, path="a.png"), "one lower-case word"),
    ],
)
def test_a_faulty_manifest_is_told_in_one_line(tmp_path: Path, rows: str, fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        load_suite(manifest(tmp_path, rows))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_images_of_one_name_are_refused(tmp_path: Path) -> None:
    row = ROW.format(id="a", sha256=stored(tmp_path), path="a.png")
    with pytest.raises(StudyError, match="two images called 'a'"):
        load_suite(manifest(tmp_path, row + row))


def test_a_manifest_with_recipes_says_once_that_drawing_is_gone_and_what_to_do(tmp_path: Path) -> None:
    row = '[[image]]\nid = "{}"\nkind = "face"\nrecipe = "portrait"\nseed = 1\nwidth = 256\nheight = 256\n'
    with pytest.raises(StudyError) as caught:
        load_suite(manifest(tmp_path, row.format("a") + row.format("b")))
    message = str(caught.value)
    assert "'a' has a recipe, but ConvergeBench no longer draws images; give a file with path and sha256" in message
    assert "`cbench suite export` of the version that drew it" in message
    assert "\n" not in message
    assert "'b'" not in message


PACKAGED = """
[[image]]
id = "china"
kind = "scene"
licence = "CC-BY-2.0"
source = "scikit-learn"
package = "{package}"
file = "datasets/images/china.jpg"
sha256 = "{sha256}"
"""


def test_a_photograph_whose_package_is_missing_says_what_to_install(tmp_path: Path) -> None:
    rows = PACKAGED.format(package="not_a_package", sha256="0" * 64)
    with pytest.raises(
        Prerequisite, match=r'\'china\' comes with not_a_package: pip install "convergebench\[photos\]"'
    ):
        load_suite(manifest(tmp_path, rows))


def test_a_photograph_that_its_package_no_longer_has_says_what_to_install(tmp_path: Path) -> None:
    rows = PACKAGED.format(package="sklearn", sha256="0" * 64).replace("china.jpg", "gone.jpg")
    with pytest.raises(Prerequisite, match=r"'china' comes with scikit-learn: pip install"):
        load_suite(manifest(tmp_path, rows))


def test_a_photograph_that_a_package_has_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"china\.jpg is not the file of the manifest \(its sha256 differs\)"):
        load_suite(manifest(tmp_path, PACKAGED.format(package="sklearn", sha256="0" * 64)))


def pair(folder: Path, *more: str) -> str:
    """A manifest of two images; `more` is added to the second."""
    clean, copy = stored(folder, "a.png"), stored(folder, "b.png")
    rows = ROW.format(id="a", sha256=clean, path="a.png") + ROW.format(id="b", sha256=copy, path="b.png")
    return manifest(folder, rows + "\n".join(more) + "\n")


def test_an_image_may_name_its_clean_one_and_what_it_was_degraded_by(tmp_path: Path) -> None:
    first, second = load_suite(pair(tmp_path, 'clean = "a"', 'degradation = "motion-blur"')).images
    assert (first.clean, first.degradation) == ("", "")
    assert (second.clean, second.degradation) == ("a", "motion-blur")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('clean = "aa"', r"image 'b' has clean = 'aa', and there is no such image; did you mean 'a'\?$"),
        ('clean = "b"', "image 'b' has clean = 'b', and that is itself$"),
        ('clean = "../x\\n"', "there is no such image"),
        ('degradation = "Motion Blur"', "should be one lower-case word"),
        ("clean = 3", "should be a valid string"),
    ],
)
def test_a_clean_image_that_is_not_there_is_one_line(tmp_path: Path, line: str, error: str) -> None:
    with pytest.raises(StudyError, match=error) as caught:
        load_suite(pair(tmp_path, line))
    assert str(caught.value).startswith(str(tmp_path / "suite.toml"))


def test_a_copy_of_a_copy_has_no_clean_image(tmp_path: Path) -> None:
    path = Path(pair(tmp_path, 'clean = "a"'))
    path.write_text(path.read_text().replace('id = "a"', 'id = "a"\nclean = "b"'), encoding="utf-8")
    with pytest.raises(StudyError, match="image 'a' has clean = 'b', which is itself a degraded copy"):
        load_suite(str(path))


def test_an_export_keeps_clean_and_degradation(tmp_path: Path) -> None:
    suite = load_suite(pair(tmp_path, 'clean = "a"', 'degradation = "mixed"'))
    again = load_suite(str(export_suite(suite, tmp_path / "out")))
    assert [(one.clean, one.degradation) for one in again.images] == [("", ""), ("a", "mixed")]
