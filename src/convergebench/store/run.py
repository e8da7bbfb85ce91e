"""An open run directory: its manifest, its journal, its images, and the lock that makes this process its writer."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.errors import ChangedMeaning, StudyError
from convergebench.store.images import STORE, ImageStore
from convergebench.store.journal import Journal
from convergebench.store.lock import RunLock
from convergebench.store.manifest import Manifest, grow, read_manifest, write_manifest
from convergebench.store.outside import require_inside
from convergebench.store.step_keys import UNKNOWN, fingerprint_fits
from convergebench.store.tables import StepRow

if TYPE_CHECKING:
    from convergebench.store.remote.keeper import StoreKeeper

OPENED: dict[Path, None] = {}
"""The runs that this process has opened, in order: after an unexpected error they are checked for damage."""


class Run:
    """`runs/NAME/`: use as a context manager. Only one process may hold a run open for writing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        OPENED[root] = None
        self._lock = RunLock(root / "run.lock")
        self._lock.acquire()
        try:
            self.images = ImageStore(root, locate=self._current_root, require=self._require)
            self.images.sweep()
            self.journal = Journal(root / "run.sqlite")
        except BaseException:
            self._lock.release()
            raise
        self._keeper: StoreKeeper | None = None
        if (root / STORE).is_file():
            self._keep()

    @classmethod
    def create(cls, root: Path) -> Run:
        """Open a run for writing, making the folder if it is not there."""
        if root.exists() and not root.is_dir():
            raise StudyError(f"--run {root} is a file; name a folder")
        if root.is_dir() and any(root.iterdir()) and not is_run(root):
            raise StudyError(f"--run {root} contains other files and is not a run; name a new folder")
        root.mkdir(parents=True, exist_ok=True)
        require_inside(root)
        return cls(root)

    @classmethod
    def existing(cls, root: Path) -> Run:
        """Open a run that must be there."""
        require_run(root)
        return cls(root)

    def keep_at(self, url: str, *, cache_mb: int | None = None) -> None:
        """Keep the images at this URL too, and back up the journal there, from now on; empty: where they are kept."""
        from convergebench.store.remote.settings import attach, read_settings

        settings = read_settings(self.root)
        attach(self.root, url or (settings.url if settings else ""), name=self.root.resolve().name, cache_mb=cache_mb)
        if self._keeper is None:
            self._keep()

    @property
    def not_stored(self) -> str:
        """After closing: what the run's store does not have, as one line; empty if it has everything."""
        return self._keeper.left if self._keeper is not None else ""

    def _keep(self) -> None:
        from convergebench.store.remote.keeper import StoreKeeper  # fsspec is for runs that have a store
        from convergebench.store.remote.settings import read_settings

        try:
            settings = read_settings(self.root)
            if settings is not None:
                self.images.uploads = self._keeper = StoreKeeper(self.root, self.journal, settings)
        except BaseException:
            self.close()
            raise

    def _require(self) -> None:
        self._lock.require_held()
        if self._keeper is not None:
            self._keeper.require()

    def _current_root(self) -> Path:
        """The current path: an image that was paid for is stored in the run even if its folder was just moved."""
        now = self._lock.folder_now()
        if now is None:
            self._lock.require_held()
        return now or self.root

    @property
    def manifest(self) -> Manifest:
        """As it is on the disk."""
        return read_manifest(self.root / "manifest.json")

    def grown(self, manifest: Manifest) -> Manifest:
        """The manifest after growth: this one for a new run, else the existing one grown by it. Writes nothing."""
        if not (self.root / "manifest.json").exists():
            return manifest
        before = self.manifest
        self._require_same_editors(before, manifest)
        _require_present_names(before, manifest)
        return grow(before, manifest)

    def _require_same_editors(self, before: Manifest, manifest: Manifest) -> None:
        """Editors of a recovered run whose fingerprints were lost must be those that made its steps."""
        for name, facts in before.editors.items():
            if facts["fingerprint"] == UNKNOWN and name in manifest.editors:
                for step in self.journal.table(StepRow, "where editor = ?", (name,)):
                    if not fingerprint_fits(asdict(step), manifest.editors[name]["fingerprint"]):
                        raise ChangedMeaning(
                            f"run '{before.name}' was recovered without its manifest, and '{name}' as given now is "
                            f"not the editor that made its steps; use the original options, or another --run"
                        )

    def write(self, manifest: Manifest) -> None:
        """Replace the manifest."""
        self._lock.require_held()
        write_manifest(self.root / "manifest.json", manifest)

    def extend(self, manifest: Manifest) -> None:
        """Write the manifest of a new run, or grow the one that is there."""
        self.write(self.grown(manifest))

    def close(self) -> None:
        """Close the journal and release the lock; of a run with a store, bring everything there before."""
        try:
            if self._keeper is not None:
                self.journal.settle()
                self._keeper.close()
        finally:
            self.journal.close()
            self._lock.release()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _require_present_names(before: Manifest, manifest: Manifest) -> None:
    """An editor that was renamed must not come back under its old name, as if it were a second one."""
    from convergebench.store.rename import renamed_editors

    for old, new in renamed_editors(before).items():
        facts, known = manifest.editors.get(old), before.editors.get(new)
        if facts and known and not manifest.recordings and facts["fingerprint"] == known["fingerprint"]:
            raise StudyError(
                f"run '{before.name}' has '{old}' under the name '{new}' since it was renamed; write "
                f'name = "{new}", use = "{known.get("use") or old}" for it in the study, or use another --run'
            )


def is_run(root: Path) -> bool:
    """Whether a folder is (or was about to become) a run."""
    return (root / "run.sqlite").exists() or (root / "manifest.json").exists() or (root / "run.lock").exists()


def is_complete(root: Path) -> bool:
    """Whether a run has both its parts; a folder in which steps are journalled may still lack its manifest."""
    return (root / "run.sqlite").exists() and (root / "manifest.json").exists()


def require_run(root: Path) -> Path:
    """The same path; `StudyError` if it is not a complete run."""
    OPENED[root] = None
    if not is_complete(root):
        if (root / "run.sqlite").exists() or (root / "manifest.json").exists():
            missing = "manifest.json" if (root / "run.sqlite").exists() else "run.sqlite"
            raise StudyError(
                f"{root} has no {missing}, so it is not a complete run; run the command that made it again, or: "
                f"cbench recover {root}"
            )
        others = (
            sorted(path.parent.name for path in root.parent.glob("*/manifest.json") if is_complete(path.parent))
            if root.parent.is_dir()
            else []
        )
        known = f"; runs there: {', '.join(others[:8])}" if others else ""
        raise StudyError(f"{root} is not a run{known} (make one with: cbench run studies/roundtrip.toml --run {root})")
    require_inside(root)
    return root
