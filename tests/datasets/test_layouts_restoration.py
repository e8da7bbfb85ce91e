"""Results of restoration methods that ran elsewhere become chains of the study `restoration`."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import polars as pl
import pytest

from convergebench.analysis.restoration.analyse import restoration
from convergebench.conductor import run_chains
from convergebench.conductor.analyse import analyse_run
from convergebench.conductor.begin import begin
from convergebench.conductor.degrading import DegradeOptions, degrade
from convergebench.conductor.importing import Imported, ImportOptions, import_chains
from convergebench.conductor.measuring import measure
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import MeasureOptions
from convergebench.conductor.prepare import prepare
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.restored_inputs import kind_of
from convergebench.edits.restoration_prompts import shipped_prompts
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec
from tests.datasets import sets
from tests.restoration_run import InstantRestorer, sources

KINDS = ("small-face", "text")
PER_KIND = 2


class Told(Observer):
    """Remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


def spoilt(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 2.0), np.uint8)


def scene(kind: str, number: int) -> Pixels:
    return sets.scene(10 * KINDS.index(kind) + number)


def method_set(root: Path, *, clean: bool = True) -> Path:
    """Two kinds with two pictures each; HYPIR is closer to the clean pictures than DiffBIR."""
    for kind in KINDS:
        for number in range(PER_KIND):
            name = f"{kind}/{number:03}"
            sets.save(root / "input" / f"{name}.png", sets.png(spoilt(scene(kind, number))))
            if clean:
                sets.save(root / "clean" / f"{name}.png", sets.png(scene(kind, number)))
            sets.save(root / "HYPIR" / f"{name}.jpg", sets.jpeg(scene(kind, number), 97))
            sets.save(root / "DiffBIR" / f"{name}.png", sets.png(sets.worn(scene(kind, number), 5)))
    return root


def bring(place: Path, run: Path, **options: object) -> tuple[Imported, list[str]]:
    told = Told()
    return import_chains(place, run, ImportOptions(**options), told), told.lines  # type: ignore[arg-type]


def manifest(run: Path) -> Manifest:
    return read_manifest(run / "manifest.json")


def values(run: Path, *metrics: str) -> pl.DataFrame:
    measure(run, metrics, options=MeasureOptions(workers=1))
    return RunFrames(run).measurements("auto").filter(role="restored", round=1).sort("editor", "case")


def test_a_set_becomes_a_run_of_the_study_restoration(tmp_path: Path) -> None:
    done, told = bring(method_set(tmp_path / "set"), tmp_path / "run")
    assert (done.study, done.chains, done.editors) == ("restoration", 8, ("DiffBIR", "HYPIR"))
    assert told[0].startswith("read as restoration: results such as DiffBIR/small-face/000.png for 4 pictures of input")
    assert not [line for line in told if line.startswith("note")]
    facts = manifest(tmp_path / "run")
    assert facts.study == "restoration"
    assert facts.pairs["LF3"]["group"] == "LF"
    assert {name: one.get("instructed") for name, one in facts.editors.items()} == {"DiffBIR": False, "HYPIR": False}
    assert facts.sources["small-face-000"]["kind"] == "small-face"
    assert facts.sources["small-face-000"]["clean"] == "small-face-000.clean"
    chains = RunFrames(tmp_path / "run").chains()
    assert set(chains["case"]) == {f"{kind}-00{number}/LF3/0" for kind in KINDS for number in range(PER_KIND)}


def test_results_are_measured_against_the_clean_pictures(tmp_path: Path) -> None:
    bring(method_set(tmp_path / "set"), tmp_path / "run")
    table = values(tmp_path / "run", "psnr")
    assert table.height == 8
    for row in table.to_dicts():
        kind, number = row["case"].split("/")[0].rsplit("-", 1)
        suffix = "jpg" if row["editor"] == "HYPIR" else "png"
        made = decode((tmp_path / "set" / row["editor"] / kind / f"{number}.{suffix}").read_bytes()).pixels
        error = np.mean((made.astype(float) - scene(kind, int(number))) ** 2)
        assert row["value"] == pytest.approx(10 * np.log10(255**2 / error), abs=1e-6)


