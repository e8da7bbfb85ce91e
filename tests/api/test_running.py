"""`cb.run`: studies, editors and images as Python has them; resumable; under any event loop; stopped without loss."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFilter

import convergebench as cb
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.studies.spec import parse_spec
from tests.api.parts import PICTURES, QUICK, blur, darker, picture, quick_run


def test_plain_and_async_functions_are_editors_beside_named_ones(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", blur, darker, "sim-jpeg")
    assert run.stopped is None
    assert set(run.ranking["editor"]) == {"blur", "darker", "sim-jpeg"}
    returned = run.steps.filter(run.steps["index"] > 0)
    assert returned.height == 3 * 3 * 2 * 2, "three editors, three pictures, two rounds of two edits"
    assert run.measurements.filter(run.measurements["role"] == "return").height == 3 * 3 * 2 * 2


def test_the_same_call_goes_on_and_makes_no_call_twice(tmp_path: Path) -> None:
    calls: list[str] = []

    def counted(image: Image.Image, instruction: str) -> Image.Image:
        calls.append(instruction)
        return image

    quick_run(tmp_path / "run", counted, rounds=1)
    assert len(calls) == 6
    quick_run(tmp_path / "run", counted, rounds=1)
    assert len(calls) == 6
    grown = quick_run(tmp_path / "run", counted, rounds=2)
    assert len(calls) == 12
    assert grown.steps["index"].max() == 4


def test_a_shipped_study_file_is_found_by_its_name(tmp_path: Path) -> None:
    run = cb.run("demo-light", editors=["sim-jpeg"], root=tmp_path / "run", **QUICK)
    assert run.manifest.spec["title"].startswith("A light demo")
    with pytest.raises(StudyError, match="demo-lihgt"):
        cb.run("demo-lihgt", root=tmp_path / "other", progress=False)


def test_a_function_that_was_changed_is_another_editor(tmp_path: Path) -> None:
    quick_run(tmp_path / "run", blur)

    def changed(image: Image.Image, instruction: str) -> Image.Image:
        return image

    with pytest.raises(ChangedMeaning):
        cb.run("roundtrip", editors={"blur": changed}, root=tmp_path / "run", **QUICK)
    kept = cb.FunctionEditor(changed, "mine", version="1"), cb.FunctionEditor(blur, "mine", version="1")
    assert kept[0].fingerprint == kept[1].fingerprint, "whoever gives a version answers for it"


def test_a_study_is_a_name_a_file_its_content_or_a_spec(tmp_path: Path) -> None:
    content = {"study": "roundtrip", "roundtrip": {"rounds": 1}, "measure": {"metrics": ["rmse"]}}
    (tmp_path / "own.toml").write_text(
        'study = "roundtrip"\nroundtrip = { rounds = 1 }\nmeasure = { metrics = ["rmse"] }\n'
    )
    given = {key: value for key, value in QUICK.items() if key not in ("rounds", "metrics")}
    studies: list[Any] = [content, parse_spec(content), tmp_path / "own.toml", str(tmp_path / "own.toml")]
    for number, study in enumerate(studies):
        run = cb.run(study, editors=[blur], root=tmp_path / str(number), **given)
        assert run.steps["index"].max() == 2
        assert set(run.manifest.metrics) == {"rmse"}


def test_images_are_a_suite_a_folder_files_or_pictures(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    files = []
    for name, one in PICTURES.items():
        files.append(tmp_path / "pictures" / f"{name}.png")
        one.save(files[-1])
    given = {key: value for key, value in QUICK.items() if key != "images"} | {"rounds": 1}
    forms: list[Any] = [tmp_path / "pictures", files, list(PICTURES.values()), PICTURES, files[0]]
    for number, images in enumerate(forms):
        run = cb.run("roundtrip", editors=[blur], images=images, root=tmp_path / str(number), **given)
        assert len(run.manifest.sources) == (1 if images is files[0] else 3)
    assert set(cb.load(tmp_path / "1").manifest.sources) == {"p0", "p1", "p2"}
    assert set(cb.load(tmp_path / "2").manifest.sources) == {"image-0", "image-1", "image-2"}


def test_a_study_by_name_that_names_no_editor_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(cb.StudyError, match=r'editors=\["sim-jpeg"\]'):
        cb.run("roundtrip", root=tmp_path / "run")


class _Lines:
    def __repr__(self) -> str:
        return "two\nlines"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"editors": [lambda image, words: image]}, "editors={'NAME': function}"),
        ({"editors": [3]}, "3 is not an editor"),
        ({"editors": ["sim-jpg"]}, "did you mean 'sim-jpeg'"),
        ({"kind": "dog"}, "kind = 'dog' is not one of face, object, scene"),
        ({"align": "fitt"}, "did you mean 'fit'"),
        ({"rounds": 0}, "rounds"),
        ({"edit": {"pairs": ["v1"]}}, "run() has no argument 'edit'; did you mean 'edits'"),
        ({"max_costs": 3}, "run() has no argument 'max_costs'; did you mean 'max_cost'"),
        ({"roott": Path("x")}, "run() has no argument 'roott'; did you mean 'root'"),
        ({"max_cost": float("nan")}, "max_cost = nan: give a number of dollars"),
        ({"max_cost": float("inf")}, "max_cost = inf"),
        ({"max_cost": -1}, "max_cost = -1"),
        ({"max_cost": "5"}, "max_cost = '5'"),
        ({"workers": 0}, "workers = 0: give a number from 1"),
        ({"workers": "all"}, "workers = 'all'"),
        ({"plots": ["gif"]}, "there is no format 'gif'; give some of png, svg, pdf"),
        ({"editors": {"one": lambda image: image}}, "one(image) cannot be called as one(image, instruction)"),
        ({"images": 3}, "images = 3: give one, or a list"),
        ({"images": []}, "there is no image; give at least one"),
        ({"images": [np.zeros((0, 0, 3), np.uint8)]}, "the image has no pixels"),
        ({"images": [_Lines()]}, "is not an image"),
        ({"images": ["there/is/none.png"]}, "cannot read there/is/none.png"),
        ({"images": [3]}, "3 is not an image"),
        ({"metrics": ["sssim"]}, "did you mean 'ssim'"),
        ({"device": "gpu7"}, "gpu7"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_made(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(cb.ConvergeBenchError, match=re.escape(said)) as caught:
        cb.run("roundtrip", root=tmp_path / "run", **{"editors": [blur], **QUICK, **changes})
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_function_that_gives_no_picture_is_an_error_that_names_it(tmp_path: Path) -> None:
    def nothing(image: Image.Image, instruction: str) -> Any:
        return None

    said = "no chain was finished: 3 of 3 failed: TypeError: nothing returned NoneType instead of a PIL image"
    with pytest.raises(cb.StudyError, match=said):
        quick_run(tmp_path / "run", nothing)
    run = cb.load(tmp_path / "run")
    assert run.table("spending")["calls"].sum() == 3, "a mistake in the function is not tried again"


def test_an_answer_is_stored_with_its_transparency_and_not_flattened_silently(tmp_path: Path) -> None:
    def glass(image: Image.Image, instruction: str) -> Image.Image:
        return Image.new("RGBA", image.size, (255, 0, 0, 90))

    with pytest.raises(cb.StudyError, match="transparent pixels"):
        quick_run(tmp_path / "run", glass)


def test_one_editor_one_picture_and_one_name_need_no_list(tmp_path: Path) -> None:
    pixels = np.asarray(PICTURES["p0"])
    changes = {**QUICK, "images": pixels, "metrics": "ssim", "plots": "png"}
    run = cb.run("roundtrip", editors=blur, root=tmp_path / "run", **changes)
    assert (run.editors, run.cases) == (["blur"], ["image-0/flip-horizontal/0"])
    again = cb.run("roundtrip", editors=blur, root=tmp_path / "two", reuse=str(run.root), **changes)
    assert again.table("spending")["calls"].sum() == 0
    several = quick_run(tmp_path / "three", blur, images=(picture(one) for one in range(2)))
    assert len(several.cases) == 2


def test_a_constant_that_was_changed_is_another_editor(tmp_path: Path) -> None:
    def softened(radius: int) -> Any:
        def soften(image: Image.Image, instruction: str) -> Image.Image:
            return image.filter(ImageFilter.GaussianBlur(radius))

        return soften

    quick_run(tmp_path / "run", softened(1))
    quick_run(tmp_path / "run", softened(1))
    with pytest.raises(cb.StudyError, match="has changed since the run"):
        quick_run(tmp_path / "run", softened(2))


def test_a_budget_that_is_spent_gives_what_was_done_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paid = cb.FunctionEditor(blur, "paid", dollars_per_call=1.0)
    run = quick_run(tmp_path / "run", paid, max_cost=0.5)
    assert run.stopped is not None
    assert "--max-cost" in run.stopped
    assert f"stopped: {run.stopped}" in caplog.text


def test_a_stage_of_a_third_party_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.studies.roundtrip import RoundTrip

    monkeypatch.setattr(RoundTrip, "stages", ("measure", "tests.api.test_running:Counting"))
    run = quick_run(tmp_path / "run", blur)
    assert (run.root / "counted.txt").read_text() == "3"


def counting() -> Any:
    from convergebench.conductor.stages.base import Stage, StageContext

    class Counts(Stage):
        """Writes how many chains there are."""

        def __call__(self, context: StageContext) -> str | None:
            (context.root / "counted.txt").write_text(str(len(context.prepared.chains)))
            return None

    return Counts


Counting = counting()


def test_under_a_running_loop_the_plain_function_works_as_in_a_notebook(tmp_path: Path) -> None:
    async def cell() -> cb.LoadedRun:
        return quick_run(tmp_path / "run", blur, rounds=1)

    assert asyncio.run(cell()).ranking.height == 1


def test_the_coroutine_leaves_the_loop_free(tmp_path: Path) -> None:
    def slow(image: Image.Image, instruction: str) -> Image.Image:
        time.sleep(0.05)
        return image

    async def beside() -> tuple[cb.LoadedRun, int]:
        ticks = 0
        work = asyncio.ensure_future(
            cb.run_async("roundtrip", editors=[slow], root=tmp_path / "run", **{**QUICK, "rounds": 1})
        )
        while not work.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return await work, ticks

    run, ticks = asyncio.run(beside())
    assert run.ranking.height == 1
    assert ticks > 10


def test_cancelling_the_coroutine_lets_the_call_in_flight_finish(tmp_path: Path) -> None:
    begun, ended = threading.Event(), []

    def slow(image: Image.Image, instruction: str) -> Image.Image:
        begun.set()
        time.sleep(0.4)
        ended.append(instruction)
        return image

    async def cancelled() -> None:
        work = asyncio.ensure_future(cb.run_async("roundtrip", editors=[slow], root=tmp_path / "run", **QUICK))
        await asyncio.to_thread(begun.wait, 20)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert len(ended) == 1
    steps = cb.load(tmp_path / "run").steps
    assert steps.filter(steps["index"] > 0).height == 1, "what was paid for is kept"


SCRIPT = """
import asyncio, os, signal, sys, time
import convergebench as cb
from tests.api.parts import QUICK

