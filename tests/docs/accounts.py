"""Every command on every page: which test executes it, or why none does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import ROOT, Block, blocks, lines, typed

FOLLOWED: Mapping[str, str] = {
    "README.md": "test_readme.py",
    "docs/add-a-metric.md": "test_pages.py",
    "docs/add-a-study.md": "test_study_page.py",
    "docs/add-an-editor.md": "test_pages.py",
    "docs/audit.md": "test_audit_page.py",
    "docs/ci.md": "test_ci_page.py",
    "docs/claims.md": "test_claims_page.py",
    "docs/comparing-runs.md": "test_sharing_pages.py",
    "docs/costs.md": "test_pages.py",
    "docs/datasets.md": "test_data_pages.py",
    "docs/degradations.md": "test_degradations_page.py",
    "docs/everyday.md": "test_pages.py",
    "docs/filter.md": "test_pages.py",
    "docs/factory.md": "test_factory_page.py",
    "docs/failures.md": "test_failures_page.py",
    "docs/import.md": "test_import_page.py",
    "docs/leaderboard.md": "test_leaderboard_page.py",
    "docs/own-images.md": "test_pages.py",
    "docs/pairs.md": "test_pages.py",
    "docs/paper-figure.md": "test_pages.py",
    "docs/paper.md": "test_pages.py",
    "docs/providers.md": "test_providers_page.py",
    "docs/python-api.md": "test_python_page.py",
    "docs/rating.md": "test_rating_page.py",
    "docs/replicate.md": "test_data_pages.py",
    "docs/restoration.md": "test_restoration_page.py",
    "docs/resume-and-budgets.md": "test_pages.py",
    "docs/several-machines.md": "test_pages.py",
    "docs/sharing.md": "test_sharing_pages.py",
    "docs/spend-less.md": "test_pages.py",
    "docs/storage.md": "test_storage_page.py",
    "docs/tutorial.md": "test_pages.py",
    "docs/weights.md": "test_data_pages.py",
}
"""Page → the test of this folder that does what it says, from the first command to the last."""

_KEY = "needs a provider's key"
_NETWORK = "downloads; tests/weights does it from servers on this machine"
_PACKAGES = "installs packages"
_STOPS = "serves until it is stopped; tests/serve does it"

NOT_RUN: Mapping[str, str] = {
    "make demo": "sets up an environment; tests/test_docs.py holds the commands by hand to those of the Makefile",
    "make install": _PACKAGES,
    "pip install -e '.[learned,restorers,vision]'": _PACKAGES,
    "pip install 'convergebench[iqa]'": f"{_PACKAGES} under a noncommercial licence",
    'pip install "convergebench[vision]"': _PACKAGES,
    "pip install 'convergebench[keyring]'": _PACKAGES,
    "keyring set convergebench BFL_API_KEY": "waits for a key to be typed",
    "cbench weights fetch lpips augnet brisque niqe inpaint realesr-anime": _NETWORK,
    "cbench weights fetch lpips": _NETWORK,
    "cbench weights fetch --packaged": _NETWORK,
    "cbench weights fetch maxim-denoising": _NETWORK,
    "cbench weights fetch musiq": _NETWORK,
    "cbench weights add clip-vit-l14 models/clip-vit-large-patch14": "needs CLIP's weights; tests/weights adds others",
    "cbench measure pictures/ --metric musiq": "needs pyiqa; tests/metrics/test_iqa.py has its rows",
    "python -m benchmarks.determinism --metric musiq --metric niqe": "needs pyiqa",
    "export GEMINI_API_KEY=… ANTHROPIC_API_KEY=…": _KEY,
    'cbench run studies/roundtrip.toml --editor "nano banana" --editor flux-kontext-dev --max-cost 50': _KEY,
    "cbench audit runs/published --metric visualquality-r1 --roles rater.toml": "needs a served model on a GPU",
    "vllm serve TianheWu/VisualQuality-R1-7B --port 8001 --limit-mm-per-prompt '{\"image\": 1}'": "needs a GPU",
    "cbench measure runs/x --metric self-evaluation --roles roles.toml --max-cost 5": _KEY,
    "export HF_TOKEN=…": "needs a token",
    "pip install 'convergebench[s3]'": _PACKAGES,
    "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…": "needs keys; the page's test has a server of its own",
    "cbench push runs/small my-lab/round-trips --yes": "sends to the Hub; tests/datasets does it on this machine",
    "cbench run small.toml --run runs/small --track tensorboard": "needs TensorBoard; tests/trackers does it",
    "cbench rate runs/mine": _STOPS,
    "cbench rate runs/restoration-quick --raters 3": _STOPS,
    "cbench view": _STOPS,
    "cbench view runs/mine": _STOPS,
    "cbench view runs ../others": _STOPS,
    "ray start --head --port 6379": "starts a cluster; tests/backends does it with several raylets",
    "ray start --address 10.0.0.7:6379": "needs another machine; tests/backends does it with several raylets",
    "cbench run study.toml --run runs/cluster --backend ray --address 10.0.0.7:6379": "needs that cluster",
    "make gauntlet": "20 minutes; tests/gauntlet runs some of its seeds",
    "python -m benchmarks.million": "a quarter of an hour",
    "python -m benchmarks.million --chains 10000": "minutes; tests/gauntlet/test_million.py runs it small",
    "cbench demo": "minutes; tests/cli/test_demo.py does it small",
    "cbench demo --light": "tests/cli/test_demo.py does it small",
    "cbench verify runs/mine": "needs a run that is damaged in this way; tests/cli/test_damaged_runs.py",
    "cbench recover runs/mine --out runs/mine-2": "the same",
}
"""Commands that no page's test executes, each with the reason. They are read as the program reads them all the same."""