def test_the_analysis_of_the_study_reads_the_imported_run(tmp_path: Path) -> None:
    bring(method_set(tmp_path / "set"), tmp_path / "run")
    values(tmp_path / "run", "psnr", "piqe")
    found = restoration(analyse_run(tmp_path / "run").context)
    results = found.method_results.filter(metric="psnr")
    means = dict(zip(results["editor"], results["mean"], strict=True))
    assert means["HYPIR"] > means["DiffBIR"]
    assert {*found.category_results["category"]} >= {*KINDS}


def test_without_clean_pictures_only_metrics_that_need_none_have_values(tmp_path: Path) -> None:
    bring(method_set(tmp_path / "set", clean=False), tmp_path / "run")
    table = values(tmp_path / "run", "psnr", "piqe")
    assert set(table.filter(pl.col("value").is_not_null())["metric"]) == {"piqe"}
    assert "clean" not in manifest(tmp_path / "run").sources["text-000"]


def test_inputs_without_a_clean_picture_among_others_are_named(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    (place / "clean" / "text" / "001.png").unlink()
    _, told = bring(place, tmp_path / "run")
    assert "note    1 of 4 inputs have no clean image and are measured without a reference: text/001" in told


def test_missing_results_are_named_counted_and_may_come_later(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    lost = place / "HYPIR" / "text" / "001.jpg"
    data = lost.read_bytes()
    lost.unlink()
    done, told = bring(place, tmp_path / "run")
    assert "note    HYPIR has no result for 1 of 4: text/001" in told
    assert (done.chains, done.edits) == (8, 7)
    chains = RunFrames(tmp_path / "run").chains()
    assert chains.filter(editor="HYPIR")["status"].sort().to_list() == ["ended", *["finished"] * 3]
    lost.write_bytes(data)
    _, told = bring(place, tmp_path / "run")
    assert not [line for line in told if "no result" in line]
    assert set(RunFrames(tmp_path / "run").chains()["status"]) == {"finished"}


def test_a_result_of_another_size_is_kept(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    large = cv2.resize(scene("text", 0), (128, 128), interpolation=cv2.INTER_CUBIC)
    sets.save(place / "DiffBIR" / "text" / "000.png", sets.png(np.asarray(large, np.uint8)))
    bring(place, tmp_path / "run")
    row = values(tmp_path / "run", "psnr").filter(editor="DiffBIR", case="text-000/LF3/0").to_dicts()[0]
    assert row["value"] is not None


def test_an_unreadable_result_is_one_line_with_its_file(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    broken = place / "HYPIR" / "text" / "000.jpg"
    broken.write_bytes(b"no picture")
    with pytest.raises(StudyError, match="nothing was imported") as error:
        bring(place, tmp_path / "run")
    assert str(broken) in str(error.value)
    assert "\n" not in str(error.value)
    done, _ = bring(place, tmp_path / "run", skip_broken=True)
    assert (done.chains, len(done.left_out)) == (7, 1)
    assert str(broken) in (tmp_path / "run" / "left-out.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("deep", [False, True], ids=["small-face/HYPIR", "small-face/results/HYPIR"])
def test_methods_may_lie_inside_the_folders_of_the_kinds(deep: bool, tmp_path: Path) -> None:
    for kind in KINDS:
        for number in range(PER_KIND):
            data = sets.png(scene(kind, number))
            sets.save(tmp_path / "set" / kind / "lq" / f"{number}.png", sets.png(spoilt(scene(kind, number))))
            sets.save(tmp_path / "set" / kind / "GT" / f"{number}.png", data)
            sets.save(tmp_path / "set" / kind / ("results/HYPIR" if deep else "HYPIR") / f"{number}.png", data)
    done, told = bring(tmp_path / "set", tmp_path / "run")
    assert (done.chains, done.editors) == (4, ("HYPIR",))
    assert not [line for line in told if line.startswith("note")]
    assert {one["kind"] for one in manifest(tmp_path / "run").sources.values()} == set(KINDS)
    assert set(values(tmp_path / "run", "rmse")["value"]) == {0.0}, "each result is compared with its own clean picture"


def test_the_layout_of_the_parent_study_is_read(tmp_path: Path) -> None:
    """`lq`, and all methods inside `results`."""
    for number in range(3):
        sets.save(tmp_path / "set" / "lq" / f"{number}.png", sets.png(spoilt(sets.scene(number))))
        for method in ("A", "B"):
            sets.save(tmp_path / "set" / "results" / method / f"{number}.png", sets.png(sets.scene(number)))
    sets.save(tmp_path / "set" / "dataset_info.json", b"{}")
    done, _ = bring(tmp_path / "set", tmp_path / "run", kind="old-film")
    assert (done.chains, done.editors) == (6, ("A", "B"))
    assert {one["kind"] for one in manifest(tmp_path / "run").sources.values()} == {"old-film"}


def test_prompts_and_repeats_are_folders_of_an_editor(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    for prompt in ("S1", "LF3"):
        for repeat in range(3):
            for kind in KINDS:
                for number in range(PER_KIND):
                    made = sets.worn(scene(kind, number), repeat + 1)
                    sets.save(place / "banana" / prompt / str(repeat) / kind / f"{number:03}.png", sets.png(made))
    done, _ = bring(place, tmp_path / "run")
    assert done.chains == 8 + 24
    facts = manifest(tmp_path / "run")
    assert "instructed" not in facts.editors["banana"]
    words = {one.id: one.words for one in shipped_prompts()}
    assert {id: one["instructions"] for id, one in facts.pairs.items()} == {id: [words[id]] for id in ("S1", "LF3")}
    mine = RunFrames(tmp_path / "run").chains().filter(editor="banana")
    assert sorted(mine["replicate"].unique()) == [0, 1, 2]
    assert set(mine["pair"]) == {"S1", "LF3"}


def test_words_of_ones_own_come_from_prompts_toml(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    for kind in KINDS:
        for number in range(PER_KIND):
            sets.save(place / "mine" / "plain" / kind / f"{number:03}.png", sets.png(scene(kind, number)))
    (place / "prompts.toml").write_text('[[prompt]]\nid = "plain"\nwords = "Repair this."\n', encoding="utf-8")
    bring(place, tmp_path / "run")
    assert manifest(tmp_path / "run").pairs["plain"]["instructions"] == ["Repair this."]


def test_names_that_methods_lengthen_still_belong_to_their_picture(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    for path in sorted((place / "DiffBIR").rglob("*.png")):
        path.rename(path.with_name(f"{path.stem}_out.png"))
    _, told = bring(place, tmp_path / "run")
    assert not [line for line in told if line.startswith("note")]


def test_pictures_that_belong_to_no_input_are_named(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    sets.save(place / "HYPIR" / "overview.png", sets.png(sets.scene()))
    sets.save(place / "HYPIR" / "crowd" / "000.png", sets.png(sets.scene()))
    done, told = bring(place, tmp_path / "run")
    assert done.chains == 8
    assert "note    HYPIR/crowd/000.png, HYPIR/overview.png match no input" in told


def test_a_set_whose_names_do_not_match_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    sets.save(tmp_path / "set" / "input" / "a.png", sets.png(sets.scene()))
    sets.save(tmp_path / "set" / "HYPIR" / "b.png", sets.png(sets.scene()))
    with pytest.raises(StudyError, match="folders of pictures with equal names: input, METHOD"):
        read_chains(tmp_path / "set", "restoration")


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ("HYPIR/text/000.png", r"two results for one image; leave one out"),
        ("HYPIR/LF3/text/000.png", r"HYPIR has results with a prompt and without one"),
        ("clean/text/000.jpg", r"two clean images with the same name"),
    ],
)
def test_what_is_ambiguous_is_one_line(also: str, message: str, tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    sets.save(place / also, sets.png(sets.scene()))
    with pytest.raises(StudyError, match=message) as error:
        bring(place, tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_link_out_of_the_set_is_refused(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    secret = sets.save(tmp_path / "secret.png", sets.png(sets.scene()))
    (place / "HYPIR" / "text" / "000.jpg").unlink()
    (place / "HYPIR" / "text" / "000.png").symlink_to(secret)
    with pytest.raises(StudyError, match="leads out of"):
        bring(place, tmp_path / "run")


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("Small Face", "small-face"),
        ("small_faces", "small-face"),
        ("Hands/Feet", "hands-feet"),
        ("Cartoon Comic", "cartoon"),
        ("Old Photo (Black and White)", "old-photo-grey"),
        ("old-photo-color", "old-photo-colour"),
        ("Rain", "rain"),
    ],
)
def test_folders_are_kinds(folder: str, kind: str) -> None:
    assert kind_of(folder) == kind


@pytest.mark.parametrize("folder", ["1", "a-name-that-is-too-long-for-a-kind", "雨"])
def test_a_folder_that_is_no_kind_is_one_line(folder: str) -> None:
    with pytest.raises(StudyError, match="is not a kind; use at most 24 letters"):
        kind_of(folder)


@pytest.fixture
def degraded(tmp_path: Path) -> Path:
    """What `cbench degrade` writes, with a set of scenes and one of a degradation."""
    for name, seed in (("face/anna", 0), ("scene/street", 1)):
        sets.save(tmp_path / "photos" / f"{name}.png", sets.png(sets.scene(seed)))
    degrade(str(tmp_path / "photos"), tmp_path / "degraded", DegradeOptions(("mixed", "old-film")))
    return tmp_path / "degraded"


def restored(inputs: Path, out: Path, pattern: str = "*.*.png") -> Path:
    """A method that runs elsewhere: it reads the spoilt pictures and writes its own under the same names."""
    for path in sorted((inputs / "images").glob(pattern)):
        pixels = decode(path.read_bytes()).pixels
        sets.save(out / path.name, sets.png(np.asarray(cv2.medianBlur(pixels, 3), np.uint8)))
    return out


def test_results_for_what_cbench_degrade_wrote(degraded: Path, tmp_path: Path) -> None:
    done, _ = bring(restored(degraded, tmp_path / "out"), tmp_path / "run", images=degraded, editor="median")
    assert (done.chains, done.editors) == (4, ("median",))
    facts = manifest(tmp_path / "run")
    assert facts.sources["anna.mixed"]["kind"] == "face"
    assert facts.sources["anna.mixed"]["clean"] == "anna"
    assert facts.sources["anna.old-film"]["kind"] == facts.sources["anna.old-film"]["degradation"] == "old-film"
    table = values(tmp_path / "run", "psnr", "piqe").filter(pl.col("value").is_not_null())
    assert set(table.filter(metric="psnr")["source"]) == {"anna.mixed", "street.mixed"}, "a set without a reference"
    assert table.filter(metric="piqe").height == 4


@pytest.mark.parametrize("name", ["input", "clean"])
def test_a_method_cannot_have_the_name_of_the_pictures(name: str, degraded: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=f"a method cannot be called '{name}'"):
        bring(restored(degraded, tmp_path / "out"), tmp_path / "run", images=degraded, editor=name)


def test_prompts_that_are_no_prompts_are_one_line(tmp_path: Path) -> None:
    place = method_set(tmp_path / "set")
    (place / "prompts.toml").write_text("prompt = 3\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"prompts\.toml") as error:
        bring(place, tmp_path / "run")
    assert "\n" not in str(error.value)


def test_several_methods_for_what_cbench_degrade_wrote(degraded: Path, tmp_path: Path) -> None:
    restored(degraded, tmp_path / "out" / "one")
    restored(degraded, tmp_path / "out" / "two", "*.mixed.png")
    done, told = bring(tmp_path / "out", tmp_path / "run", images=degraded)
    assert done.editors == ("one", "two")
    assert "note    two has no result for 2 of 4: anna.old-film, street.old-film" in told


def test_results_inside_the_folder_that_cbench_degrade_wrote(degraded: Path, tmp_path: Path) -> None:
    restored(degraded, degraded / "results" / "median")
    done, _ = bring(degraded, tmp_path / "run")
    assert (done.chains, done.editors) == (4, ("median",))


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A run of our own, edited and not yet measured: two methods, one of which reads no words."""
    given = {one.name: one for one in (InstantRestorer(), InstantRestorer("gentle", amount=0.2, instructed=False))}
    table = {"prompts": ["S1", "LF3"], "follow_up": "Once more.", "degradations": ["motion-blur"], "per_degradation": 2}
    editors = [{"name": name, "use": "sim-identity"} for name in given]
    spec = parse_spec({"study": "restoration", "editors": editors, "restoration": table})
    prepared = prepare(spec, editors=given, sources=sources(2))
    with Run.create(tmp_path / "run") as opened:
        begin(opened, prepared)
        run_chains(opened, prepared.editors, prepared.chains)
    return tmp_path / "run"


def inputs_of(run: Path, out: Path) -> Path:
    """Write what the run's chains start from, as a person would to restore it elsewhere."""
    frames = RunFrames(run)
    for row in frames.chains().unique("source").to_dicts():
        image = f"i1:{manifest(run).sources[row['source']]['sha256']}"
        with Run.existing(run) as opened:
            file = opened.journal.image_row(image).file
            sets.save(out / "images" / f"{row['source']}.png", opened.images.read(file, image))
    return out


def test_a_method_joins_a_run_that_is_there_by_the_names_of_its_pictures(finished: Path, tmp_path: Path) -> None:
    place = restored(inputs_of(finished, tmp_path / "inputs"), tmp_path / "out", "*.png")
    before = manifest(finished)
    cases = set(RunFrames(finished).chains().filter(editor="gentle")["case"])
    done, told = bring(place, finished, editor="median")
    assert "pictures of the run" in told[0]
    assert done.chains == len(cases)
    chains = RunFrames(finished).chains()
    assert set(chains.filter(editor="median")["case"]) == cases, "the cases of a method without words"
    after = manifest(finished)
    assert (after.sources, after.pairs, after.fixed, after.spec) == (
        *(before.sources, before.pairs, before.fixed),
        before.spec,
    )
    values(finished, "psnr")
    methods = restoration(analyse_run(finished).context).method_results.filter(metric="psnr")
    assert {"instant", "gentle", "median", "input"} >= set(methods["editor"]) >= {"instant", "gentle", "median"}


def test_importing_again_adds_nothing_and_a_changed_result_is_refused(finished: Path, tmp_path: Path) -> None:
    place = restored(inputs_of(finished, tmp_path / "inputs"), tmp_path / "out", "*.png")
    bring(place, finished, editor="median")
    steps = RunFrames(finished).steps().height
    bring(place, finished, editor="median")
    assert RunFrames(finished).steps().height == steps
    first = sorted(place.iterdir())[0]
    first.write_bytes(sets.png(sets.scene(9)))
    with pytest.raises(ChangedMeaning, match="recording median/"):
        bring(place, finished, editor="median")


def test_a_run_of_another_study_is_no_source_of_inputs(tmp_path: Path) -> None:
    sets.copies(tmp_path / "copies")
    bring(tmp_path / "copies", tmp_path / "run")
    sets.save(tmp_path / "out" / "a.png", sets.png(sets.scene()))
    with pytest.raises(StudyError, match="not laid out as restoration"):
        bring(tmp_path / "out", tmp_path / "run", layout="restoration")
