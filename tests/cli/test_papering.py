"""`cbench paper` from the command line."""

from __future__ import annotations

from tests.cli.conftest import World


def test_two_runs_become_one_folder(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report", "--limit", "1", "--rounds", "1")
    world.cbench("run", "study.toml", "--run", "more/one", "--no-report", "--limit", "1", "--rounds", "1")
    said = world.cbench("paper", "runs/one", "more/one", "--into", "latex").stdout
    assert "numbers in latex" in said
    made = world.root / "latex"
    sections = sorted(path.parent.name for path in made.glob("*/section.tex"))
    assert sections == ["more-one-2", "one"]
    assert all(rf"\input{{\cbroot/{name}/section}}" in (made / "main.tex").read_text() for name in sections)
    assert "cbench paper runs/one more/one --into latex" in (made / "README.md").read_text()


def test_mistakes_are_one_line_and_write_nothing(world: World) -> None:
    done = world.cbench("paper", "runs/nowhere", ok=False)
    assert done.returncode == 2
    assert done.stderr.strip().count("\n") == 0
    assert not list(world.root.glob("paper-*"))
    done = world.cbench("paper", "runs/nowhere", "--into", "pictures", ok=False)
    assert "holds other files; name a new one" in done.stderr
    assert world.cbench("paper", ok=False).returncode == 2