HOURS = tuple(sorted(f"docs/results/{path.name}" for path in (ROOT / "docs" / "results").glob("*.md")))
"""Pages whose commands make their numbers and pictures anew, which takes hours; they are read, not run."""

PROGRAMS = ("cbench", "pip", "python", "make", "export", "vllm", "keyring", "git", "docker", "cd", "mkdir", "cp")
_SPAN = re.compile(r"(?<!`)`(cbench [^`\n]+)`")
_FENCES = re.compile(r"^```.*?^```$", re.M | re.S)


@dataclass(frozen=True)
class Told:
    """A command as a page tells it."""

    page: str
    language: str
    text: str

    @property
    def executed(self) -> bool:
        return self.page in FOLLOWED and self.language in ("console", "sh") and self.text not in NOT_RUN

    @property
    def excused(self) -> bool:
        return self.text in NOT_RUN or (self.page in HOURS and self.language == "sh")


def pages() -> list[str]:
    """Every written page; those of the reference are made from the code and show no commands to type."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if path.parent.name != "reference")


def told(page: str) -> Iterator[Told]:
    """The commands of a page's blocks, in whatever language the block is marked."""
    for block in blocks(ROOT / page):
        yield from (Told(page, block.language, text) for text in _commands(block))


def _commands(block: Block) -> Iterator[str]:
    if block.file is not None or block.language in ("python", "toml", "json", "csv", "yaml", "mermaid"):
        return
    if block.language == "sh":
        yield from (command.text for command in lines(block.text))
    elif any(line.startswith("$ ") for line in block.text.splitlines()):
        yield from (command.text for command in typed(block.text))
    elif block.text.split(maxsplit=1)[0] in PROGRAMS:
        yield from (command.text for command in lines(block.text))


def scripts(page: str) -> list[Block]:
    """The Python blocks that a page shows."""
    return [block for block in blocks(ROOT / page) if block.language == "python"]


def spans(page: Path) -> list[str]:
    """Commands inside sentences."""
    return _SPAN.findall(_FENCES.sub("", page.read_text(encoding="utf-8")))
