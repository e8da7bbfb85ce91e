"""Beginning a rating by people, or going on with one: the plan, its raters, and their links."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from convergebench.conductor.rating_items import chosen_methods, common_cases, rateable, spread_cases
from convergebench.conductor.rating_plan import QUESTIONS, Mode, RatedCase, RatingSettings, rater_order
from convergebench.documents import check_document
from convergebench.errors import StudyError
from convergebench.store.images import write_synced
from convergebench.store.rating_book import InvitedRater, RatingBook, ShownPicture, book_path
from convergebench.store.run import require_run

PAPER_RATERS, PAPER_IMAGES, PAPER_METHODS = 20, 20, 5
"""The published study: so many people score so many pictures of so many methods."""


@dataclass(frozen=True, slots=True)
class RatingRequest:
    """What was asked for; None: not said."""

    mode: Mode | None = None
    plan: str | None = None
    images: int | None = None
    methods: tuple[str, ...] = ()
    raters: int | None = None
    items: int | None = None
    round: int | None = None
    repeats: float | None = None
    attention: float | None = None
    seed: int | None = None
    show_clean: bool = False
    paper: bool = False
    new_links: bool = False


@dataclass(frozen=True, slots=True)
class RatingBegun:
    """A plan that is ready to be served."""

    path: Path
    name: str
    settings: RatingSettings
    cases: int
    raters: int
    longest: int
    """Most showings of one rater."""
    links: dict[int, str]
    """Secrets of the raters who were invited now: nothing else ever has them."""
    notes: tuple[str, ...]
    """What there is less of than was asked for."""


def begin_rating(root: Path, request: RatingRequest) -> RatingBegun:
    """Make the plan, or open the one that is there; of the run itself nothing is changed."""
    require_run(root)
    name = request.plan or request.mode or "score"
    path = book_path(root, name)
    return _go_on(path, name, request) if path.exists() else _begin(root, path, name, request)


def read_settings(book: RatingBook) -> RatingSettings:
    """What a book's plan was made with."""
    return check_document(_parsed(book, "settings"), RatingSettings, where=str(book.path))


def _parsed(book: RatingBook, name: str) -> Any:
    try:
        return json.loads(book.facts[name])
    except ValueError as error:
        raise StudyError(f"{book.path} is damaged: {error}; restore it from a copy") from error


