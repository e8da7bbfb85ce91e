"""Examining: every detector sees every chain once, and what it says is kept with its evidence."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench import registry
from convergebench.errors import StudyError
from convergebench.failures.base import Box, Examination, Finding
from convergebench.failures.chain_view import read_chains, view_of
from convergebench.failures.examine import Examined, examine
from convergebench.failures.find import checked_examination, find_detector, find_detectors
from convergebench.images.decode import decode
from convergebench.progress import Progress
from convergebench.store.labels import source_crop
from convergebench.store.run import Run
from convergebench.studies.replicate import Replicate
from tests.engine.parts import CASES, IMAGES, faults, query, state_of, walk
from tests.measuring.brightening import ROUNDS, Brightening, brightened
from tests.store.older import make_older

CHAINS = len(CASES)
WHERE = "tests.failures.looking:"


def look(root: Path, *names: str, workers: int = 1, progress: Progress | None = None) -> Examined:
    with Run.create(root) as run:
        found = [name if ":" in name or name in registry.names("failures") else f"{WHERE}{name}" for name in names]
        return examine(run, found, workers=workers, progress=progress)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return brightened(tmp_path_factory.mktemp("walked") / "run")


@pytest.fixture
def root(walked: Path, tmp_path: Path) -> Path:
    """Two sources, two runs each, three rounds; every step one grey level brighter."""
    return Path(shutil.copytree(walked, tmp_path / "run"))


def labels(root: Path, columns: str = "mode, present, step, last, shown, detail") -> list[tuple[Any, ...]]:
    return sorted(query(root, f"select distinct {columns} from labels"), key=repr)


def test_a_finding_becomes_a_label_with_level_step_region_confidence_and_rule(root: Path) -> None:
    done = look(root, "brighter")
    assert done == Examined(CHAINS, CHAINS, CHAINS, ())
    columns = "mode, level, present, step, last, shown, region, confidence, source, detail"
    expected = ("image", 1, 1, 6, 1, "[0.25, 0.25, 0.5, 0.5]", 0.75, "rule", "step 1 is brighter")
    assert labels(root, columns) == [("brighter", *expected)]
    assert labels(root, '"by"') == [(find_detector(f"{WHERE}brighter").facts.fingerprint,)]


def test_not_seen_and_cannot_be_told_are_labels_too_and_what_does_not_apply_is_none(root: Path) -> None:
    assert look(root, "never", "unsure", "elsewhere") == Examined(CHAINS, 2 * CHAINS, 0, ())
    assert labels(root) == [("never", 0, None, None, None, ""), ("unsure", None, None, None, None, "it is dark")]


def test_each_finding_is_a_row(root: Path) -> None:
    look(root, "twice")
    assert labels(root) == [("twice", 1, 1, 1, 1, "first"), ("twice", 1, 6, None, 6, "last")]
    assert query(root, "select count(*) from labels") == [(2 * CHAINS,)]


def test_what_has_been_looked_at_is_not_looked_at_again(root: Path) -> None:
    progress = Progress()
    assert look(root, "brighter", "elsewhere", progress=progress).labels == CHAINS
    assert (progress.chains, progress.steps, progress.steps_done) == (CHAINS, 2 * CHAINS, 2 * CHAINS)
    again = Progress()
    assert look(root, "brighter", "elsewhere", progress=again) == Examined(0, 0, 0, ())
    assert again.steps == 0
    assert look(root, "brighter", "never") == Examined(CHAINS, CHAINS, 0, ()), "only the new one looks"


def test_what_only_lacked_a_file_is_told_once_and_looked_at_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(root, "lacking").labels == CHAINS
    assert look(root, "lacking").labels == 0
    assert labels(root) == [("lacking", None, None, None, None, "the file is not here; type: fetch it")]
    monkeypatch.setenv("LACKING_IS_HERE", "1")
    assert look(root, "lacking").labels == CHAINS
    assert ("lacking", 0, None, None, None, "") in labels(root)
    assert look(root, "lacking") == Examined(0, 0, 0, ())


def test_a_chain_that_has_grown_is_examined_anew_and_its_older_labels_stay(root: Path) -> None:
    look(root, "brighter")
    walk(root, Brightening(), rounds=ROUNDS + 1)
    assert look(root, "brighter").labels == CHAINS
    assert labels(root, "last") == [(6,), (8,)]
    assert query(root, "select count(distinct made) from labels") == [(2,)]
    assert query(root, "select max(last) from labels where made = (select max(made) from labels)") == [(8,)]
    assert query(root, "select step, value from probes where probe = 'rise' and \"case\" = 'first/plus/0'") == [
        (step, float(step)) for step in range(9)
    ]


def test_numbers_that_were_looked_at_are_kept_and_no_number_is_null(root: Path) -> None:
    look(root, "brighter", "never")
    rise = "select distinct step, value from probes where probe = 'rise' order by step"
    assert query(root, rise) == [(step, float(step)) for step in range(7)]
    assert query(root, "select distinct step, value from probes where probe = 'odd'") == [(1, None)]


def test_a_slip_is_one_line_that_names_detector_and_chain_and_all_else_is_kept(root: Path) -> None:
    done = look(root, "slips", "brighter")
    assert len(done.faults) == 2
    assert done.faults[0] == (
        f"detector '{WHERE}slips' failed on counting, first/plus/0: ZeroDivisionError: division by zero"
    )
    assert query(root, "select mode, count(*) from labels group by mode") == [("brighter", CHAINS), ("slips", 2)]
    again = look(root, "slips", "brighter")
    assert (again.chains, len(again.faults)) == (2, 2), "and it is tried again, on the chains where it slipped"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("too_sure", "confidence 1.5 is not between 0 and 1"),
        ("too_late", "step 999 is not between 1 and 6"),
        ("outside", "region 0.8, 0.8, 0.5, 0.1 is not inside the picture"),
        ("two_minds", "found something and that it could not look"),
        ("no_answer", "answered with a str"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_slip(root: Path, name: str, message: str) -> None:
    done = look(root, name)
    assert len(done.faults) == CHAINS
    assert message in done.faults[0]
    assert query(root, "select * from labels union all select *, 0,0,0,0,0,0,0,0,0,0 from probes") == []


def test_a_region_a_little_beyond_the_edge_is_cut_to_the_picture() -> None:
    def region(*sides: float) -> Box | None:
        answer = Examination((Finding(1, 0.5, "there", Box(*sides)),))
        return checked_examination(answer, 1).findings[0].region

    assert region(0.25, 0.5, 0.5, 0.25) == Box(0.25, 0.5, 0.5, 0.25)
    assert region(0.25, 0.5, 0.7505, 0.5005) == Box(0.25, 0.5, 0.75, 0.5)
    assert region(-0.0005, -0.0005, 1.0, 1.0) == Box(0.0, 0.0, 1.0, 1.0)


def test_a_picture_that_cannot_be_read_is_a_fault_of_its_chain_and_examined_tomorrow(root: Path) -> None:
    ((file,),) = query(
        root, "select file from images where id = (select image from cases where source = 'first' limit 1)"
    )
    path = root / file
    path.rename(path.with_suffix(".away"))
    done = look(root, "brighter")
    assert (done.labels, len(done.faults)) == (2, 2)
    assert "could not look at counting, first/plus/0: images/" in done.faults[0]
    assert "cbench verify" in done.faults[0]
    path.with_suffix(".away").rename(path)
    assert look(root, "brighter").labels == 2


def test_a_rule_that_no_longer_applies_takes_back_what_it_said(root: Path) -> None:
    look(root, "unsure")
    assert look(root, "withdrawn").labels == CHAINS
    assert labels(root, "present, detail") == [
        (None, "does not apply: it was never meant for this"),
        (None, "it is dark"),
    ]


def test_workers_load_detectors_of_plug_ins_and_of_modules_by_name(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plugin"
    info = folder / "dim_detector-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dim-detector\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[convergebench.failures]\ndim = dim_detector:dim\n")
    (folder / "dim_detector.py").write_text(
        "from convergebench.failures.base import Examination, Finding, detector\n\n\n"
        "@detector('dim', level='image', title='Dim', rule='always')\n"
        "def dim(chain):\n"
        '    """Sees that it is dim."""\n'
        "    return Examination((Finding(1, 1.0, 'dim'),))\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    registry._plugins.cache_clear()
    try:
        assert "dim" in registry.names("failures")
        done = look(root, "dim", "brighter", workers=2)
    finally:
        registry._plugins.cache_clear()
    assert done == Examined(CHAINS, 2 * CHAINS, 2 * CHAINS, ())


def test_unknown_and_unfit_detectors_are_one_line() -> None:
    with pytest.raises(StudyError, match="unknown detector 'colour-cats'; did you mean 'colour-cast'"):
        find_detector("colour-cats")
    with pytest.raises(StudyError, match=r"there is no module 'nowhere' here .* for detector 'nowhere:any'"):
        find_detector("nowhere:any")
    with pytest.raises(StudyError, match=r"declare it with @detector"):
        find_detector(f"{WHERE}OPERATIONS")
    with pytest.raises(StudyError, match="both look for 'unsure'"):
        find_detectors([f"{WHERE}unsure", f"{WHERE}withdrawn"])


def test_a_run_stays_sound_with_its_evidence_in_it(root: Path) -> None:
    look(root, "brighter", "twice")
    assert len(list((root / "evidence").iterdir())) == 2 * 3 * CHAINS, "a crop and the source's beside it"
    assert faults(root, "counting@1") == []


def test_half_written_crops_are_swept(root: Path) -> None:
    look(root, "brighter")
    (root / "evidence" / ".part-killed").write_bytes(b"half")
    look(root, "never")
    assert not (root / "evidence" / ".part-killed").exists()


def test_evidence_is_the_picture_of_the_step_that_shows_it_and_the_source_beside_it(root: Path) -> None:
    look(root, "twice")
    for file, step, image in query(
        root, 'select evidence, shown, c.image from labels l join cases c on c.id = l."case"'
    ):
        ((source,),) = query(root, f"select file from images where id = '{image}'")
        before = decode((root / source).read_bytes()).pixels
        assert np.array_equal(decode((root / source_crop(file)).read_bytes()).pixels, before)
        assert np.array_equal(decode((root / file).read_bytes()).pixels, before + step)


def test_a_run_of_an_older_schema_is_examined(root: Path) -> None:
    make_older(root, 2)
    assert look(root, "brighter").labels == CHAINS


def probe_values(root: Path, probe: str, case: str) -> list[float]:
    rows = query(root, f"select value from probes where probe = '{probe}' and \"case\" = '{case}' order by step")
    return [value for (value,) in rows]


def test_a_round_trip_is_compared_where_it_has_returned(root: Path) -> None:
    look(root, "facts")
    case = "first/plus/0"
    assert probe_values(root, "compared", case) == [0, 2, 0, 2, 0, 2, 0], (
        "whole at the source and at the end of each round"
    )
    assert probe_values(root, "parent", case) == [0, 0, 1, 2, 3, 4, 5]
    assert probe_values(root, "operation", case) == [2.0] * 6
    assert probe_values(root, "words", case) == [0, *[len("add one"), len("take one away")] * 3]
    assert probe_values(root, "family", case) == [len("test"), len("plus")]


def replicate(root: Path, *variants: str, steps: int = 4, independent: bool = False) -> None:
    table = Replicate.Parameters.model_validate(
        {"steps": steps, "runs": 1, "grid": [{"variants": variants, "independent": independent}]}
    )
    study = Replicate(table)
    cases = study.cases([(image, state_of(image)) for image in IMAGES[:1]], [])
    walk(root, Brightening(), rounds=steps, cases=cases, study=study)


def test_copies_are_compared_whole_mirrored_ones_turned_and_additions_around(tmp_path: Path) -> None:
    replicate(tmp_path, "replicate", "mirror", "add-apples")
    look(tmp_path, "facts")
    assert probe_values(tmp_path, "compared", "first/replicate/0") == [0] * 5
    assert probe_values(tmp_path, "orientation", "first/replicate/0") == [0] * 4
    assert probe_values(tmp_path, "orientation", "first/mirror/0") == [1, 0, 1, 0]
    assert probe_values(tmp_path, "compared", "first/add-apples/0") == [0, 1, 1, 1, 1]
    assert probe_values(tmp_path, "operation", "first/add-apples/0") == [0] * 4


def test_steps_of_an_independent_run_start_from_the_source(tmp_path: Path) -> None:
    replicate(tmp_path, "replicate", independent=True)
    look(tmp_path, "facts")
    assert probe_values(tmp_path, "parent", "first/replicate/0") == [0, 0, 1, 2, 3]
    assert probe_values(tmp_path, "parent", "first/replicate-independent/0") == [0] * 5


def test_a_step_whose_comparisons_are_not_written_yet_waits(root: Path) -> None:
    connection = sqlite3.connect(root / "run.sqlite")
    connection.execute("update chains set status = 'open' where \"case\" = 'first/plus/0'")
    connection.execute("delete from comparisons where \"case\" = 'first/plus/0' and step = 6")
    connection.commit()
    connection.close()
    with Run.create(root) as run:
        lengths = {chain.case: chain.last for chain in read_chains(root, run.journal)}
    assert (lengths["first/plus/0"], lengths["first/plus/1"]) == (5, 6)


def test_a_gap_in_a_chain_is_said(root: Path) -> None:
    connection = sqlite3.connect(root / "run.sqlite")
    connection.execute(
        "update steps set status = 'refused', image = null where id = (select step from chain_steps "
        "where \"case\" = 'first/plus/0' and position = 2)"
    )
    connection.commit()
    connection.close()
    done = look(root, "brighter", "never")
    assert done.faults == (
        "counting, first/plus/0: step 2 has no picture though later ones have; such a chain cannot be examined",
    )
    assert done.labels == 2 * (CHAINS - 1)


def test_pictures_of_a_chain_are_decoded_once_for_all_detectors(root: Path) -> None:
    with Run.create(root) as run:
        view = view_of(next(read_chains(root, run.journal)))
    first = view.steps[3].load()
    for file in (root / "images").rglob("*.png"):
        file.unlink()
    assert view.steps[3].load().pixels is first.pixels
    with pytest.raises(StudyError, match="is missing"):
        view.steps[4].load()
