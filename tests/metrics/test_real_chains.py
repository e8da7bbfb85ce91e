"""PSNR and SSIM of real chains against the numbers that their author published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convergebench.images.frame import Pixels
from tests.metrics.pictures import decoded, measured

CHAINS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "flux-kontext-dev-roundtrips"
PUBLISHED = CHAINS / "published.json"

pytestmark = pytest.mark.skipif(not PUBLISHED.exists(), reason="the published chains are not here")


def _read(chain: str, name: str) -> Pixels:
    return decoded((CHAINS / chain / name).read_bytes())


def _chains() -> list[dict[str, object]]:
    if not PUBLISHED.exists():
        return []
    chains: list[dict[str, object]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return chains


@pytest.mark.parametrize("chain", _chains(), ids=lambda chain: str(chain["chain"]))
def test_psnr_and_ssim_equal_the_published_numbers(chain: dict[str, object]) -> None:
    name = str(chain["chain"])
    source = _read(name, "I0_source.png")
    rounds = chain["rounds"]
    assert isinstance(rounds, list)
    for row in rounds:
        returned = _read(name, f"I{row['round']}_backward.png")
        assert measured("psnr", returned, source) == pytest.approx(row["psnr"], abs=1e-6)
        assert measured("ssim-skimage", returned, source) == pytest.approx(row["ssim_skimage_default"], abs=1e-6)


@pytest.mark.parametrize("chain", _chains(), ids=lambda chain: str(chain["chain"]))
def test_every_forward_edit_of_these_chains_is_seen_to_have_happened(chain: dict[str, object]) -> None:
    name = str(chain["chain"])
    source, forward = _read(name, "I0_source.png"), _read(name, "I1_forward.png")
    assert measured("happened", forward, source, operation="add") > 0.8
    assert measured("gist", _read(name, "I1_backward.png"), source) > 0.8
