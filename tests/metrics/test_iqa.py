"""The adapters of pyiqa's metrics: facts, files, stand-ins. What needs pyiqa itself is in test_iqa_loading.py."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tomllib
from importlib import import_module, metadata
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from convergebench import registry
from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import FunctionMetric, Item
from convergebench.metrics.iqa import _pyiqa
from convergebench.metrics.iqa._patched_loading import CLIP_FILES, PatchedModule, WeightFiles, patched_loading
from convergebench.metrics.iqa._pyiqa import PyiqaNetwork
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.weights import find_weight
from tests.docs.blocks import blocks

BY_PYIQA = [name for name, row in PUBLISHED.items() if row.route == "pyiqa"]
PAPER = Path(__file__).parents[3] / "shared" / "tables" / "banana100_table2_metrics.csv"
ROOM = Path(_pyiqa.__file__).parent


def adapter(name: str) -> FunctionMetric:
    word = name.replace("-", "_")
    found = getattr(import_module(f"convergebench.metrics.iqa.{word}"), word)
    assert isinstance(found, FunctionMetric)
    return found


def network(name: str) -> PyiqaNetwork:
    found = import_module(f"convergebench.metrics.iqa.{name.replace('-', '_')}")._NETWORK
    assert isinstance(found, PyiqaNetwork)
    return found


def test_there_is_one_file_for_each() -> None:
    files = {path.stem.replace("_", "-") for path in ROOM.glob("[a-z]*.py")} - {"published"}
    assert files == set(BY_PYIQA)
    assert len(BY_PYIQA) == 17
    assert len(PUBLISHED) == 23


def test_an_archive_that_is_opened_as_a_program_is_believed_by_its_checksum_alone() -> None:
    used = {file.path: file for name in BY_PYIQA for one in network(name).weights for file in find_weight(one).files}
    assert all(len(used[file].sha256) == 64 for file in CLIP_FILES.values())


@pytest.mark.parametrize("name", BY_PYIQA)
def test_facts_say_what_a_reader_must_know(name: str) -> None:
    facts = adapter(name).facts
    row = PUBLISHED[name]
    assert facts.name == name
    assert network(name).name == name.replace("-", "_")
    assert (facts.kind, facts.dimension, facts.aligned) == ("no-reference", "none", False)
    assert facts.roles == ("source", "return")
    assert facts.typical == (row.low, row.high)
    assert facts.better == row.better
    assert facts.noncommercial
    assert facts.network
    assert facts.needs == ("iqa",)
    assert "PolyForm-Noncommercial-1.0.0" in facts.licence
    assert facts.summary.endswith(".")
    assert "arXiv:" in facts.paper or "doi:" in facts.paper
    assert facts.self_value is None
    assert facts.noticeable is None


@pytest.mark.parametrize("name", BY_PYIQA)
def test_the_paragraph_tells_range_direction_licence_and_traps(name: str) -> None:
    text = import_module(adapter(name).function.__module__).__doc__ or ""
    for word in ("is better", "PolyForm-Noncommercial-1.0.0", "Weights:", "Known traps:"):
        assert word in " ".join(text.split())


@pytest.mark.parametrize("name", BY_PYIQA)
def test_every_weight_it_needs_is_declared_and_can_be_had(name: str) -> None:
    facts = adapter(name).facts
    assert facts.weights
    for weight in map(find_weight, facts.weights):
        assert weight.sources
        assert weight.licence
        if weight.name.startswith("pyiqa-"):
            assert weight.noncommercial
        if weight.name.startswith("clip-"):
            assert all(file.sha256 in weight.sources[0].url for file in weight.files), "OpenAI's address holds the sum"


def test_the_table_flips_what_is_better_when_lower() -> None:
    assert {name for name, row in PUBLISHED.items() if row.flip} == {"brisque", "ilniqe", "niqe", "pi", "piqe"}


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's table is not on this machine")
def test_ranges_are_those_of_the_paper() -> None:
    with PAPER.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ours = {row.title: (name, row) for name, row in PUBLISHED.items()}
    assert {row["metric"] for row in rows} == set(ours)
    for row in rows:
        name, mine = ours[row["metric"]]
        assert mine.low == float(row["range_lo"])
        assert mine.high == (float(row["range_hi"]) if row["range_hi"] else inf)
        assert mine.better == {"up": "higher", "down": "lower"}[row["direction"]]
        assert mine.flip == (row["flip_in_normalisation"] == "True")
        assert not row["pyiqa_name"] or name.replace("-", "_") == row["pyiqa_name"]


def test_facts_are_read_without_loading_anything_heavy() -> None:
    words = ", ".join(f"convergebench.metrics.iqa.{name.replace('-', '_')}" for name in BY_PYIQA)
    code = f"import {words}; import sys; sys.exit(any(m in sys.modules for m in ('torch', 'pyiqa', 'torchvision')))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_without_pyiqa_the_answer_is_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    _pyiqa.clear_cache()
    with pytest.raises(Prerequisite, match=r'^musiq needs pyiqa: pip install "convergebench\[iqa\]"$'):
        adapter("musiq")(picture())


def test_another_version_of_pyiqa_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.1.15")
    _pyiqa.clear_cache()
    with pytest.raises(Prerequisite, match=r"musiq is tested with pyiqa 0\.1\.16, but 0\.1\.15 is installed"):
        adapter("musiq")(picture())


def test_too_small_an_image_has_no_score() -> None:
    with pytest.raises(Unmeasurable, match="100×300 has a side shorter than 224 pixels") as caught:
        adapter("liqe")(picture(width=100, height=300))
    assert caught.value.status == "too-small"


def test_missing_weights_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("CONVERGEBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(Prerequisite, match=r"type: cbench weights fetch pyiqa-musiq$"):
        network("musiq").files()


def test_files_are_found_by_the_names_pyiqa_uses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in ("ARNIQA.pth", "regressor_koniq10k.pth", "musiq_koniq_ckpt-e95806b9.pth"):
        (tmp_path / file).write_bytes(b"anything")
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    assert set(network("arniqa").files()) == {"ARNIQA.pth", "regressor_koniq10k.pth"}
    assert network("musiq").files() == {"musiq_koniq_ckpt-e95806b9.pth": tmp_path / "musiq_koniq_ckpt-e95806b9.pth"}


# --- patched loading, on networks of our own -------------------------------------------------


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def test_loading_fills_every_parameter(torch: Any, tmp_path: Path) -> None:
    theirs, ours = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    torch.save({"params": {f"module.{key}": value for key, value in theirs.state_dict().items()}}, tmp_path / "a.pth")
    files = WeightFiles("small", {"a.pth": tmp_path / "a.pth"})
    files.fill(ours, "https://example.org/some/a.pth?download=true", True, "params")
    files.require_all_read()
    assert torch.equal(ours.weight, theirs.weight)


def test_a_file_that_lacks_a_parameter_is_refused_even_if_pyiqa_would_not_mind(torch: Any, tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(2, 3)}, tmp_path / "a.pth")
    files = WeightFiles("small", {"a.pth": tmp_path / "a.pth"})
    with pytest.raises(Prerequisite, match=r"a\.pth does not fit pyiqa's small .*bias"):
        files.fill(torch.nn.Linear(3, 2), "a.pth", strict=False)


def test_a_file_that_would_run_code_is_refused(torch: Any, tmp_path: Path) -> None:
    torch.save({"weight": Path("somewhere")}, tmp_path / "a.pth")
    with pytest.raises(Prerequisite, match="contains more than tensors"):
        WeightFiles("small", {"a.pth": tmp_path / "a.pth"}).state("https://example.org/a.pth")


def test_a_file_nobody_declared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Prerequisite, match=r"small: this pyiqa requests the unknown file b\.pth"):
        WeightFiles("small", {}).path("https://example.org/b.pth")


def test_a_file_that_was_not_read_means_random_weights_and_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Prerequisite, match=r"small: pyiqa did not read a\.pth"):
        WeightFiles("small", {"a.pth": tmp_path / "a.pth"}).require_all_read()


def test_stand_ins_are_taken_away_again(torch: Any) -> None:
    module = ModuleType("arch")
    module.__dict__.update(load_pretrained_network="theirs", DEFAULT_CACHE_DIR="cache", torch=torch)
    before = dict(module.__dict__)
    files = WeightFiles("small", {})

    def fails() -> None:
        with patched_loading([module], files):
            assert module.__dict__["load_pretrained_network"] == files.fill
            assert module.__dict__["DEFAULT_CACHE_DIR"] != "cache"
            assert module.__dict__["torch"].hub.load_state_dict_from_url == files.state
            assert module.__dict__["torch"].nn is torch.nn
            assert "print" in module.__dict__
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert module.__dict__ == before


def test_backbones_start_empty(torch: Any) -> None:
    asked: list[object] = []
    module = ModuleType("arch")
    module.__dict__.update(
        timm=PatchedModule(torch, create_model=lambda *_, **options: asked.append(options["pretrained"]))
    )
    with patched_loading([module], WeightFiles("small", {})):
        module.__dict__["timm"].create_model("resnet50", pretrained=True, features_only=True)
    assert asked == [False]


def test_region_pooling_takes_the_largest_of_each_bin(torch: Any) -> None:
    from convergebench.metrics.iqa._roi_pool import pooled, whole_image_pool

    grid = torch.arange(20.0).reshape(1, 4, 5)
    # 160 × 128 pixels at 1/32: the region ends at cell 5 × 4, one past the map, so bins are 3 wide and 2.5 high
    assert pooled(grid, (0, 0, 160, 128), (2, 2), 1 / 32).tolist() == [[[12.0, 14.0], [17.0, 19.0]]]
    pool = whole_image_pool((2, 2), 1 / 32)
    region = torch.tensor([[0.0, 0.0, 160.0, 128.0]])
    assert pool(grid[None], [region]).shape == (1, 1, 2, 2)
    assert pooled(grid, (320, 320, 400, 400), (2, 2), 1 / 32).tolist() == [[[0.0, 0.0], [0.0, 0.0]]], "outside is empty"


def picture(width: int = 300, height: int = 260) -> Item:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)
    return Item(Frame(pixels))


# --- the page ------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "iqa.md"


def test_the_page_lists_the_files_of_each_metric() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert [name for name, _, _ in rows] == BY_PYIQA
    for name, weights, files in rows:
        assert re.findall(r"`([\w-]+)`", weights) == list(adapter(name).facts.weights)
        if name != "qalign":
            for weight in map(find_weight, adapter(name).facts.weights):
                assert all(file.path in files for file in weight.files)


def test_the_plug_in_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {block.file: block.text for block in blocks(PAGE) if block.file}
    for file, text in found.items():
        assert file is not None
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    project = tomllib.loads(found["rali-metric/pyproject.toml"])["project"]
    ((name, target),) = project["entry-points"]["convergebench.metrics"].items()
    monkeypatch.syspath_prepend(str(tmp_path / "rali-metric"))
    point = metadata.EntryPoint(name, target, "convergebench.metrics")
    monkeypatch.setattr(registry, "_plugins", lambda shelf: {name: point} if shelf == "metrics" else {})
    rali = load_metric("rali")
    row = PUBLISHED["rali"]
    assert (rali.facts.typical, rali.facts.better) == ((row.low, row.high), row.better)
    small = Item(Frame(np.zeros((8, 8, 3), np.uint8)))
    flat = Item(Frame(np.zeros((32, 32, 3), np.uint8)))
    assert [(one.value, one.status) for one in rali.measure([small, flat])] == [(None, "too-small"), (1.0, "ok")]