def token_hash(token: str) -> str:
    """What is kept of the secret in a link."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def rater_name(plan: str, number: int) -> str:
    """How results name a rater: nobody is asked for a name."""
    return f"{plan}-{number:02d}"


def _begin(root: Path, path: Path, name: str, request: RatingRequest) -> RatingBegun:
    mode = request.mode or "score"
    if request.paper and mode != "score":
        raise StudyError(f"--paper is a plan of scores; leave out --mode {mode}")
    found = rateable(root, round_number=request.round, every_prompt=mode == "label")
    methods = chosen_methods(found, request.methods)
    notes: list[str] = []
    images, raters = request.images, request.raters or 1
    if request.paper:
        images, raters = request.images or PAPER_IMAGES, request.raters or PAPER_RATERS
        if len(methods) > PAPER_METHODS:
            raise StudyError(
                f"--paper has {PAPER_METHODS} methods and the run has {len(methods)}; name {PAPER_METHODS} with "
                f"--methods: {', '.join(methods)}"
            )
        notes += [_fewer(len(methods), PAPER_METHODS, "methods")] if len(methods) < PAPER_METHODS else []
    if mode == "pairs" and len(methods) < 2:
        raise StudyError(f"pairs need two methods, and there is only '{methods[0]}'; use --mode score")
    cases = list(found.cases) if mode == "label" else common_cases(found, methods)
    if not cases:
        raise StudyError(f"no image has a finished result from each of {', '.join(methods)}; name fewer with --methods")
    chosen = spread_cases(cases, images, request.seed or 0)
    notes += [_fewer(len(chosen), images, "pictures")] if images and len(chosen) < images else []
    settings = RatingSettings(
        mode=mode,
        study=found.study,
        methods=methods,
        questions=QUESTIONS.get(mode) or dict.fromkeys(found.labels, (0.0, 1.0)),
        seed=request.seed or 0,
        images=images,
        round=found.round,
        repeats=0.0 if mode == "label" else _or(request.repeats, 0.1),
        attention=0.0 if mode == "label" else _or(request.attention, 0.05),
        items=request.items,
        show_clean=request.show_clean,
    )
    invited, links = _invite(settings, chosen, range(1, raters + 1))
    facts = {"settings": settings.model_dump_json(), "cases": json.dumps([_cells(case) for case in chosen])}
    with closing(RatingBook.create(path, facts, invited)):
        _write_plan(path, settings, chosen, invited)
    longest = max(len(one.showings) for one in invited)
    return RatingBegun(path, name, settings, len(chosen), raters, longest, links, tuple(notes))


def _go_on(path: Path, name: str, request: RatingRequest) -> RatingBegun:
    with closing(RatingBook.open(path)) as book:
        settings = read_settings(book)
        _require_same(settings, name, request)
        cases = [_case(cells) for cells in _parsed(book, "cases")]
        known = book.raters()
        wanted = request.raters or (PAPER_RATERS if request.paper else len(known))
        added, links = _invite(settings, cases, range(len(known) + 1, wanted + 1))
        book.add_raters(added)
        if request.new_links:
            anew = {number: secrets.token_urlsafe(16) for number in known}
            book.replace_tokens({number: token_hash(token) for number, token in anew.items()})
            links = {**anew, **links}
        every = [InvitedRater(number, "", tuple(book.showings(number))) for number in book.raters()]
        if added:
            _write_plan(path, settings, cases, every)
    longest = max(len(one.showings) for one in every)
    return RatingBegun(path, name, settings, len(cases), len(every), longest, links, ())


def _require_same(settings: RatingSettings, name: str, request: RatingRequest) -> None:
    """A plan that was begun only grows by raters; everything else would be another plan."""
    asked = {
        "mode": request.mode,
        "methods": request.methods or None,
        "images": request.images,
        "round": request.round,
        "items": request.items,
        "repeats": request.repeats,
        "attention": request.attention,
        "seed": request.seed,
        "show_clean": request.show_clean or None,
    }
    for key, value in asked.items():
        before = getattr(settings, key)
        if value is not None and value != before:
            raise StudyError(
                f"the plan '{name}' was started with {key.replace('_', '-')} = {_told(before)}; continue without "
                f"that flag, or start another with --plan NAME"
            )


def _invite(
    settings: RatingSettings, cases: Sequence[RatedCase], numbers: range
) -> tuple[list[InvitedRater], dict[int, str]]:
    links = {number: secrets.token_urlsafe(16) for number in numbers}
    invited = [
        InvitedRater(number, token_hash(token), tuple(rater_order(settings, cases, number)))
        for number, token in links.items()
    ]
    return invited, links


def _write_plan(
    path: Path, settings: RatingSettings, cases: Sequence[RatedCase], raters: Sequence[InvitedRater]
) -> None:
    """The plan as a file that people can read and publish; it has no secret in it."""
    content = {
        "settings": settings.model_dump(mode="json"),
        "pictures": [case.case for case in cases],
        "raters": {
            rater_name(path.stem, one.number): [
                {
                    "position": showing.position,
                    "shown": [f"{picture.editor} {picture.case}" for picture in showing.pictures],
                    **({"time": showing.time} if showing.time > 1 else {}),
                    **({"attention": dict(showing.attention)} if showing.attention else {}),
                }
                for showing in one.showings
            ]
            for one in raters
        },
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    write_synced(path.with_suffix(".plan.json"), text.encode("utf-8", "backslashreplace"))


def _cells(case: RatedCase) -> dict[str, object]:
    return {**asdict(case), "proposed": sorted(case.proposed)}


def _case(cells: dict[str, object]) -> RatedCase:
    given = dict(cells)
    results = {name: ShownPicture(**one) for name, one in given.pop("results").items()}  # type: ignore[attr-defined]
    proposed = frozenset(given.pop("proposed"))  # type: ignore[call-overload]
    return RatedCase(**given, results=results, proposed=proposed)  # type: ignore[arg-type]


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _fewer(there: int, wanted: int, what: str) -> str:
    return f"{there} {what} are available, not {wanted}; the plan uses those"


def _told(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
