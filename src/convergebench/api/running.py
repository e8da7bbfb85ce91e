"""`run` and `load`: a study from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.api.calling import call, call_async, metric_names, recorded, several
from convergebench.api.loaded import LoadedRun
from convergebench.api.notebook import default_observer
from convergebench.conductor.alignment import alignment_for, check_alignment
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import PLOTS, RunOptions
from convergebench.conductor.running import plan
from convergebench.conductor.running import run as run_plan
from convergebench.conductor.storing import check_store
from convergebench.conductor.study import with_changes
from convergebench.errors import StudyError
from convergebench.redaction import redact
from convergebench.registry import names, suggest
from convergebench.studies.shipped import shipped_studies
from convergebench.studies.spec import StudySpec, parse_spec, read_spec
from convergebench.texts import one_line
from convergebench.types import Editor

if TYPE_CHECKING:
    from convergebench.editors.function_editor import EditFunction
    from convergebench.images.pictures import Picture

    AnyEditor = str | Editor | EditFunction | Mapping[str, Any]
    """A name, an editor, a function `fn(image, instruction) -> image`, or a table `{"name": …, "use": …}`."""
    AnyMetric = str | Callable[..., float]
    """A name, or a function `f(image) -> float` or `f(image, reference) -> float` with `better` and `range`."""
    Editors = AnyEditor | Sequence[AnyEditor] | Mapping[str, AnyEditor]
    Images = str | Path | Sequence[Picture] | Mapping[str, Picture]
    """A suite's name, a folder or manifest, or pictures."""


def run(
    study: str | Path | StudySpec | Mapping[str, Any] = "roundtrip",
    *,
    editors: Editors | None = None,
    images: Images | None = None,
    rounds: int | None = None,
    metrics: AnyMetric | Sequence[AnyMetric] | None = None,
    limit: int | None = None,
    kind: str = "scene",
    align: str | None = None,
    root: str | Path | None = None,
    max_cost: float | None = None,
    until: str | Mapping[str, Any] | None = None,
    reuse: Sequence[str | Path] = (),
    workers: int | None = None,
    device: str = "auto",
    backend: str = "local",
    address: str = "",
    report: bool = False,
    plots: Sequence[str] = PLOTS,
    store: str = "",
    cache_mb: int | None = None,
    progress: bool | Observer = True,
    **tables: Any,
) -> LoadedRun:
    """Run a study and load the result; make the same call to continue where an earlier one stopped.

    `study` is a name of `cbench list studies`, a shipped study file by its name (`demo-light`), a study file, its
    content, or a `StudySpec`. `editors`, `images`, `rounds`, `metrics`, `limit` and `align` stand in place of the
    study's own; `kind` says what given pictures show. `tables` are tables of the study file:
    `edits={"pairs": ["glasses"]}`, `settings={"seed": 1}`. With `until="decided"` images are run until the question of
    the study's `[until]` is decided; `until={"difference": 3}` is the same with other values in that table. The run is
    kept in `root` (runs/STUDY) and, with `store`, at that URL too (at most `cache_mb` megabytes of images then stay in
    the folder). `backend="ray"` uses the machines of a cluster. Ctrl-C lets the calls in flight finish; nothing that
    was paid for is lost.
    """
    return call(_work(**locals()))


async def run_async(study: str | Path | StudySpec | Mapping[str, Any] = "roundtrip", **options: Any) -> LoadedRun:
    """The same as `run`, as a coroutine; cancelling it lets the calls in flight finish."""
    tables = {key: options.pop(key) for key in list(options) if key not in _defaults()}
    return await call_async(_work(study=study, **{**_defaults(), **options}, tables=tables))


run_async.__signature__ = signature(run)  # type: ignore[attr-defined]  # what help and completion show


def load(root: str | Path, *, align: str | None = None) -> LoadedRun:
    """An existing run, with this alignment or else its own; it may still be in progress."""
    return LoadedRun(root, align=align)


def _defaults() -> Mapping[str, Any]:
    return dict(run.__kwdefaults__ or {})