def slow(image, instruction):
    open("begun", "w").close()
    time.sleep(0.5)
    return image

def work():
    cb.run("roundtrip", editors=[slow], root="run", **QUICK)

async def cell():
    work()

try:
    asyncio.run(cell()) if {under_a_loop} else work()
except KeyboardInterrupt as end:
    print("interrupted:", end)
"""


@pytest.mark.parametrize("under_a_loop", [False, True])
def test_ctrl_c_lets_the_call_in_flight_finish_with_and_without_a_loop(tmp_path: Path, under_a_loop: bool) -> None:
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(under_a_loop=under_a_loop)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert out.startswith("interrupted: stopped; nothing is lost"), err
    steps = cb.load(tmp_path / "run").steps
    assert steps.filter(steps["index"] > 0).height == 1


def test_a_script_without_a_main_guard_measures_on_several_processes(tmp_path: Path) -> None:
    script = """
        import convergebench as cb
        from tests.api.parts import QUICK, blur
        print("once")
        run = cb.run("roundtrip", editors=[blur], root="run", **{**QUICK, "workers": 2})
        print(run.ranking.height)
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "once\n1\n", done.stderr


def test_the_manifest_has_the_call_without_keys_and_without_the_programs_path(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", blur)
    said = run.manifest.sessions[-1]["command"]
    assert said.startswith("convergebench.run(study='roundtrip', editors=[blur], images=<dict>, rounds=2")
    assert sys.argv[0] not in said


def test_a_picture_of_another_kind_gets_the_edits_of_its_kind(tmp_path: Path) -> None:
    given = {**QUICK, "edits": {"pairs": ["glasses"]}, "images": [picture()], "rounds": 1}
    run = cb.run("roundtrip", editors=[blur], kind="face", root=tmp_path / "run", **given)
    assert run.cases == ["image-0/glasses/0"]
