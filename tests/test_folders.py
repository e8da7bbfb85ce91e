"""Where files are kept between runs."""

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.folders import cache_folder


def test_the_environment_says_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CONVERGEBENCH_CACHE")
    assert cache_folder().name == "convergebench"


def test_a_home_that_does_not_exist_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", "~nobody-of-this-name/cache")
    with pytest.raises(StudyError, match=r"^CONVERGEBENCH_CACHE=~nobody-of-this-name/cache: .*; name a folder$"):
        cache_folder()
