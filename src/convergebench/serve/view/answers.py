"""The data behind the pages, one method per address."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request

from convergebench.errors import ConvergeBenchError
from convergebench.report.titles import study_title
from convergebench.serve.guard import Guard, Refusal
from convergebench.serve.view.chain import chain_facts
from convergebench.serve.view.facts import curves, editors, made, metric, title
from convergebench.serve.view.live import LiveRuns
from convergebench.serve.view.queries import answer, read_query
from convergebench.serve.view.reports import report_address
from convergebench.serve.view.runs import MOST_KEPT, KeptTables
from convergebench.serve.view.shelf import RunShelf, ShelvedRun, is_live
from convergebench.serve.view.tables import RunTables


class ViewAnswers:
    """Safe to call from any thread."""

    def __init__(self, shelf: RunShelf, guard: Guard) -> None:
        self._shelf, self._guard = shelf, guard
        self._tables, self._live = KeptTables(), LiveRuns()

    def warm(self, name: str) -> None:
        """Read a run's tables before they are asked for."""
        self._tables.get(self._shelf.root(name))

    def latest(self) -> list[str]:
        """Names of the readable runs, the one that was written last first; as many as are kept."""
        listed = [(one, self._shelf.overview(one)) for one in self._shelf.runs().values()]
        sound = sorted(((known.changed, one.name) for one, known in listed if not known.problem), reverse=True)
        return [name for _, name in sound[:MOST_KEPT]]

    def runs(self, request: Request) -> dict[str, Any]:
        """All runs, the latest change first, those that cannot be read last."""
        _only(request)
        found = [self._listed(one) for one in self._shelf.runs().values()]
        found.sort(key=lambda one: (bool(one["problem"]), not one["live"], -one["seconds"], one["name"]))
        return {"folder": self._shelf.folder, "runs": [_without(one, "seconds") for one in found]}

    def _listed(self, one: ShelvedRun) -> dict[str, Any]:
        known = self._shelf.overview(one)
        live, report = False, None
        if not known.problem:
            live, report = is_live(one.root), report_address(self._guard, one.name, one.root)
        return {
            "name": one.name,
            "title": study_title(
                {
                    **{"study": known.study, "spec": {"title": known.title}},
                    "editors": [{"name": name} for name in known.editors],
                }
            ),
            "study": known.study,
            "editors": list(known.editors),
            "chains": known.chains,
            "finished": known.finished,
            "failed": known.failed,
            "steps": known.steps,
            "dollars": known.dollars,
            "finding": known.finding,
            "outdated": known.outdated,
            "changed": _moment(known.changed),
            "seconds": known.changed,
            "live": live,
            "problem": known.problem,
            "report": report,
        }

    def run(self, request: Request) -> dict[str, Any]:
        """One run as a whole."""
        _only(request)
        name, tables = self._named(request)
        one = ShelvedRun(name, tables.root)
        known = self._shelf.overview(one)
        live = self._live.look(tables.root, tables.manifest.study)
        return {
            "name": name,
            "title": title(tables),
            "study": tables.manifest.study,
            "finding": known.finding,
            "outdated": known.outdated,
            **{key: live[key] for key in ("live", "statuses", "steps", "planned_steps", "dollars")},
            "editors": editors(tables),
            "metrics": [metric(tables, one) for one in tables.series],
            "columns": tables.image_columns,
            "chain_columns": tables.chain_columns,
            "unit": tables.unit,
            "main": tables.main,
            "report": report_address(self._guard, name, tables.root),
            "made": made(tables),
        }

    def live(self, request: Request) -> dict[str, Any]:
        """Progress, dollars, failures and the newest images."""
        _only(request, "since")
        root = self._shelf.root(request.path_params["run"])
        study = ""
        with suppress(ConvergeBenchError):
            study = self._shelf.overview(ShelvedRun(request.path_params["run"], root)).study
        return self._live.look(root, study or "roundtrip", request.query_params.get("since", ""))

    def chains(self, request: Request) -> dict[str, Any]:
        """A page of the table of chains."""
        _, tables = self._named(request)
        columns = tables.chain_columns
        return answer(tables.chains, columns, read_query(request.query_params, columns))

    def images(self, request: Request) -> dict[str, Any]:
        """A page of the table of images."""
        _, tables = self._named(request)
        columns = tables.image_columns
        return answer(tables.images, columns, read_query(request.query_params, columns))

    def curves(self, request: Request) -> dict[str, Any]:
        """The curves of one metric."""
        _only(request, "metric")
        _, tables = self._named(request)
        return curves(tables, request.query_params.get("metric", ""))

    def chain(self, request: Request) -> dict[str, Any]:
        """One chain."""
        _only(request)
        _, tables = self._named(request)
        return chain_facts(tables, request.path_params["chain"])

    def _named(self, request: Request) -> tuple[str, RunTables]:
        name = request.path_params["run"]
        return name, self._tables.get(self._shelf.root(name))


def _only(request: Request, *names: str) -> None:
    if not set(request.query_params) <= set(names):
        raise Refusal(400, f"This address takes {' and '.join(names) if names else 'no parameters'}.")


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def _moment(seconds: float) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None
