"""An editor by whatever a person types for it, or one line that says what to type."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.expression import parse
from convergebench.editors.find import canonical, known_names, make_editor
from convergebench.errors import StudyError

OWN = """
from convergebench import Capabilities, Edited, Limits


class Mine:
    def __init__(self, name, strength=1):
        self.name, self.fingerprint = name, f"mine@1:{strength}"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        return Edited(request.image, request.mime, "mine")


class Lazy(Mine):
    def helped(self):
        import helper_beside

        return helper_beside.WORD


class Unlimited(Mine):
    def __init__(self, name):
        super().__init__(name)
        self.limits = None


class Leaving:
    def __init__(self, name):
        raise SystemExit(0)


class Shapeless:
    def __init__(self, name):
        self.name = name


class Broken:
    def __init__(self, name):
        raise RuntimeError("no luck")
"""


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of the user's own, from which `cbench` is called."""
    (tmp_path / "my_own_editors.py").write_text(OWN)
    (tmp_path / "half_written.py").write_text("def (")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)")
    (tmp_path / "numpy_of_mine.py").write_text("import numpy_")
    (tmp_path / "helper_beside.py").write_text("WORD = 'found'")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_own_editors", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "identity"),
    [
        ("gemini-2.5-flash-image", "gemini-2.5-flash-image"),
        ("nano banana", "gemini-2.5-flash-image"),
        ("Nano_Banana", "gemini-2.5-flash-image"),
        ("nano banana pro", "gemini-3-pro-image"),
        ("kontext-dev", "flux-kontext-dev"),
        ("FLUX.1 Kontext dev", "flux-kontext-dev"),
        ("sim-jpeg", "sim-jpeg"),
        ("something else", "something else"),
        ("paste-back( nano banana )", "paste-back(gemini-2.5-flash-image)"),
        ("best-of(then(sim-jpeg,sim-noise),3,metric=ssim)", "best-of(then(sim-jpeg, sim-noise), 3, metric=ssim)"),
    ],
)
def test_a_nickname_is_one_model_however_it_is_written(typed: str, identity: str) -> None:
    assert canonical(typed) == identity


def test_a_nickname_and_an_id_are_the_same_editor() -> None:
    assert make_editor("nano banana").fingerprint == make_editor("gemini-2.5-flash-image").fingerprint


def test_any_model_of_a_provider_can_be_named_and_its_price_is_not_guessed() -> None:
    editor = make_editor("fal:somebody/new-model/edit")
    assert editor.name == "fal:somebody/new-model/edit"
    assert editor.capabilities.dollars_per_call is None
    assert make_editor("bfl:flux-kontext-pro").fingerprint == make_editor("flux-kontext-pro").fingerprint


def test_a_class_beside_the_study_is_an_editor(beside: Path) -> None:
    editor = make_editor("my_own_editors:Mine", strength=3)
    assert (editor.name, editor.fingerprint) == ("my_own_editors:Mine", "mine@1:3")
    assert sys.path[0] != str(beside), "a file there hides no module of the same name"


def test_a_class_beside_the_study_may_import_its_helpers_when_it_is_called(beside: Path) -> None:
    editor = make_editor("my_own_editors:Lazy")
    assert editor.helped() == "found"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("sim-jpg", "did you mean 'sim-jpeg'?"),
        ("gemini-2.5-flash-imag", "did you mean 'gemini-2.5-flash-image'?"),
        ("my_own_editors:Shapeless", "without fingerprint, capabilities, limits, edit"),
        ("my_own_editors:Broken", "cannot be made: RuntimeError: no luck"),
        ("my_own_editors:Missing", "has no 'Missing'"),
        ("no_such_module:Mine", "there is no module 'no_such_module'"),
        ("half_written:Mine", "cannot be loaded: SyntaxError"),
        ("leaves:Mine", "cannot be loaded: SystemExit"),
        ("numpy_of_mine:Mine", "cannot be loaded: No module named 'numpy_'"),
        ("my_own_editors:Leaving", "cannot be made: SystemExit"),
        ("my_own_editors:Unlimited", "None as its limits, which should be of the type Limits"),
        ("sim-jpeg(", "write it as paste-back(sim-jpeg)"),
        ("sim-jpeg(sim-noise)", "takes no editor"),
        ("past-back(sim-noise)", "did you mean 'paste-back'?"),
        ("paste-back(sim-jpeg, sim-noise)", "paste-back takes 1 argument"),
        ("paste-back(sim-jpeg, of=sim-noise)", "given 'of' twice"),
        ("paste-back(sim-jpeg,)", "commas do not match"),
        ("then((sim-jpeg, sim-noise)", "brackets"),
        ("paste-back(sim-jpg)", "did you mean 'sim-jpeg'?"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_type(beside: Path, typed: str, said: str) -> None:
    with pytest.raises(StudyError) as caught:
        make_editor(typed)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_expression_is_a_word_with_arguments() -> None:
    call = parse("best-of(then(sim-jpeg, sim-noise), 3, metric=ssim)")
    assert call is not None
    assert (call.word, call.arguments, call.named) == ("best-of", ("then(sim-jpeg, sim-noise)", 3), {"metric": "ssim"})
    assert parse("sim-jpeg") is None


@given(st.text(alphabet="ab(),=1 -:.", max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(StudyError):
        parse(text)


def test_every_name_can_be_made_or_says_what_it_needs() -> None:
    for name in known_names():
        said = name
        try:
            made = make_editor(name).name
        except StudyError as error:
            said, made = str(error), name
        assert name in said
        assert made == name
