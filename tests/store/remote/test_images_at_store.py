"""Images at a store: the folder is a cache, whose files go only when the store surely has them."""

from __future__ import annotations

import errno
import logging
import pickle
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.store import images as image_module
from convergebench.store.images import STORE, DamagedImage, file_of, open_images, write_synced
from convergebench.store.remote import fetching, keeper
from convergebench.store.remote.address import CONFIRMED, parse_address
from convergebench.store.remote.eviction import evict
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.store.remote.settings import attach, read_settings
from convergebench.store.remote.uploads import UploadedFiles
from convergebench.store.run import Run
from tests.store.remote.servers import S3Server
from tests.store.remote.small_run import PNG, add, eventually

URL = "memory://stores/one"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "INTERVAL", 0.02)
    monkeypatch.setattr(fetching, "PATIENCE", 0.3)


def stored_run(root: Path, *datas: bytes, url: str = URL, cache_mb: int | None = None) -> list[str]:
    with Run.create(root) as run:
        run.keep_at(url, cache_mb=cache_mb)
        return add(run, *datas)


def test_an_image_that_left_the_folder_is_fetched_checked_and_kept(tmp_path: Path, url: str) -> None:
    root = tmp_path / "run"
    one, two = stored_run(root, b"one", b"two", url=url)
    (root / one).unlink()
    store = open_images(root)
    assert store.has(one)
    assert store.is_intact(one)
    assert store.find(image_id(b"one").removeprefix("i1:")) == one
    assert store.read(one, image_id(b"one")) == b"one"
    assert (root / one).read_bytes() == b"one"
    (root / two).write_bytes(b"spoilt")
    assert pickle.loads(pickle.dumps(store)).read(two) == b"two", "a spoilt copy is fetched anew"
    assert (root / two).read_bytes() == b"two"
    (root / two).unlink()
    assert store.view(two) == b"two"
    with pytest.raises(DamagedImage, match="is named like a different image"):
        store.read(one, image_id(b"two"))


def test_a_damaged_or_missing_object_is_named_and_never_handed_out(tmp_path: Path, url: str) -> None:
    root = tmp_path / "run"
    one, two = stored_run(root, b"one", b"two", url=url)
    files = RemoteFiles(parse_address(url))
    files.write(one, b"0ne")
    files.remove(two)
    (root / one).unlink()
    (root / two).unlink()
    store = open_images(root)
    with pytest.raises(DamagedImage, match=f"{one} .* has changed at {url} since it was stored"):
        store.read(one)
    assert not (root / one).exists()
    assert store.view(one) is None
    with pytest.raises(DamagedImage, match=f"is missing, here and at {url}"):
        store.read(two)
    assert not store.is_intact(two)


