"""Small runs of the shipped studies, made by `cbench` itself: which they are, and what is read of each."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.same.normal import normal_file, normal_terminal

STUDIES = Path(__file__).parents[2] / "studies"


@dataclass(frozen=True)
class Small:
    """A shipped study cut down: lines of its file that are replaced, and the commands after it was written."""

    study: str
    replaced: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]

    def text(self) -> str:
        """The study file with its replacements; a line that is no longer there is an error, not a larger run."""
        text = (STUDIES / f"{self.study}.toml").read_text(encoding="utf-8")
        for old, new in self.replaced:
            if old not in text:
                raise ValueError(f"studies/{self.study}.toml has no {old!r} any more: adapt tests/same/runs.py")
            text = text.replace(old, new)
        return text


_RUN = "run study.toml --run run --workers 1"
_SHOW = "show run --json"
_CLAIMS = "claims banana100 convergebench run"

SMALL: dict[str, Small] = {
    "demo": Small(
        "demo",
        (
            ('{ name = "inpaint-whole", use = "inpaint", through = "realesr-anime" },\n', ""),
            (
                '{ name = "inpaint-pasted", use = "paste-back", '
                'of = { use = "inpaint", through = "realesr-anime" } },\n',
                "",
            ),
            ('"sim-perfect", "sim-jpeg",', '"sim-perfect", "sim-jpeg", "sim-contracting",'),
            ('pairs = ["hat", "red-ball"]', 'pairs = ["glasses", "red-ball"]'),
            ('["default", "lpips", "augnet", "brisque", "niqe"]', '["default", "gist"]'),
            ('quality = ["ssim", "lpips"]', 'quality = ["ssim", "ms-ssim"]'),
            ('semantic = "augnet"', 'semantic = "gist"'),
        ),
        (
            f"{_RUN} --limit 3 --rounds 3",
            _SHOW,
            "export run --as parquet --out exported",
            "export run --as banana100 --out folders",
            "import exported --run imported",
            "measure imported --metric ssim --metric rmse --metric gist --workers 1",
            "report imported",
            "show imported --json",
        ),
    ),
    "roundtrip": Small(
        "roundtrip",
        (
            ("# editors = [", "editors = ["),
            ("replicates = 1 ", "replicates = 2 "),
            ('suite = "builtin"', 'suite = "quick"'),
            ('pairs = ["v1"]', 'pairs = ["glasses", "red-ball", "flip-horizontal"]'),
            ('["default", "lpips", "clip"]', '["psnr", "ssim", "rmse", "gist", "happened", "undone"]'),
            ('quality = ["ssim", "lpips"]', 'quality = ["ssim"]'),
            ('semantic = "clip"', 'semantic = "gist"'),
        ),
        (f"{_RUN} --limit 3 --rounds 2", _SHOW, "claims", _CLAIMS),
    ),
    "session": Small(
        "session",
        (("# editors = [", "editors = ["), ('suite = "builtin"', 'suite = "quick"')),
        (f"{_RUN} --limit 3 --metric ssim --metric rmse --metric gist --metric noise", _SHOW),
    ),
    "replicate": Small(
        "replicate-quick",
        (
            ("steps = 12", "steps = 4"),
            ("runs = 2", "runs = 1"),
            ("notices = 8", "notices = 2"),
            ('["astronaut", "coffee-cup", "maine-coon-cat", "palm-beach"]', '["coffee-cup"]'),
            ('["mirror", "rotate", "resolution-1k", "monochrome-colour", "denoise"]', '["rotate", "denoise"]'),
            ('["coffee-cup", "palm-beach"]', '["palm-beach"]'),
            ('["replicate", "brisque", "self-evaluation"]', '["ssim", "rmse", "gist", "noise", "self-evaluation"]'),
            ("[1, 2, 5, 10, 12]", "[1, 2, 4]"),
        ),
        (_RUN, _SHOW, _CLAIMS),
    ),
    "audit": Small(
        "audit-quick",
        (
            ('["sim-noise", "sim-blur", "sim-tint", "sim-scatter", "sim-perfect"]', '["sim-noise", "sim-perfect"]'),
            ("steps = 20", "steps = 4"),
            ('["brisque", "niqe", "piqe", "decay"]', '["piqe", "niqe"]'),
            (
                '["astronaut", "woman-with-a-camera", "coffee-cup", "maine-coon-cat", "palm-beach", '
                '"room-with-a-drum"]',
                '["coffee-cup", "room-with-a-drum"]',
            ),
            ("[1, 2, 5, 10, 20]", "[1, 2, 4]"),
            ("gaps = [5, 10, 20]", "gaps = [2, 4]"),
        ),
        (_RUN, _SHOW, _CLAIMS),
    ),
}


def made(name: str, folder: Path, source: Path | None = None) -> dict[str, str]:
    """Make this run with the package of `source`, or the installed one: every page, table and output by its name."""
    small = SMALL[name]
    (folder / "study.toml").write_text(small.text(), encoding="utf-8")
    found = {f"terminal: {command}": normal_terminal(_cbench(command, folder, source)) for command in small.commands}
    for path in sorted(folder.rglob("*")):
        text = normal_file(path) if path.is_file() else None
        if text is not None:
            found[str(path.relative_to(folder))] = text
    return found


def _cbench(command: str, folder: Path, source: Path | None) -> str:
    environment = {
        **os.environ,
        **({"PYTHONPATH": str(source.resolve())} if source else {}),
        "COLUMNS": "100",
        "CONVERGEBENCH_PLOTS": "none",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "convergebench.cli.main", *command.split()],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"cbench {command}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr
