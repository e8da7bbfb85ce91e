"""Files that people write are read as any program saves them, or refused in one line."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path

import pytest

from convergebench import documents
from convergebench.documents import Strict, check_document, read_text, read_toml
from convergebench.errors import StudyError

TEXT = 'title = "é"\nlimit = 3\n'


@pytest.mark.parametrize("text", [TEXT, "\ufeff" + TEXT, TEXT.replace("\n", "\r\n"), "\ufeff# made by hand\r\n" + TEXT])
def test_the_mark_and_the_line_ends_of_windows_change_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_bytes(text.encode())
    assert read_toml(tmp_path / "a.toml") == {"title": "é", "limit": 3}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TEXT.encode("utf-16"), "save it as UTF-8"),
        (TEXT.encode("latin-1"), "is not UTF-8 text (byte 9)"),
        (b"a = 1\n\0", "is not valid TOML"),
        (b'a = "\\u0000"', "NUL"),
        (b"day = 1979-05-27", "this is a date or time"),
        (b"x = [[1, nan]]", "finite number"),
        (b"#" * 2000, "is larger than"),
        (b'a = "' + b"x" * 101 + b'"', "the text is too long (101 characters)"),
        (b"a = 9223372036854775808", "the number is too large (2^63 or more)"),
        (b"a = -9223372036854775808", "the number is too large (2^63 or more)"),
    ],
)
def test_what_is_no_text_or_holds_no_storable_value_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, said: str
) -> None:
    monkeypatch.setattr(documents, "LARGEST_FILE", 1000)
    monkeypatch.setattr(documents, "LONGEST_TEXT", 100)
    (tmp_path / "a.toml").write_bytes(data)
    with pytest.raises(StudyError) as caught:
        read_toml(tmp_path / "a.toml")
    assert said in str(caught.value)


def test_a_device_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST_FILE", 1000)
    with pytest.raises(StudyError, match="larger than"):
        read_text(Path("/dev/zero"))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    """`cbench run <(sed … study.toml)` of the shell."""
    os.mkfifo(tmp_path / "pipe.toml")
    writing = threading.Thread(target=(tmp_path / "pipe.toml").write_text, args=(TEXT,), kwargs={"encoding": "utf-8"})
    writing.start()
    assert read_toml(tmp_path / "pipe.toml")["limit"] == 3
    writing.join()


@pytest.mark.parametrize("name", ["absent.toml", ".", "a\0b.toml", "n" * 5000])
def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(StudyError, match="cannot read"):
        read_text(tmp_path / name)


def test_infinity_is_a_number_only_where_it_means_something(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("psnr = inf")
    assert read_toml(tmp_path / "a.toml", infinite=True) == {"psnr": math.inf}
    with pytest.raises(StudyError, match="psnr: should be a finite number"):
        read_toml(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text("psnr = nan")
    with pytest.raises(StudyError, match="finite"):
        read_toml(tmp_path / "a.toml", infinite=True)


class Shape(Strict):
    limit: int = 0
    names: dict[str, int] | None = None


@pytest.mark.parametrize(
    "content", [{"k" * 9000: 1}, {"limit": "v" * 9000}, {"names": {"n" * 9000: "x"}}, {f"k{n}": 1 for n in range(9000)}]
)
def test_a_message_repeats_only_the_beginning_of_what_is_long(content: dict[str, object]) -> None:
    with pytest.raises(StudyError) as caught:
        check_document(content, Shape, where="study.toml")
    assert len(str(caught.value)) < 300