def test_a_folder_that_cannot_be_written_is_read_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "run"
    (one,) = stored_run(root, b"one")
    (root / one).unlink()

    def full(*words: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("convergebench.store.remote.fetching._placed", full)
    assert open_images(root).read(one) == b"one"
    assert not (root / one).exists()


def test_the_cache_stays_small_and_what_was_not_uploaded_stays(tmp_path: Path) -> None:
    root = tmp_path / "run"
    datas = [bytes([number]) * 300_000 for number in range(8)]
    files = stored_run(root, *datas, cache_mb=1)
    here = [file for file in files if (root / file).exists()]
    assert len(here) == 3, "a megabyte of 300,000 bytes each"
    assert here == files[-3:], "the oldest went first"
    store = open_images(root)
    assert [store.read(file) for file in files] == datas
    kept = [file for file in files if (root / file).exists()]
    assert len(kept) <= 3, "what a reader fetches does not fill the disk"


def test_eviction_asks_the_store_before_a_file_goes(tmp_path: Path) -> None:
    root = tmp_path / "run"
    one, two, three = stored_run(root, b"one", b"two", b"three")
    remote = RemoteFiles(parse_address(URL))
    remote.remove(one)
    remote.write(two, b"t")
    write_synced(root / file_of(image_id(b"new"), PNG), b"new")
    remote.write(file_of(image_id(b"new"), PNG), b"NEW")
    uploaded = UploadedFiles(root)
    assert evict(root, 1_000_000, files=remote, uploaded=uploaded) == len(b"three")
    assert (root / one).exists(), "lost at the store"
    assert (root / two).exists(), "cut short at the store"
    assert (root / file_of(image_id(b"new"), PNG)).exists(), "never uploaded"
    assert not (root / three).exists()
    uploaded.close()
    with Run(root):
        pass
    assert remote.read(one) == b"one", "uploaded again"
    assert remote.read(two) == b"two"


def test_a_full_disk_makes_room_of_what_the_store_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "run"
    with Run.create(root) as run:
        run.keep_at(URL)
        one, two = add(run, b"one", b"two")
        eventually(lambda: run._keeper is not None and not run._keeper._uploader.pending)
        real = image_module.write_synced

        def write(path: Path, data: bytes) -> None:
            if (root / one).exists() or (root / two).exists():
                raise OSError(errno.ENOSPC, "No space left on device")
            real(path, data)

        monkeypatch.setattr(image_module, "write_synced", write)
        (three,) = add(run, b"three")
        assert (root / three).exists()
        assert run.images.read(one) == b"one"
    (root / one).write_bytes(b"one")
    with Run.create(tmp_path / "local") as local, pytest.raises(StudyError, match="Free some disk space"):
        local.images.put(b"four", PNG)


def test_a_received_run_chooses_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its URL is contacted only when the user has typed it on this computer."""
    root = tmp_path / "run"
    (one,) = stored_run(root, b"one")
    (root / one).unlink()
    (tmp_path / "user-cache" / CONFIRMED).unlink()
    fetching._opened.cache_clear()
    asked: list[str] = []
    monkeypatch.setattr(RemoteFiles, "_asked", lambda self, *words: asked.append("asked"))
    with pytest.raises(StoreError, match="never typed on this computer"):
        open_images(root).read(one)
    assert open_images(root).view(one) is None
    with pytest.raises(StoreError, match="never typed"):
        Run(root)
    assert not asked


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"url": 1, "id": ""}', '{"url": "memory://a", "id": "", "cache_mb": "x"}', "\0", "[" * 9999],
)
def test_a_damaged_store_file_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / STORE).write_text(text)
    with pytest.raises(StudyError, match="is damaged") as caught:
        read_settings(tmp_path)
    assert "\n" not in str(caught.value)


def test_one_url_is_for_one_run(tmp_path: Path) -> None:
    stored_run(tmp_path / "run", b"one")
    for root, url, says in [
        ("other", URL, "has the images of another run, 'run'"),
        ("run", "memory://elsewhere", f"has its images at {URL}"),
        ("other", f"file://{tmp_path}/other/store", "are one inside the other"),
        ("other", f"file://{tmp_path}", "are one inside the other"),
    ]:
        (tmp_path / root).mkdir(exist_ok=True)
        with pytest.raises(StudyError, match=says):
            attach(tmp_path / root, url, name=root)
        assert (tmp_path / root / STORE).exists() == (root == "run")
    (tmp_path / "new").mkdir()
    RemoteFiles(parse_address("memory://claimed")).write("store.json", b'{"format": 1, "id": "abc", "run": "x"}')
    assert attach(tmp_path / "new", "memory://claimed", name="new").id == "abc", "nothing but the claim is there"
    RemoteFiles(parse_address("memory://full")).write("letters/to-mum.txt", b"dear")
    with pytest.raises(StudyError, match="is not empty and is not a store"):
        attach(tmp_path / "other", "memory://full", name="other")
    RemoteFiles(parse_address(URL)).remove("store.json")
    with pytest.raises(StoreError, match="is not the store of"):
        Run(tmp_path / "run")


def test_a_store_that_is_down_at_the_end_loses_nothing(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper, "_AT_CLOSING", 0.5)
    root = tmp_path / "run"
    with Run.create(root) as run:
        run.keep_at("s3://bucket/one")
        add(run, b"one")
        eventually(lambda: len(s3.names("one/images")) == 1)
        s3.down()
        files = add(run, b"two", b"three")
        assert [run.images.read(file) for file in files] == [b"two", b"three"], "the work goes on"
    assert "images and the end of the journal are only in" in run.not_stored
    assert "cbench backup" in caplog.text
    assert caplog.records[-1].levelno == logging.WARNING
    s3.up()
    with Run(root) as run:
        pass
    assert not run.not_stored
    assert len(s3.names("one/images")) == 3


def test_after_long_silence_the_next_read_stops_the_run(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(keeper.PATIENCE, "0.4")
    with Run.create(tmp_path / "run") as run:
        run.keep_at("s3://bucket/one")
        (one,) = add(run, b"one")
        s3.fault = lambda method, path: 503
        (two,) = add(run, b"two")
        eventually(lambda: stops(run, one))
        with pytest.raises(StoreError, match=r"nothing is lost: .* are uploaded when you run the same command again"):
            run.images.read(two)
        identity = run.images.put(b"paid for", PNG)
        assert (tmp_path / "run" / file_of(identity, PNG)).exists(), "what was paid for is stored all the same"
        s3.fault = lambda method, path: None
        eventually(lambda: not stops(run, one))
    assert not run.not_stored, "it answered again before the end"


def stops(run: Run, file: str) -> bool:
    try:
        run.images.read(file)
    except StoreError:
        return True
    return False


def test_uploads_that_are_cut_or_refused_now_and_then_arrive(tmp_path: Path, s3: S3Server) -> None:
    seen: dict[str, int] = {}

    def fault(method: str, path: str) -> int | None:
        if method != "PUT" or "images" not in path:
            return None
        seen[path] = seen.get(path, 0) + 1
        return {1: 503, 2: 0}.get(seen[path])

    with Run.create(tmp_path / "run") as run:
        run.keep_at("s3://bucket/one")
        s3.fault = fault
        files = add(run, *(bytes([number]) * 200_000 for number in range(4)))
    assert not run.not_stored
    assert s3.names("one/images") == {f"one/{file}": 200_000 for file in files}


def test_a_read_waits_for_a_store_that_comes_back(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "run"
    (one,) = stored_run(root, b"one", url="s3://bucket/one")
    (root / one).unlink()
    count = [0]

    def fault(method: str, path: str) -> int | None:
        count[0] += 1
        return 503 if count[0] < 4 else None

    s3.fault = fault
    assert fetching.fetched(root, one, patience=20) == b"one"
    s3.down()
    (root / one).unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        fetching.fetched(root, one, patience=0.3)


def test_a_spoilt_list_of_uploads_is_made_anew(tmp_path: Path) -> None:
    root = tmp_path / "run"
    stored_run(root, b"one")
    (root / "uploads.sqlite").write_bytes(b"no database at all" * 100)
    with Run(root) as run:
        add(run, b"two")
    assert not run.not_stored
    assert len(RemoteFiles(parse_address(URL)).sizes("images")) == 2


def test_a_file_that_was_spoilt_before_its_upload_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "run"
    stored_run(root, b"one")
    write_synced(root / file_of(image_id(b"two"), PNG), b"spoilt")
    with Run(root):
        pass
    assert "1 images of" in caplog.text
    assert "damaged and were not uploaded" in caplog.text
    assert len(RemoteFiles(parse_address(URL)).sizes("images")) == 1
