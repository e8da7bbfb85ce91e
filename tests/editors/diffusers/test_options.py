"""What may be set, what is refused before anything is loaded, and what makes another editor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from convergebench.editors._table import TABLE
from convergebench.editors.diffusers import checkpoints
from convergebench.editors.diffusers.families import MODELS
from convergebench.errors import StudyError
from convergebench.registry import load
from convergebench.types import Editor


def make(name: str, **options: Any) -> Editor:
    editor: Editor = load("editors", name)(name, **options)
    return editor


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_name(name: str) -> None:
    editor = make(name)
    assert editor.name == name
    assert editor.fingerprint.startswith(f"{name}@1:")
    assert editor.capabilities.seed
    assert not editor.capabilities.simulated
    assert editor.capabilities.dollars_per_call == 0


@pytest.mark.parametrize("name", [*MODELS, "diffusers"])
def test_the_first_line_of_a_factory_says_what_it_is(name: str) -> None:
    assert (load("editors", name).__doc__ or "").startswith(f"`{name}`: ")


def test_making_one_loads_neither_torch_nor_diffusers() -> None:
    factory = TABLE["flux-kontext-dev"].split(":")[0]
    code = (
        f"import sys, {factory} as room; room.flux_kontext_dev('flux-kontext-dev');"
        "print([name for name in ('torch', 'diffusers', 'transformers', 'huggingface_hub') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("flux-kontext-dev", {"guidence": 3}, "unknown key 'guidence'; did you mean 'guidance'?"),
        ("flux-kontext-dev", {"steps": 0}, "steps: "),
        ("flux-kontext-dev", {"dtype": "float8"}, "dtype: "),
        ("flux-kontext-dev", {"device": "gpu"}, "give auto, cpu, cuda, cuda:1 or mps"),
        ("flux-kontext-dev", {"device": "cuda:x"}, "give auto, cpu, cuda, cuda:1 or mps"),
        ("flux-kontext-dev", {"device": "cpu", "offload": "model"}, "leave it out with device 'cpu'"),
        ("flux-kontext-dev", {"true_cfg": 4}, "no effect without a negative_prompt"),
        ("flux-kontext-dev", {"negative_prompt": "blur"}, "no effect with true_cfg 1"),
        ("flux-kontext-dev", {"image_guidance": 2}, "unknown key 'image_guidance'"),
        ("qwen-image-edit", {"guidance": 3}, "unknown key 'guidance'"),
        ("qwen-image-edit", {"negative_prompt": None}, "true_cfg 4 has no effect"),
        ("qwen-image-edit-2509", {"batch": 2}, "takes one image at a time; leave 'batch' at 1"),
        ("instruct-pix2pix", {"image_guidance": 0.5}, "image_guidance: "),
        ("flux-2-dev", {"max_area": 4096 * 4096}, "max_area: "),
        ("diffusers", {}, "needs the options 'family'"),
        ("diffusers", {"family": "flux-2"}, "and 'path'"),
        ("diffusers", {"family": "flux2", "path": "x"}, "unknown family 'flux2'; did you mean 'flux-2'?"),
    ],
)
def test_a_wrong_option_is_one_line(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        make(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 20},
        {"guidance": 3.5},
        {"dtype": "float32"},
        {"path": "somebody/another-model"},
        {"revision": "refs/pr/1"},
        {"max_area": 512 * 512},
        {"batch": 4},
        {"device": "cpu"},  # float32 there
    ],
)
def test_what_changes_answers_is_another_editor(options: dict[str, Any]) -> None:
    assert make("flux-kontext-dev", **options).fingerprint != make("flux-kontext-dev").fingerprint


@pytest.mark.parametrize("options", [{"device": "cuda:1"}, {"offload": "model"}, {"offline": False}])
def test_where_the_work_is_done_is_not(options: dict[str, Any]) -> None:
    assert make("flux-kontext-dev", **options).fingerprint == make("flux-kontext-dev").fingerprint


def test_a_batch_changes_nothing_on_a_processor() -> None:
    assert make("flux-kontext-dev", device="cpu", batch=4).fingerprint == (
        make("flux-kontext-dev", device="cpu").fingerprint
    )


def test_two_batches_may_be_in_flight() -> None:
    assert make("flux-kontext-dev", batch=8).limits.at_once == 16
    assert make("flux-kontext-dev").limits.at_once == 2


def test_a_folder_has_no_revision(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is a folder and has no revisions"):
        make("flux-kontext-dev", path=str(tmp_path), revision="main")


def test_a_name_of_ones_own_is_the_same_editor() -> None:
    ours: Editor = load("editors", "flux-kontext-dev")("mine")
    assert ours.fingerprint == make("flux-kontext-dev").fingerprint


def test_a_folder_without_a_pipeline_is_not_read_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(folder: Path) -> str:
        raise AssertionError(f"{folder} is read")

    monkeypatch.setattr(checkpoints, "fingerprint_of", read)
    assert "has no model_index.json" in " ".join(make("flux-kontext-dev", path=str(tmp_path)).lacks())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "shortest"), [("instruct-pix2pix", 8), ("flux-kontext-dev", 16)])
def test_images_under_one_patch_are_told_before_the_first_call(name: str, shortest: int) -> None:
    assert make(name).capabilities.sides == (shortest, 16384)
