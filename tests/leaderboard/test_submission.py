"""A bundle holds what the ranking needs and nothing private; the same run gives the same bytes."""

from __future__ import annotations

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from convergebench.conductor.submitting import Submitter, submit
from convergebench.errors import StudyError
from convergebench.leaderboard.archive import unpack
from convergebench.leaderboard.checking import check_bundle
from convergebench.leaderboard.layout import SIGNATURE
from convergebench.leaderboard.signing import make_key, read_key
from convergebench.store.run import Run
from convergebench.store.tables import ChainStatusRow
from tests.cli.in_process import cbench
from tests.leaderboard.conftest import World
from tests.leaderboard.runs import StandIn, make_run


def test_a_signed_bundle_is_accepted_and_its_samples_are_measured_again(world: World) -> None:
    found = check_bundle(world.bundle)
    assert found.accepted, found.faults
    assert found.key.startswith("k1:")
    assert found.remeasured > 50
    assert found.labels == ()


def test_the_same_run_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    again, _ = submit(world.run, Submitter("Example Lab", key=world.key), tmp_path / "again.zip")
    assert again.data == world.bundle.read_bytes()


def test_an_unsigned_bundle_is_accepted_and_labelled(world: World) -> None:
    found = check_bundle(world.submitted(world.run, "unsigned", unsigned="yes"))
    assert found.accepted
    assert found.labels == ("unsigned",)
    assert SIGNATURE not in unpack(world.root / "unsigned.zip")


def test_no_path_of_this_machine_is_in_it(world: World) -> None:
    for name, data in unpack(world.bundle).items():
        if not name.startswith("images/"):
            assert str(world.root).encode() not in data, name
            assert b"/tmp/" not in data, name


def test_a_key_in_an_instruction_is_refused_and_one_in_a_refusal_is_blotted_out(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    with Run.existing(run) as opened:
        row = next(opened.journal.table(ChainStatusRow))
        opened.journal.commit_now([replace(row, detail="said sk-hush-hush-1234 at /home/me/x")])
    monkeypatch.setenv("SOME_API_KEY", "sk-hush-hush-1234")
    made, _ = submit(run, Submitter(), tmp_path / "x.zip")
    assert b"hush-hush" not in made.data
    text = unpack(tmp_path / "x.zip")["tables/chains.jsonl"].decode()
    assert "/home/me" not in text
    assert "said" in text
    monkeypatch.setenv("SOME_API_KEY", "flip horizontally")
    with pytest.raises(StudyError, match="looks like a key"):
        submit(run, Submitter(), tmp_path / "y.zip")
    assert not (tmp_path / "y.zip").exists()


def test_private_options_of_an_editor_stay_at_home(world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["editors"]["model-a"]["options"] = {"base_url": "http://10.0.0.7:8000", "api_key": "X", "steps": 4}
    manifest["sessions"][0]["command"] = "cbench run /home/me/study.toml --run ~/runs/a --url http://10.0.0.7/v1"
    manifest["roles"] = {"judge": {"fingerprint": "j@1", "base_url": "http://10.0.0.8"}}
    (run / "manifest.json").write_text(json.dumps(manifest))
    submit(run, Submitter(), tmp_path / "x.zip")
    text = unpack(tmp_path / "x.zip")["manifest.json"].decode()
    assert "10.0.0" not in text
    assert "/home/me" not in text
    assert "api_key" not in text
    assert '"steps": 4' in text


@pytest.mark.parametrize(("status", "reason"), [("open", "not finished"), ("stopped", "not finished")])
def test_an_unfinished_run_is_refused(world: World, tmp_path: Path, status: str, reason: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    with Run.existing(run) as opened:
        row = next(opened.journal.table(ChainStatusRow))
        opened.journal.commit_now([replace(row, status=status)])
    with pytest.raises(StudyError, match=reason):
        submit(run, Submitter(), tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_a_run_without_measurements_is_refused(world: World, tmp_path: Path) -> None:
    run = make_run(tmp_path / "bare", world.pictures, {"lazy": StandIn("lazy", "nothing")}, metrics=["psnr"], limit=1)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["metrics"]["ssim"] = "ssim@1:2afb9b83f931"
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StudyError, match="lacks 4 measurements of ssim; type: cbench measure"):
        submit(run, Submitter(), tmp_path / "x.zip")


def test_a_run_without_adherence_is_not_accepted(world: World, tmp_path: Path) -> None:
    run = make_run(tmp_path / "bare", world.pictures, {"lazy": StandIn("lazy", "nothing")}, metrics=["ssim"], limit=1)
    with pytest.raises(StudyError, match="happened"):
        submit(run, Submitter(), tmp_path / "x.zip")


def test_keys_are_for_their_owner_and_never_overwritten(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    name = make_key(key)
    assert name.startswith("k1:")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(StudyError, match="never overwritten"):
        make_key(key)
    key.chmod(0o644)
    with pytest.raises(StudyError, match="chmod 600"):
        read_key(key)
    key.chmod(0o600)
    key.write_text("-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n")
    with pytest.raises(StudyError, match="is not an Ed25519 key") as refused:
        read_key(key)
    assert "secret" not in str(refused.value)


def test_the_command_says_what_would_go_in_and_writes_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cbench("submit", world.run, "--dry-run")
    assert done.code == 0, done.err
    assert "tables/measurements.jsonl" in done.out
    assert "would be" in done.out
    assert "labels  unsigned" in done.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--into", "."), "is a folder"),
        (("--into", "x.txt"), "a bundle is a zip file"),
        (("--by", "x" * 300), "longer than 200"),
        (("--key", "none.pem"), "cbench submit --new-key"),
        (("--new-key", "k.pem"), "second command"),
    ],
)
def test_bad_input_is_one_line(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cbench("submit", world.run, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_images_of_restricted_sources_are_left_out(world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    manifest = json.loads((run / "manifest.json").read_text())
    for facts in manifest["sources"].values():
        facts["licence"] = "CC-BY-NC-ND-4.0"
    (run / "manifest.json").write_text(json.dumps(manifest))
    made, target = submit(run, Submitter(), tmp_path / "x.zip")
    assert not [name for name in made.members if name.startswith("images/")]
    found = check_bundle(target)
    assert found.accepted, found.faults
    assert "not measured again: no sample image may be published" in found.labels


def test_a_challenge_chooses_other_images_of_the_same_chain(world: World) -> None:
    first = unpack(world.bundle)
    other = unpack(world.submitted(world.run, "challenged", challenge="tuesday"))
    assert json.loads(first["chain.json"])["head"] == json.loads(other["chain.json"])["head"]
    assert {name for name in first if name.startswith("images/")} != {
        name for name in other if name.startswith("images/")
    }
    assert check_bundle(world.root / "challenged.zip", challenge="tuesday").accepted
    assert "answers another challenge" in check_bundle(world.bundle, challenge="tuesday").faults[0]
