"""Bundles that were changed are rejected with the reason, also when everything else was made to fit the change."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.images.encode import encode_png
from convergebench.leaderboard.archive import BadArchive, pack, unpack_bytes
from convergebench.leaderboard.bundle import UnreadableBundle, parse
from convergebench.leaderboard.checking import check_bytes
from convergebench.leaderboard.layout import member_of_table
from convergebench.leaderboard.signing import make_key
from tests.cli.in_process import cbench
from tests.leaderboard.conftest import World
from tests.leaderboard.runs import StandIn, make_run
from tests.leaderboard.tampering import Forged, reasons, sealed


@pytest.fixture
def forged(world: World) -> Forged:
    return Forged(world.bundle)


def test_put_together_again_without_a_change_it_is_accepted(forged: Forged, world: World) -> None:
    data = forged.bytes(key=world.key, run=world.run)
    assert data == world.bundle.read_bytes()
    assert reasons(data) == ""


def test_a_changed_member_does_not_fit_its_checksum(forged: Forged) -> None:
    member = member_of_table("measurements")
    members = {**forged.members, member: forged.members[member].replace(b'"value":0.9', b'"value":1.0', 1)}
    assert reasons(pack(members.items())) == f"{member} has changed: its checksum is another"


def test_with_new_checksums_the_chain_breaks_in_that_table(forged: Forged) -> None:
    member = member_of_table("measurements")
    members = {**forged.members, member: forged.members[member].replace(b'"value":0.9', b'"value":0.8', 1)}
    assert "hash chain: breaks in the table measurements" in reasons(sealed(members))


def test_an_old_signature_does_not_fit_a_new_chain(forged: Forged) -> None:
    old = forged.members["signature.json"]
    forged.tables["measurements"][0]["detail"] = "x"
    members = unpack_bytes(forged.bytes())
    assert "does not fit: the bundle was changed after it was signed" in reasons(
        pack({**members, "signature.json": old}.items())
    )


def test_signed_by_another_key_the_label_shows_the_other_key(forged: Forged, world: World, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    name = make_key(other)
    found = check_bytes("x.zip", forged.bytes(key=other, run=world.run))
    assert found.accepted
    assert found.key == name
    assert found.key != check_bytes("x.zip", world.bundle.read_bytes()).key


def test_better_values_are_found_by_measuring_the_samples_again(forged: Forged, world: World) -> None:
    for row in forged.tables["measurements"]:
        if row["metric"] == "ssim":
            row["value"] = (1 + row["value"]) / 2
    assert "metric ssim: the table says" in reasons(forged.bytes(key=world.key, run=world.run))


def _drop_measurement(one: Forged) -> None:
    del one.tables["measurements"][3]


def _drop_chain(one: Forged) -> None:
    one.rows("chains", lambda row: row != one.tables["chains"][0])


def _drop_step(one: Forged) -> None:
    one.rows("steps", lambda row: row != one.tables["steps"][0])


def _swap_values(one: Forged) -> None:
    rows = [row for row in one.tables["comparisons"] if row["role"] == "return"]
    rows[0]["subject"], rows[-1]["subject"] = rows[-1]["subject"], rows[0]["subject"]


def _swap_steps(one: Forged) -> None:
    first, second = one.tables["chain_steps"][:2]
    first["step"], second["step"] = second["step"], first["step"]


def _other_words(one: Forged) -> None:
    one.tables["steps"][0]["instruction"] = "return the image unchanged"


def _easier_words(one: Forged) -> None:
    one.manifest["pairs"]["red-ball"]["forward"] = "do nothing"


def _out_of_range(one: Forged) -> None:
    row = next(row for row in one.tables["measurements"] if row["metric"] == "ssim")
    row["value"] = 1.7


def _value_of_nothing(one: Forged) -> None:
    one.tables["measurements"][0]["status"] = "nothing-to-undo"


def _negative_cost(one: Forged) -> None:
    one.tables["attempts"][0]["dollars"] = -1.0


def _no_calls(one: Forged) -> None:
    one.tables["attempts"] = []


def _future(one: Forged) -> None:
    one.tables["attempts"][0]["started"] = "2999-01-01T00:00:00+00:00"


def _mixed(one: Forged) -> None:
    one.tables["measurements"][0]["fingerprint"] = "ssim@2:000000000000"


def _old_metric(one: Forged) -> None:
    one.manifest["metrics"]["ssim"] = "ssim@0:000000000000"
    for table in ("measurements", "anchors"):
        for row in one.tables[table]:
            if row["metric"] == "ssim":
                row["fingerprint"] = "ssim@0:000000000000"


def _own_metric(one: Forged) -> None:
    one.manifest["metrics"]["os:system"] = "os:system@1:0"


def _own_study(one: Forged) -> None:
    one.manifest["study"] = "os:path"


def _refused_made_finished(one: Forged) -> None:
    one.tables["chains"][0]["planned"] = 5


def _no_adherence(one: Forged) -> None:
    del one.manifest["metrics"]["happened"]
    one.rows("measurements", lambda row: row["metric"] != "happened")
    one.rows("anchors", lambda row: row["metric"] != "happened")


def _simulated_as_model(one: Forged) -> None:
    one.manifest["editors"]["model-a"]["use"] = "sim-jpeg"


def _other_source(one: Forged) -> None:
    one.manifest["sources"]["scene-0"]["sha256"] = "0" * 64


def _unused_source(one: Forged) -> None:
    one.without_case(lambda row: row["source"] == "scene-0")


def _orphan_image(one: Forged) -> None:
    one.tables["images"].append({**one.tables["images"][0], "id": "i1:" + "f" * 64})


def _other_category(one: Forged) -> None:
    one.tables["cases"][0]["category"] = "easy"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_drop_measurement, "incomplete, 1 measurements are missing"),
        (_drop_chain, "incomplete, 1 of 12 cases have no chain"),
        (_drop_step, "is not in the table of steps"),
        (_swap_values, "shows another image than step"),
        (_swap_steps, "does not follow from an earlier one"),
        (_other_words, "has another history than its key says"),
        (_easier_words, "was asked something else than the edit says"),
        (_out_of_range, "the value 1.7 is outside the metric's range, -1 to 1"),
        (_value_of_nothing, "has a value with the status"),
        (_negative_cost, "dollars is -1"),
        (_no_calls, "has no call, so its cost and time are missing"),
        (_future, "lies in the future"),
        (_mixed, "mixed versions: ssim@2"),
        (_old_metric, "measure the run again with this version"),
        (_own_metric, "is not one of this package"),
        (_own_study, "is not one of this package"),
        (_refused_made_finished, "is finished with 2 of 5 rounds"),
        (_no_adherence, "an editor that changes nothing could not be recognised"),
        (_simulated_as_model, "is a simulated editor that is not marked as simulated"),
        (_other_source, "starts from another image than its source"),
        (_unused_source, "source images have none"),
        (_orphan_image, "belongs to no case and no step"),
        (_other_category, "is in the category easy"),
    ],
)
def test_a_change_that_everything_else_was_made_to_fit(
    forged: Forged, world: World, change: Callable[[Forged], None], reason: str
) -> None:
    change(forged)
    assert reason in reasons(forged.bytes(key=world.key))


def test_what_bundle_json_claims_is_computed_again(forged: Forged, world: World) -> None:
    forged.about["editors"]["model-a"]["models"] = ["best-model-ever"]
    assert "bundle.json: 'editors' is not what the tables and the manifest give" in reasons(
        forged.bytes(key=world.key, describe_again=False)
    )


def test_another_image_under_the_name_of_a_sample(forged: Forged) -> None:
    name = next(name for name in forged.members if name.startswith("images/"))
    picture = encode_png(np.zeros((64, 64, 3), np.uint8))
    assert "has other bytes than its name says" in reasons(sealed({**forged.members, name: picture}))


def test_images_that_the_chain_does_not_choose(forged: Forged) -> None:
    name = next(name for name in forged.members if name.startswith("images/"))
    without = {one: data for one, data in forged.members.items() if one != name}
    assert f"{name} is missing" in reasons(sealed(without))
    extra = "images/" + "a" * 64 + ".png"
    assert f"{extra} is not one that the hash chain chooses" in reasons(sealed({**forged.members, extra: b"x"}))


def test_a_suite_of_this_package_with_another_image_or_fewer(forged: Forged, world: World) -> None:
    forged.manifest["spec"]["images"]["suite"] = "quick"
    said = reasons(forged.bytes(key=world.key))
    assert "suite 'quick': has no image 'scene-0'; this is another suite under its name" in said


def test_a_suite_of_this_package_must_be_whole(world: World) -> None:
    editors = {"model-a": StandIn("model-a", "sim-tint")}
    run = make_run(
        world.root / "quick", Path("quick"), editors, rounds=1, limit=2, metrics=["ssim", "happened", "undone"]
    )
    bundle = world.submitted(run, "quick")
    assert check_bytes("x.zip", bundle.read_bytes(), measure_again=False).labels[0] == "part of its suite"
    claimed = Forged(bundle)
    claimed.manifest["spec"]["images"]["limit"] = 0
    assert "suite 'quick': 10 of its 12 images are left out" in reasons(claimed.bytes(key=world.key, run=run))
    easy = Forged(bundle)
    first = easy.tables["cases"][0]["id"]
    easy.without_case(lambda row: row["id"] == first)
    assert "that the suite and the edits give are left out" in reasons(easy.bytes(key=world.key, run=run))
    other = Forged(bundle)
    name, facts = next(iter(other.manifest["sources"].items()))
    digest = facts["sha256"]
    swapped = json.loads(json.dumps(other.manifest).replace(digest, "f" * 64))
    other.manifest = swapped
    assert name in reasons(other.bytes(key=world.key))


def _zip(entries: list[tuple[Any, bytes]]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return target.getvalue()


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("bundle.json")
    entry.external_attr = 0o120777 << 16
    return entry


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([("../../etc/passwd", b"x")], "unexpected member '../../etc/passwd'"),
        ([("/etc/passwd", b"x")], "unexpected member"),
        ([("images/../../x.png", b"x")], "unexpected member"),
        ([("run.py", b"import os")], "unexpected member 'run.py'"),
        ([(_link(), b"/etc/passwd")], "is a link or a device"),
        ([("bundle.json", b"{}"), ("bundle.json", b"{}")], "two members 'bundle.json'"),
        ([("bundle.json", b"0" * 30_000_000)], "a zip bomb"),
        ([("bundle.json", b"{}")], "is incomplete: it has no manifest.json"),
    ],
)
def test_archives_that_no_tool_of_ours_writes(entries: list[tuple[Any, bytes]], reason: str) -> None:
    assert reason in reasons(_zip(entries))


@pytest.mark.parametrize(
    ("member", "text", "reason"),
    [
        ("bundle.json", "{" * 100_000, "is not JSON"),
        ("bundle.json", '{"format": 1, "format": 1}', "has 'format' twice"),
        ("bundle.json", '{"format": NaN}', "holds NaN"),
        ("bundle.json", '{"format": 99}', "has format 99"),
        ("bundle.json", "[]", "is not a JSON object"),
        ("manifest.json", "{}", "has format None"),
        ("manifest.json", '{"format": 2, "name": 3}', "is not a manifest"),
        ("tables/chains.jsonl", "{}\n", "other columns"),
        ("tables/chains.jsonl", "[" * 100_000 + "\n", "table chains, row 1"),
        ("tables/measurements.jsonl", "\xff", "table measurements"),
    ],
)
def test_documents_that_cannot_be_read(forged: Forged, member: str, text: str, reason: str) -> None:
    data = text.encode("latin-1") if text == "\xff" else text.encode()
    assert reason in reasons(sealed({**forged.members, member: data}))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_found_or_changes_no_content(world: World, where: float, flip: int) -> None:
    """Reading alone finds it: no flip reaches the checks on content."""
    whole = world.bundle.read_bytes()
    data = bytearray(whole)
    data[int(where * len(data))] ^= flip
    try:
        found = parse("x", unpack_bytes(bytes(data)), bytes(data))
    except (BadArchive, UnreadableBundle):
        return
    members = unpack_bytes(whole)
    changed = {name for name in members if members[name] != found.members.get(name)}
    assert changed <= {"signature.json"}  # which is checked against the rest
    if changed:
        assert "signature.json" in reasons(bytes(data))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_cell_breaks_the_chain_or_a_check(world: World, data: st.DataObject) -> None:
    """With checksums and chain made to fit, and the old samples: at least the samples are then the wrong ones."""
    one = Forged(world.bundle)
    table = data.draw(st.sampled_from([name for name in one.tables if one.tables[name]]))
    row = data.draw(st.sampled_from(one.tables[table]))
    column = data.draw(st.sampled_from(sorted(row)))
    value = row[column]
    row[column] = value + 1 if isinstance(value, int | float) else f"{value or ''}x"
    assert reasons(one.bytes()) != ""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_document_says_the_check_ends_with_an_answer(world: World, data: st.DataObject) -> None:
    """Any value of the manifest or of bundle.json may be anything; nothing but a list of reasons comes out."""
    one = Forged(world.bundle)
    place: Any = data.draw(st.sampled_from([one.manifest, one.about]))
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(JSON)
        break
    found = check_bytes("x.zip", one.bytes(describe_again=False), measure_again=False)
    assert found.faults or found.bundle is not None


def test_a_bundle_is_never_run_and_nothing_is_written(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cbench("leaderboard", "check", world.bundle)
    assert done.code == 0, done.out
    assert "accepted, signed by k1:" in done.out
    assert not list(tmp_path.iterdir())


def test_the_command_says_each_reason_on_a_line_and_ends_with_1(forged: Forged, tmp_path: Path) -> None:
    _drop_chain(forged)
    (tmp_path / "bad.zip").write_bytes(forged.bytes())
    (tmp_path / "worse.zip").write_bytes(b"PK")
    done = cbench("leaderboard", "check", tmp_path)
    assert done.code == 1
    assert "bad.zip: rejected\n  chain model-a: incomplete" in done.out
    assert "worse.zip: rejected\n  the file is not a zip file" in done.out
    listed = json.loads(cbench("leaderboard", "check", tmp_path, "--json").out)
    assert [one["accepted"] for one in listed] == [False, False]