def _work(
    *,
    study: str | Path | StudySpec | Mapping[str, Any],
    editors: Editors | None,
    images: Images | None,
    rounds: int | None,
    metrics: AnyMetric | Sequence[AnyMetric] | None,
    limit: int | None,
    kind: str,
    align: str | None,
    root: str | Path | None,
    max_cost: float | None,
    until: str | Mapping[str, Any] | None,
    reuse: Sequence[str | Path],
    workers: int | None,
    device: str,
    backend: str,
    address: str,
    report: bool,
    plots: Sequence[str],
    store: str,
    cache_mb: int | None,
    progress: bool | Observer,
    tables: Mapping[str, Any],
) -> Callable[[], LoadedRun]:
    """The work of `run`, not yet begun."""
    given = {"study": study, "editors": editors, "images": images, "rounds": rounds, "metrics": metrics, **tables}

    def work() -> LoadedRun:
        asked = {**tables, "until": until} if isinstance(until, Mapping) else tables
        written = _study(study, asked)
        folder = Path(root) if root is not None else Path("runs") / _stem(study, written)
        entries, objects = _editors(editors)
        suite, sources = _images(images, kind)
        spec = with_changes(
            written,
            editors=entries,
            suite=suite,
            rounds=rounds,
            limit=limit,
            metrics=metric_names(metrics, "metrics"),
            align=alignment_for(written, check_alignment(align), folder),
            where="arguments",
        )
        if not spec.editors:
            raise StudyError('the study names no editor; add editors=["sim-jpeg"] (convergebench.editors() lists them)')
        planned = plan(
            spec, folder, editors=objects, sources=sources, until="decided" if isinstance(until, Mapping) else until
        )
        check_store(folder, store, cache_mb)
        options = RunOptions(
            max_cost=max_cost,
            reuse=tuple(Path(one) for one in several(reuse, "reuse")),
            workers=workers,
            device=device,
            backend=backend,
            address=address,
            report=report,
            plots=several(plots, "plots"),
            store=store,
            cache_mb=cache_mb,
        )
        observer = default_observer(progress)
        outcome = run_plan(planned, options, observer)
        if outcome.interrupted:
            raise KeyboardInterrupt("stopped; nothing is lost; make the same call to continue")
        if outcome.failed:
            raise StudyError(redact(one_line(f"{outcome.failed}: {outcome.reason}")))
        if outcome.stopped:
            observer.note(f"stopped: {outcome.stopped}; make the same call to continue")
        return LoadedRun(folder, stopped=outcome.stopped)

    return recorded("run", given, work)


def _study(study: str | Path | StudySpec | Mapping[str, Any], tables: Mapping[str, Any]) -> StudySpec:
    """The study with these tables laid over its own."""
    if isinstance(study, StudySpec):
        spec = study
    elif isinstance(study, Mapping):
        spec = parse_spec(study, where="study")
    elif isinstance(study, str | Path):
        spec = _named(study)
    else:
        raise StudyError(f"{study!r:.80} is not a study; give a name, a study file, its content or a StudySpec")
    if not tables:
        return spec
    content: dict[str, Any] = spec.model_dump(mode="json", by_alias=True)
    for name, table in tables.items():
        if name not in (*content, "until"):
            raise StudyError(f"run() has no argument '{name}'{suggest(name, (*_defaults(), *content))}")
        own = content.get(name)
        content[name] = {**own, **table} if isinstance(own, dict) and isinstance(table, Mapping) else table
    return parse_spec(content, where="arguments")


def _named(study: str | Path) -> StudySpec:
    """A study file, a study of `cbench list studies` with its defaults, or a shipped study file by its name."""
    if str(study).endswith(".toml"):
        return read_spec(Path(study))
    shipped = shipped_studies()
    if str(study) in shipped and str(study) not in names("studies"):
        return read_spec(shipped[str(study)])
    return parse_spec({"study": str(study)})


def _stem(study: object, spec: StudySpec) -> str:
    return Path(str(study)).stem if isinstance(study, str | Path) else spec.study


def _editors(editors: Editors | None) -> tuple[list[str | dict[str, Any]], dict[str, Editor]]:
    """Entries of a study file, and the objects behind those that are no names."""
    from convergebench.editors.own_code import editor_from_object

    if isinstance(editors, str | Editor) or callable(editors) or callable(getattr(editors, "edit", None)):
        editors = [editors]  # type: ignore[list-item]
    pairs: list[tuple[str, AnyEditor]]
    pairs = [("", one) for one in several(editors, "editors")]
    if isinstance(editors, Mapping):
        pairs = [(str(name), one) for name, one in editors.items()]
    entries: list[str | dict[str, Any]] = []
    objects: dict[str, Editor] = {}
    for name, one in pairs:
        if isinstance(one, str):
            entries.append({"name": name, "use": one} if name else one)
            continue
        if isinstance(one, Mapping):
            entries.append({**({"name": name} if name else {}), **one})
            continue
        editor = editor_from_object(one, name)
        own = name or editor.name
        made = getattr(editor, "function", type(editor))
        entries.append({"name": own, "use": f"{made.__module__}:{getattr(made, '__qualname__', own)}"})
        objects[own] = editor
    return entries, objects


def _images(images: Images | None, kind: str) -> tuple[str | None, Any]:
    """The suite to load, or the pictures that stand in its place."""
    from convergebench.api.pictures import is_picture, source_images

    if images is None or isinstance(images, str | Path):
        single = images is not None and Path(images).expanduser().is_file() and Path(images).suffix != ".toml"
        if not single:
            return None if images is None else str(images), None
    return "images", source_images([images] if is_picture(images) else images, kind)  # type: ignore[arg-type]
