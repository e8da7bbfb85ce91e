"""The leaderboard: bundles are checked, rebuilt as runs in private folders, analysed together, and shown as a site."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from convergebench.analysis.decay import comparable
from convergebench.conductor.analyse import read_context
from convergebench.errors import StudyError
from convergebench.leaderboard.boards import make_boards
from convergebench.leaderboard.checking import CheckedBundle, check_bundle
from convergebench.leaderboard.entries import LoadedBundle
from convergebench.leaderboard.pages.site import SITE_MARK, SiteInput, render_site
from convergebench.leaderboard.rebuilding import rebuild
from convergebench.leaderboard.settings import SETTINGS, read_board_settings
from convergebench.report.output import write_files
from convergebench.store.run import is_run

Watch = Callable[[CheckedBundle], None]


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A site that was written."""

    index: Path
    models: int
    accepted: int
    rejected: int
    not_compared: int


def check(paths: Sequence[Path], *, challenge: str | None = None, watch: Watch | None = None) -> list[CheckedBundle]:
    """Check these files, and every bundle in these folders; nothing is written outside a temporary folder."""
    found = []
    for path in bundle_files(paths):
        found.append(check_bundle(path, challenge=challenge))
        if watch is not None:
            watch(found[-1])
    return found


def bundle_files(paths: Iterable[Path]) -> list[Path]:
    """The named files, and the zip files directly inside the named folders, in order of their names."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            if is_run(path):
                raise StudyError(f"{path} is a run; make its bundle first: cbench submit {path}")
            found += sorted(one for one in path.iterdir() if one.suffix.lower() == ".zip")
        elif path.exists() or path.is_symlink():
            found.append(path)
        else:
            raise StudyError(f"there is no bundle at {path}")
    return found


def build(folder: Path, out: Path, *, watch: Watch | None = None) -> BuiltSite:
    """Write the site of all bundles in a folder; the same bundles give the same bytes."""
    if not folder.is_dir():
        raise StudyError(f"{folder} is not a folder; put the bundles of cbench submit into one")
    settings = read_board_settings(folder)
    _require_site(out, folder)
    checked = check([folder], watch=watch)
    accepted = [load(one) for one in checked if one.accepted]
    boards = make_boards(accepted, settings)
    given = SiteInput(boards, tuple(one for one in checked if not one.accepted), settings)
    before = _listed(out)
    written = write_files(render_site(given), out)
    _remove(before - {path.relative_to(out).as_posix() for path in written}, out)
    return BuiltSite(
        index=written[-1],
        models=len({one.name for board in boards for one in board.models}),
        accepted=len(accepted),
        rejected=len(given.rejected),
        not_compared=sum(len(board.left_out) for board in boards),
    )


def load(checked: CheckedBundle) -> LoadedBundle:
    """The frames of an accepted bundle, as its run would give them."""
    assert checked.bundle is not None
    with TemporaryDirectory(prefix="convergebench-") as private:
        root = rebuild(checked.bundle, checked.bundle.tables, Path(private) / "run")
        _, context = read_context(root)
    chains = comparable(context.pairs, context.chains)
    measured = context.measurements.join(chains.select("editor", "case"), on=["editor", "case"], how="semi")
    return LoadedBundle(checked, replace(context, chains=chains, measurements=measured))


def _require_site(out: Path, folder: Path) -> None:
    if out.exists() and not out.is_dir():
        raise StudyError(f"--into {out} is a file; name a folder")
    if out.resolve() == folder.resolve() or out.resolve() in folder.resolve().parents:
        raise StudyError(f"--into {out} holds the bundles; name another folder, e.g. --into site")
    if out.is_dir() and any(out.iterdir()) and not (out / SITE_MARK).is_file():
        raise StudyError(
            f"--into {out} has other files and no {SITE_MARK}, so it is not a leaderboard; name a new folder"
        )


def _listed(out: Path) -> set[str]:
    """The files that an earlier build wrote."""
    mark = out / SITE_MARK
    try:
        return {str(name) for name in json.loads(mark.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _remove(names: set[str], out: Path) -> None:
    """Remove what an earlier build wrote and this one did not: pages of models that are gone."""
    for name in names:
        path = out / name
        if out.resolve() in path.resolve().parents and path.is_file() and not path.is_symlink():
            path.unlink()


__all__ = ["SETTINGS", "BuiltSite", "build", "bundle_files", "check", "load"]
