"""The pages on comparing, merging and sharing: what they tell to type works."""

from __future__ import annotations

import pytest

from tests.docs.shell import Reader


@pytest.mark.parametrize(("page", "commands"), [("comparing-runs", 10), ("sharing", 5)])
def test_what_a_page_tells_to_type_works(
    page: str, commands: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert reader.page(f"docs/{page}.md") == commands
