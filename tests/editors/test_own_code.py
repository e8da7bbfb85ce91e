"""A user's own function, class or object is an editor by one name: what it is, is seen by looking at it."""

from __future__ import annotations

import asyncio
import io
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import convergebench as cb
from convergebench.editors.find import canonical, make_editor
from convergebench.editors.own_code import editor_from_code, editor_from_object, kind_of
from convergebench.errors import StudyError
from convergebench.studies.spec import read_spec
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits

OWN = '''
import asyncio
import functools

import numpy as np
from PIL import Image, ImageFilter

from beside_it import RADIUS
from convergebench import Capabilities, Edited, Limits


def blur(image, instruction, radius=RADIUS):
    return image.filter(ImageFilter.GaussianBlur(radius))


async def later(image, instruction, *, seed):
    await asyncio.sleep(0)
    return Image.new("RGB", image.size, (seed % 256, 0, 0))


def seeded(image, instruction, seed=None):
    return Image.new("RGB", image.size, (seed % 256, 0, 0))


def as_array(image, prompt):
    return 255 - np.asarray(image)


def floats(image, prompt):
    return np.asarray(image) / 255


def nothing(image, prompt):
    return None


def only_picture(image):
    return image


def checked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


decorated = checked(as_array)
soft = functools.partial(blur, radius=1)
same = lambda image, words: image


class Called:
    def __init__(self, level=10):
        self.level = level

    def __call__(self, image, instruction):
        return Image.new("RGB", image.size, (self.level, 0, 0))


called = Called(20)


class Method:
    """Has one method."""

    def __init__(self, level=30):
        self.level = level

    def edit(self, image, instruction):
        return Image.new("RGB", image.size, (self.level, 0, 0))


method = Method(40)


class Whole:
    def __init__(self, name, level=1):
        self.name, self.fingerprint = name, f"whole@{level}"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        return Edited(request.image, request.mime, "whole")


def factory(name, level=1):
    return Whole(name, level)


whole = Whole("whole")
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file of the user's own in a folder below it and one more beside that."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "random.py").write_text(OWN)
    (tmp_path / "below" / "beside_it.py").write_text("RADIUS = 2")
    (tmp_path / "mine.py").write_text("def same(image, instruction):\n    return image\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    for name in ("beside_it", "mine"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def png(pixels: Any) -> bytes:
    data = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(data, "PNG")
    return data.getvalue()


PICTURE = np.random.default_rng(1).integers(0, 256, (8, 12, 3), np.uint8)


def edited(editor: Editor, seed: int = 7) -> Edited:
    async def once() -> Edited:
        return await editor.edit(EditRequest(png(PICTURE), "image/png", "do it", seed=seed))

    return asyncio.run(once())


def pixels_of(editor: Editor, seed: int = 7) -> Any:
    return np.asarray(Image.open(io.BytesIO(edited(editor, seed).image)))


@pytest.mark.parametrize(
    ("name", "red"),
    [("later", 7), ("seeded", 7), ("Called", 10), ("called", 20), ("Method", 30), ("method", 40)],
)
def test_a_function_a_class_and_an_object_of_a_file_are_editors(name: str, red: int) -> None:
    editor = make_editor(f"below/random.py:{name}")
    assert pixels_of(editor)[0, 0].tolist() == [red, 0, 0]
    assert editor.name == f"below/random.py:{name}"
    assert editor.capabilities.seed == (name in ("later", "seeded"))
    assert edited(editor).used == ({"seed": 7} if editor.capabilities.seed else {})


@pytest.mark.parametrize("name", ["as_array", "decorated"])
def test_pixels_of_8_bits_are_a_picture(name: str) -> None:
    assert np.array_equal(pixels_of(make_editor(f"below/random.py:{name}")), 255 - PICTURE)


def test_a_file_hides_no_module_of_its_name_and_finds_those_beside_it() -> None:
    make_editor("below/random.py:blur")
    import random

    assert hasattr(random, "Random")


def test_a_module_is_found_as_before() -> None:
    assert np.array_equal(pixels_of(make_editor("mine:same")), PICTURE)
    assert np.array_equal(pixels_of(make_editor("mine.py:same")), PICTURE)


@pytest.mark.parametrize("name", ["Whole", "factory"])
def test_whatever_makes_an_editor_is_still_asked_for_one(name: str) -> None:
    editor = make_editor(f"below/random.py:{name}", "own", level=3)
    assert (editor.name, editor.fingerprint) == ("own", "whole@3")


def test_an_editor_that_is_made_already_is_taken_as_it_is() -> None:
    assert make_editor("below/random.py:whole").fingerprint == "whole@1"


def test_options_are_arguments_and_part_of_the_identity() -> None:
    plain, wide = make_editor("below/random.py:blur", "x"), make_editor("below/random.py:blur", "x", radius=5)
    assert plain.fingerprint != wide.fingerprint
    assert np.std(pixels_of(wide)) < np.std(pixels_of(plain)) < np.std(PICTURE)
    assert (
        make_editor("below/random.py:Called", level=77).fingerprint != make_editor("below/random.py:Called").fingerprint
    )


def test_pace_price_and_version_are_options_too() -> None:
    editor = make_editor("mine.py:same", at_once=3, dollars=0.5, seconds=9, per_minute=30, version="2")
    assert (editor.limits.at_once, editor.limits.seconds, editor.limits.per_minute) == (3, 9, 30)
    assert editor.capabilities.dollars_per_call == 0.5
    assert edited(editor).dollars == 0.5
    assert editor.fingerprint == "function:mine.py:same@2"


@pytest.mark.parametrize(
    ("use", "options", "said"),
    [
        ("below/random.py:gone", {}, "below/random.py has no 'gone'"),
        ("no/such.py:fn", {}, "there is no file no/such.py here"),
        ("below/random.py:only_picture", {}, "cannot be called as below/random.py:only_picture(image, instruction)"),
        ("below/random.py:blur", {"radios": 1}, "did you mean 'radius'?"),
        ("below/random.py:Called", {"colour": 1}, "cannot be made: TypeError"),
        ("below/random.py:whole", {"level": 1}, "takes no 'level'"),
        ("mine.py:same", {"at_once": 0}, "at_once = 0 should be a number from 1"),
        ("mine.py:same", {"dollars": "cheap"}, "dollars = 'cheap' should be a number"),
        ("unknown-thing", {}, "your own: FILE.py:NAME"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_type(use: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        make_editor(use, **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"), [("floats", r"shape \(8, 12, 3\) and type float64"), ("nothing", "returned NoneType")]
)
def test_what_is_no_picture_is_named(name: str, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        edited(make_editor(f"below/random.py:{name}"))


def test_one_file_has_one_name() -> None:
    assert canonical("./mine.py:same") == "mine.py:same"


class _Editor:
    name, fingerprint, capabilities, limits = "e", "e@1", Capabilities(), Limits()

    async def edit(self, request: EditRequest) -> Edited:
        return Edited(request.image, request.mime, "e")


def _factory(name: str, **options: Any) -> Editor:
    return _Editor()


def _labelled(label: str, level: int = 1) -> Editor:
    return _Editor()


def _blur(image: Any, instruction: str, *, radius: int = 1) -> Any:
    return image


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (_factory, "factory"),
        (_Editor, "factory"),
        (_Editor(), "editor"),
        (partial(_factory, level=1), "factory"),
        (lambda name: _Editor(), "factory"),
        (_labelled, "factory"),
        (lambda **options: _Editor(), "factory"),
        (_blur, "function"),
        (partial(_blur, radius=2), "function"),
        (lambda a, b: a, "function"),
        (lambda image: image, "function"),
        (3, "factory"),
    ],
)
def test_what_an_object_is_shows_in_its_arguments(target: Any, kind: str) -> None:
    assert kind_of(target) == kind


def test_objects_in_python_are_the_same_editors() -> None:
    class Own:
        def edit(self, image: Any, instruction: str) -> Any:
            return image

    assert editor_from_object(Own()).name == "Own"
    assert editor_from_object(Own).fingerprint == editor_from_object(Own()).fingerprint
    assert editor_from_object(_blur).fingerprint == editor_from_code(_blur, "_blur", {}).fingerprint
    with pytest.raises(StudyError, match="is not an editor"):
        editor_from_object(3)


def test_a_run_goes_on_with_the_function_and_stops_where_it_was_changed(folder: Path) -> None:
    given: dict[str, Any] = {
        "rounds": 1, "metrics": ["rmse"], "images": [PICTURE], "edits": {"pairs": ["glasses"]}, "kind": "face",
        "progress": False, "workers": 1, "editors": ["mine.py:same"], "root": "run",
    }  # fmt: skip
    for _ in range(2):
        assert cb.run(**given).steps["index"].max() == 2
    (folder / "mine.py").write_text("def same(image, instruction):\n    return image.rotate(180)\n")
    with pytest.raises(StudyError, match=r"the function behind editor 'mine\.py:same' has changed") as caught:
        cb.run(**given)
    assert "\n" not in str(caught.value)


def test_a_study_file_finds_a_file_in_the_current_folder_or_else_beside_itself(folder: Path) -> None:
    study = folder / "below" / "own.toml"
    study.write_text(
        'study = "roundtrip"\neditors = ["random.py:blur", "mine.py:same", { name = "x", use = "gone.py:f" }]\n'
    )
    blur, same, gone = read_spec(study).editors
    assert (blur.name, blur.use) == ("random.py:blur", str(folder / "below" / "random.py:blur"))
    assert (same.name, same.use) == ("mine.py:same", "mine.py:same")
    assert gone.use == "gone.py:f"
    assert make_editor(blur.use, blur.name).name == "random.py:blur"
