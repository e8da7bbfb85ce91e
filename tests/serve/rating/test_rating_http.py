"""The server's answers: blind, only to the rater's own page, one answer kept once, and nothing hostile kept at all."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.images.decode import decode
from convergebench.serve.guard import HEADERS
from convergebench.serve.rating.answers import LARGEST
from convergebench.store.rating_book import RatingBook
from tests.serve.rating.site import RaterClient, Site, site


@pytest.fixture
def one(run: Path) -> Any:
    with site(run, raters=2) as found:
        yield found


@pytest.fixture(scope="module")
def fresh(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """For tests after which nothing may have been kept."""
    root = tmp_path_factory.mktemp("fresh") / "run"
    shutil.copytree(made, root)
    with site(root, raters=2) as found:
        yield found


def kept(found: Site, rater: int = 1) -> dict[int, dict[str, float | None]]:
    return {position: dict(answer.values) for position, answer in found.book.answers(rater).items()}


def rows(found: Site) -> int:
    return int(found.book._query("select count(*) from answers")[0][0])


def test_a_rater_sees_every_picture_and_the_answers_are_there_after_reload(one: Site) -> None:
    rater = one.rater()
    items = rater.items()
    assert len(items) == 18 + 2 + 2, "six pictures by three methods, two again, two with a known answer"
    assert rater.answer(items[0]["id"], {"score": 4}).json() == {"kept": {"score": 4.0}}
    assert [item["values"] for item in one.rater().items()][:2] == [{"score": 4.0}, {}]
    assert one.rater(2).items()[0]["values"] == {}
    assert kept(one) == {1: {"score": 4.0}}
    assert kept(one, 2) == {}


def test_neither_page_nor_addresses_nor_files_tell_what_a_picture_is(fresh: Site, run: Path) -> None:
    first, second = fresh.rater(1), fresh.rater(2)
    texts = [first.page, json.dumps(first.items()), fresh.client().get("/static/rating.js").text]
    shown = [fresh.begun.settings.methods, ["picture-", "clean", "LF3", "i1:"]]
    for text in texts:
        for word in [word for words in shown for word in words]:
            assert word not in text.replace('"clean": null', "").replace(".clean", "").replace("clean:", ""), word
    ids = [{name for item in rater.items() for name in item["pictures"]} for rater in (first, second)]
    assert len(ids[0]) == len(ids[1]) == 22, "a second showing has an id of its own"
    assert not ids[0] & ids[1]


def test_pictures_have_the_pixels_of_the_run_and_no_word_of_their_origin(fresh: Site, run: Path) -> None:
    rater = fresh.rater()
    showing = fresh.book.showings(1)[0]
    for name, image in (
        (rater.items()[0]["input"], showing.input),
        (rater.items()[0]["pictures"][0], showing.pictures[0].image),
    ):
        reply = rater.client.get(f"{rater.path}/picture/{name}")
        assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
        assert reply.headers["cache-control"].startswith("private")
        digest = image.removeprefix("i1:")
        stored = next((run / "images" / digest[:2]).glob(f"{digest[2:]}.*")).read_bytes()
        assert np.array_equal(decode(reply.content).pixels, decode(stored).pixels)
        assert {reply.content[12:16], b"tEXt" in reply.content} == {b"IHDR", False}


def test_the_clean_picture_is_not_to_be_had_unless_it_is_shown(run: Path) -> None:
    with site(run) as hidden:
        assert {item["clean"] for item in hidden.rater().items()} == {None}
    with site(run, plan="shown", show_clean=True) as shown:
        rater = shown.rater()
        clean = {item["clean"] for item in rater.items()} - {None}
        assert len(clean) == 4
        assert rater.client.get(f"{rater.path}/picture/{clean.pop()}").status_code == 200


def test_the_same_answer_again_changes_nothing_and_another_one_replaces_it(one: Site) -> None:
    rater = one.rater()
    item = rater.items()[3]["id"]
    for value in (2, 2, 2, 5, None, None):
        assert rater.answer(item, {"score": value}).status_code == 200
    assert kept(one) == {4: {"score": None}}
    assert rows(one) == 3, "2, 5 and cannot say: the history"
    assert one.book.answers(1)[4].changes == 2


@pytest.mark.parametrize(
    "token", ["", "x", "A" * 22, "../../etc/passwd", "%2e%2e%2f", "'; drop table raters; --", "A" * 5000]
)
def test_a_link_that_is_none_opens_nothing(fresh: Site, token: str) -> None:
    for path in (f"/r/{token}", f"/r/{token}/items", f"/r/{token}/picture/{'0' * 32}"):
        reply = fresh.client().get(path)
        assert reply.status_code in (404, 400, 431)
        assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/rating/score.sqlite",
        "/r",
        "/static",
        "/openapi.json",
    ],
)
def test_there_is_nothing_else_to_be_had(fresh: Site, path: str) -> None:
    reply = fresh.client().get(path)
    assert reply.status_code == 404
    assert reply.json() == {"error": "There is no such page."}


def test_a_picture_of_another_rater_or_of_no_rater_is_not_shown(fresh: Site) -> None:
    first, second = fresh.rater(1), fresh.rater(2)
    theirs = second.items()[0]["pictures"][0]
    for name in (theirs, "0" * 32, "..%2f..%2fmanifest.json", fresh.book.showings(1)[0].input):
        assert first.client.get(f"{first.path}/picture/{name}").status_code == 404


def test_an_answer_to_another_raters_item_is_refused(fresh: Site) -> None:
    first, second = fresh.rater(1), fresh.rater(2)
    assert first.answer(second.items()[0]["id"], {"score": 1}).status_code == 404
    assert rows(fresh) == 0


def test_without_the_cookie_of_the_page_there_is_nothing(fresh: Site) -> None:
    rater = fresh.rater()
    item = rater.items()[0]
    stranger = fresh.client()
    for path in ("items", f"picture/{item['input']}"):
        assert stranger.get(f"{rater.path}/{path}").status_code == 401
    sent = {"item": item["id"], "values": {"score": 1}, "seconds": 1}
    assert stranger.post(f"{rater.path}/answers", json=sent, headers=rater.headers).status_code == 401
    forged = {"cookie": f"rating={'0' * 32}.{'0' * 64}"}
    assert stranger.get(f"{rater.path}/items", headers=forged).status_code == 401
    other = fresh.rater(2).client.cookies["rating"]
    assert stranger.get(f"{rater.path}/items", headers={"cookie": f"rating={other}"}).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"x-rating-session": ""}, 403),
        ({"x-rating-session": "0" * 64}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_an_answer_that_another_site_could_send_is_refused(one: Site, headers: dict[str, Any], status: int) -> None:
    rater = one.rater()
    reply = rater.answer(rater.items()[0]["id"], {"score": 1}, **headers)
    assert reply.status_code == status
    assert rows(one) == (status == 200)


def test_the_cookie_is_strict_and_only_for_this_link(fresh: Site) -> None:
    reply = fresh.client().get(f"/r/{fresh.begun.links[1]}")
    cookie = reply.headers["set-cookie"].lower()
    for word in ("httponly", "samesite=strict", f"path=/r/{fresh.begun.links[1].lower()}"):
        assert word in cookie
    assert "secure" not in cookie
    assert fresh.begun.links[1] not in cookie.partition(";")[0]


def test_over_https_the_cookie_goes_over_nothing_else(run: Path) -> None:
    with site(run) as plain:
        found = Site(run, plain.begun, secure=True, names=("rate.example.org",))
        client = found.client("https://rate.example.org")
        reply = client.get(f"/r/{plain.begun.links[1]}")
        assert "Secure" in reply.headers["set-cookie"]
        assert RaterClient(client, f"/r/{plain.begun.links[1]}").items()
        found.book.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil", "[::1].evil"])
def test_a_foreign_name_that_leads_here_gets_no_answer(fresh: Site, host: str) -> None:
    reply = fresh.client().get(f"/r/{fresh.begun.links[1]}", headers={"host": host})
    assert reply.status_code in (400, 421)
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:8017", "[::1]:80", "192.168.0.7:8017"])
def test_its_own_addresses_are_answered(fresh: Site, host: str) -> None:
    assert fresh.client().get(f"/r/{fresh.begun.links[1]}", headers={"host": host}).status_code == 200


HOSTILE: list[Any] = [
    *(b"", b"null", b"[]", b"{", b"[" * 4000, b'{"item": 1}', b"\xff\xfe", b'{"item":"x","values":{},"seconds":1}'),
    b'{"item":"%s","values":{"score":NaN},"seconds":1}',
    b'{"item":"%s","values":{"score":Infinity},"seconds":1}',
    b'{"item":"%s","values":{"score":1},"seconds":-1}',
    b'{"item":"%s","values":{"score":1},"seconds":1e999}',
    b'{"item":"%s","values":{"score":1},"seconds":true}',
    b'{"item":"%s","values":{"score":1},"seconds":1,"rater":2}',
    b'{"item":"%s","values":{"score":1}}',
    b'{"item":"%s","values":{"score":6},"seconds":1}',
    b'{"item":"%s","values":{"score":-1},"seconds":1}',
    b'{"item":"%s","values":{"score":2.5},"seconds":1}',
    b'{"item":"%s","values":{"score":1e300},"seconds":1}',
    b'{"item":"%s","values":{"score":"5"},"seconds":1}',
    b'{"item":"%s","values":{"score":true},"seconds":1}',
    b'{"item":"%s","values":{"score":[5]},"seconds":1}',
    b'{"item":"%s","values":{"score":123456789012345678901234567890},"seconds":1}',
    b'{"item":"%s","values":{"preference":1},"seconds":1}',
    b'{"item":"%s","values":{"<script>alert(1)</script>":1},"seconds":1}',
    b'{"item":"%s","values":{"=1+1":1,"score":1},"seconds":1}',
    b'{"item":"%s","values":{"\\ud800":1},"seconds":1}',
    b'{"item":"%s\\u0000","values":{"score":1},"seconds":1}',
    b'{"item":"\' or 1=1 --","values":{"score":1},"seconds":1}',
]


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: body[:60].decode("latin-1"))
def test_what_is_no_answer_is_refused_and_not_kept(fresh: Site, body: bytes) -> None:
    rater = fresh.rater()
    sent = body.replace(b"%s", rater.items()[0]["id"].encode())
    headers = {**rater.headers, "content-type": "application/json"}
    reply = rater.client.post(f"{rater.path}/answers", content=sent, headers=headers)
    assert 400 <= reply.status_code < 500, reply.text
    assert set(reply.json()) == {"error"}
    assert "script" not in reply.text
    assert rows(fresh) == 0
    assert fresh.told == []


@pytest.mark.parametrize("size", [LARGEST + 1, 10 * LARGEST])
@pytest.mark.parametrize("declared", [True, False])
def test_a_long_body_is_refused_before_it_is_read(fresh: Site, size: int, declared: bool) -> None:
    rater = fresh.rater()
    headers = {**rater.headers, "content-type": "application/json"}
    parts = (b"x" * 1000 for _ in range(size // 1000 + 1))
    content: Any = b"x" * size if declared else parts
    assert rater.client.post(f"{rater.path}/answers", content=content, headers=headers).status_code == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "TRACE"])
def test_pages_are_only_read(fresh: Site, method: str) -> None:
    rater = fresh.rater()
    for path in (rater.path, f"{rater.path}/items", "/"):
        assert rater.client.request(method, path, headers=rater.headers).status_code == 405
    assert rater.client.get(f"{rater.path}/answers").status_code == 405
    assert rater.client.head(rater.path).status_code == 200


def test_every_reply_has_the_headers_that_keep_foreign_code_out(fresh: Site) -> None:
    rater = fresh.rater()
    for reply in (
        rater.client.get(rater.path),
        rater.client.get("/nothing"),
        rater.client.get("/", headers={"host": "evil.example"}),
        rater.client.get(f"{rater.path}/picture/{rater.items()[0]['input']}"),
        rater.answer("x", {"score": 1}),
    ):
        for name in HEADERS.keys() - {"cache-control"}:
            assert reply.headers[name] == HEADERS[name]
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert "cache-control" in reply.headers
    assert "<style" not in rater.page
    assert " style=" not in rater.page
    assert "<script>" not in rater.page
    assert " onclick" not in rater.page


def test_who_asks_too_often_waits(run: Path) -> None:
    now = [0.0]
    with site(run, clock=lambda: now[0], raters=2) as found:
        rater, other = found.rater(1), found.rater(2)
        replies = [rater.client.get(f"{rater.path}/items").status_code for _ in range(200)]
        assert replies.count(200) == 119, "120 at once, one of them was the page"
        assert replies.count(429) == 81
        assert other.client.get(f"{other.path}/items").status_code == 200, "others do not wait for it"
        now[0] += 1
        assert [rater.client.get(f"{rater.path}/items").status_code for _ in range(11)] == [200] * 10 + [429]


def test_an_address_that_floods_waits_and_guesses_are_few(run: Path) -> None:
    now = [0.0]
    with site(run, clock=lambda: now[0]) as found:
        client = found.client()
        guesses = [client.get(f"/r/{number:022d}").status_code for number in range(50)]
        assert guesses == [404] * 20 + [429] * 30
        assert found.rater().items(), "a good link works from the same address"
        assert {client.get("/").status_code for _ in range(620)} == {200, 429}


def test_two_windows_of_one_rater_both_work(one: Site) -> None:
    first = one.rater()
    second = RaterClient(first.client, first.path)
    assert first.answer(first.items()[0]["id"], {"score": 1}).status_code == 200
    assert second.answer(first.items()[0]["id"], {"score": 2}).status_code == 200
    assert kept(one) == {1: {"score": 2.0}}


def test_a_server_that_is_started_anew_knows_the_open_page(run: Path) -> None:
    with site(run) as first:
        rater = first.rater()
        item = rater.items()[0]["id"]
        cookie = rater.client.cookies["rating"]
    again = Site(run, first.begun)
    client = again.client()
    sent = {"item": item, "values": {"score": 5}, "seconds": 1}
    headers = {**rater.headers, "cookie": f"rating={cookie}"}
    assert client.post(f"{rater.path}/answers", json=sent, headers=headers).status_code == 200
    assert kept(again) == {1: {"score": 5.0}}
    again.book.close()


def test_an_answer_that_could_not_be_kept_is_not_said_to_be(one: Site) -> None:
    rater = one.rater()
    item = rater.items()[0]["id"]
    with closing(RatingBook.open(one.begun.path)) as other:
        other._connection.execute("begin immediate")  # somebody holds the database
        one.book._connection.execute("pragma busy_timeout = 50")
        reply = rater.answer(item, {"score": 1})
        assert reply.status_code == 503
        assert "kept" not in reply.json()
        other._connection.execute("rollback")
    assert len(one.told) == 1
    assert rater.answer(item, {"score": 1}).status_code == 200
    assert kept(one) == {1: {"score": 1.0}}


def test_a_damaged_picture_is_told_and_the_others_are_shown(one: Site, run: Path) -> None:
    rater = one.rater()
    items = rater.items()
    digest = one.book.showings(1)[0].input.removeprefix("i1:")
    next((run / "images" / digest[:2]).glob(f"{digest[2:]}.*")).write_bytes(b"damaged")
    reply = rater.client.get(f"{rater.path}/picture/{items[0]['input']}")
    assert reply.status_code == 410
    assert digest not in reply.text
    assert len(one.told) == 1
    other = next(item["input"] for item in items if item["input"] != items[0]["input"])
    assert rater.client.get(f"{rater.path}/picture/{other}").status_code == 200


def test_a_defect_is_one_line_for_the_operator_and_no_traceback_for_the_rater(
    one: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    rater = one.rater()

    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(one.book, "answers", broken)
    reply = rater.client.get(f"{rater.path}/items")
    assert (reply.status_code, reply.json()) == (500, {"error": "This did not work; try again."})
    assert one.told == ["GET failed: ZeroDivisionError"]


def test_a_page_is_shown_to_a_person_whose_link_is_wrong(fresh: Site) -> None:
    reply = fresh.client().get("/r/" + "A" * 22, headers={"accept": "text/html,*/*"})
    assert reply.status_code == 404
    assert "Ask whoever sent it" in reply.text
