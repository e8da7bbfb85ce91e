"""Nothing outside the served runs can be reached, whatever the address says; and only who may look sees anything."""

from __future__ import annotations

import http.client
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.serve.guard import HEADERS
from convergebench.serve.view.access import new_token, require_token
from convergebench.serve.view.shelf import RunShelf
from tests.serve.view.site import ServedView, refused

SECRET = b"a secret of this machine"
TOKEN = "correct-horse-battery-staple"


def raw(site: ServedView, path: str, **headers: str) -> tuple[int, bytes]:
    """A request whose path no client tidies up."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    try:
        connection.putrequest("GET", path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def walled(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedView]:
    """A served folder with secrets beside it, and links to them inside it."""
    home = tmp_path_factory.mktemp("home")
    runs = home / "runs"
    shutil.copytree(made, runs / "small")
    (home / "secret.txt").write_bytes(SECRET)
    (home / "secret.png").write_bytes(SECRET)
    shutil.copytree(made, home / "private")
    (runs / "linked").symlink_to(home / "private")
    (runs / "plain").mkdir()
    (runs / "plain" / "secret.txt").write_bytes(SECRET)
    (runs / "small" / "report").mkdir()
    (runs / "small" / "report" / "index.html").write_text('<p class="finding">It works.</p><script>1</script>')
    (runs / "small" / "report" / "out.html").symlink_to(home / "secret.txt")
    (runs / "small" / "evidence").symlink_to(home)
    with ServedView(runs) as found:
        yield found


OUTSIDE = [
    *(f"/{kind}/small/..%2f..%2fsecret.png" for kind in ("image", "thumb", "tile")),
    "/image/small/../../secret.txt",
    "/image/small/%2e%2e/%2e%2e/secret.txt",
    "/image/..%2fsecret.txt/x",
    "/image/%2e%2e/secret.png",
    "/image/small//etc/passwd",
    "/image/small/%2fetc%2fpasswd",
    "/image/small/i1:" + "0" * 64,
    "/image/small/" + "0" * 64,
    "/image/small/" + "A" * 64,
    "/thumb/small/" + "0" * 63 + "%00",
    "/static/../app.py",
    "/static/%2e%2e%2fapp.py",
    "/static/..%5capp.py",
    "/static//etc/passwd",
    "/static/shell.html",
    "/report/small/word/report/index.html",
    "/report/small/" + "0" * 32 + "/report/index.html",
    "/api/runs/..",
    "/api/runs/../../secret.txt",
    "/api/runs/%2e%2e%2fprivate",
    "/api/runs/linked",
    "/api/runs/plain",
    "/api/runs/.hidden",
    "/api/runs/small/chains/..%2f..%2f..%2fsecret.txt",
    "/api/runs/small/chains/nothing",
    "/api/runs/small/run.sqlite",
    "/run.sqlite",
    "/small/run.sqlite",
    "/openapi.json",
    "/api/runs/small/",
    "//etc/passwd",
    "/map/small/../../secret.png/x/ssim.png",
    "/worn/small/../../secret.png",
    "/worn/small/..%2f..%2fsecret.png",
    f"/tile/small/{'0' * 64}/0/0_0.webp",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_of_the_runs(walled: ServedView, path: str) -> None:
    status, body = raw(walled, path)
    assert 400 <= status < 500, path
    assert SECRET not in body
    assert body.startswith(b'{"error":')
    assert b"\n" not in body


def report_of(site: ServedView, name: str = "small") -> str:
    runs = {one["name"]: one for one in site.data("/api/runs")["runs"]}
    return str(runs[name]["report"])


@pytest.mark.parametrize(
    "path",
    [
        "../run.sqlite", "../../../secret.txt", "..%2f..%2f..%2fsecret.txt", "out.html", "../evidence/secret.txt",
        "../manifest.json", "../run.lock", "%2fetc%2fpasswd", "index.html%00.png", "none.html", "", ".",
    ],
)  # fmt: skip
def test_the_word_of_a_report_opens_its_own_files_alone(walled: ServedView, path: str) -> None:
    base = report_of(walled).removesuffix("index.html")
    status, body = raw(walled, base + path)
    assert 400 <= status < 500, path
    assert SECRET not in body


def test_a_report_is_shown_in_a_sandbox_where_it_can_ask_the_viewer_nothing(walled: ServedView) -> None:
    reply = walled.client.get(report_of(walled))
    assert reply.status_code == 200
    assert "It works." in reply.text
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy


def test_a_run_that_is_a_link_out_of_the_folder_is_listed_and_not_opened(walled: ServedView) -> None:
    linked = next(one for one in walled.data("/api/runs")["runs"] if one["name"] == "linked")
    assert "link" in linked["problem"]
    assert walled.client.get("/api/runs/linked/images").status_code == 404


def test_an_image_that_is_a_link_out_of_the_run_is_not_read(runs: Path, tmp_path: Path) -> None:
    with ServedView(runs) as site:
        row = site.rows("/api/runs/small/images?limit=1")[0]
        (path,) = (runs / "small" / "images").rglob(f"{row['image'][2:]}.*")
        shutil.move(path, tmp_path / "outside.png")
        path.symlink_to(tmp_path / "outside.png")
        for kind in ("image", "thumb"):
            reply = site.client.get(f"/{kind}/small/{row['image']}")
            assert (reply.status_code, refused(reply)) == (403, True)


@pytest.mark.parametrize("name", ["../../../secret.txt", "/etc/passwd", "images/../../secret.txt"])
def test_a_database_that_names_a_file_outside_the_run_is_refused_whole(runs: Path, name: str) -> None:
    with sqlite3.connect(runs / "small" / "run.sqlite") as database:
        ((identity,),) = database.execute("select min(id) from images")
        database.execute("update images set file = ? where id = ?", (name, identity))
    database.close()
    digest = identity.removeprefix("i1:")
    with ServedView(runs) as site:
        for path in ("", "/images", "/chains"):
            reply = site.client.get(f"/api/runs/small{path}")
            assert (reply.status_code, refused(reply)) == (422, True)
        for kind in ("image", "thumb"):
            reply = site.client.get(f"/{kind}/small/{digest}")
            assert reply.status_code in (403, 410)
            assert refused(reply)


def test_a_journal_that_is_a_link_is_not_read(runs: Path, tmp_path: Path) -> None:
    shutil.move(runs / "small" / "run.sqlite", tmp_path / "elsewhere.sqlite")
    (runs / "small" / "run.sqlite").symlink_to(tmp_path / "elsewhere.sqlite")
    with ServedView(runs) as site:
        assert refused(site.client.get("/api/runs/small/images"))


ABSURD = [
    "limit=1001", "limit=99999999999999999999", "limit=-1", "limit=1.5", "limit=ten", "limit=", "limit=%D9%A1",
    "offset=-1", "offset=1e9", "offset=10000000000", "limit=1&limit=2", "sort=nothing", "sort=spark", "sort=--editor",
    "sort=editor,editor", "sort=editor;drop table images", "sort=(select 1)", "where=editor", "where=editor:is",
    "where=nothing:is:1", "where=editor:like:x", "where=editor:above:1", "where=ssim:above:x", "where=ssim:is:1;2",
    "where=ssim:above:nan", "where=editor:is:%00", "where=editor:is:%0a", "find=%00", "find=" + "x" * 401,
    "where=editor:is:" + "x" * 500, "&".join(["where=editor:has:s"] * 21), "unknown=1", "__proto__=1",
]  # fmt: skip


@pytest.mark.parametrize("query", ABSURD)
@pytest.mark.parametrize("table", ["images", "chains"])
def test_an_absurd_query_is_refused_in_one_line(served: ServedView, table: str, query: str) -> None:
    assert refused(served.client.get(f"/api/runs/small/{table}?{query}"))


@pytest.mark.parametrize("size", [9_000, 100_000, 1_000_000])
def test_a_very_long_address_is_refused_in_one_line(served: ServedView, size: int) -> None:
    for path in (f"/api/runs/small/images?find={'x' * size}", f"/api/runs/{'x' * size}"):
        assert raw(served, path) == (414, b'{"error":"This address is too long."}')


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
WORDS = st.sampled_from(
    ["editor", "ssim", "step", "is", "not", "has", "above", ":", "-", "'", '"', ";", "--", "1", "(?i)"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.lists(st.one_of(TEXT, st.lists(WORDS, max_size=7).map("".join)), max_size=4), sort=TEXT, find=TEXT)
def test_whatever_is_asked_the_answer_is_a_table_or_one_line(
    served: ServedView, where: list[str], sort: str, find: str
) -> None:
    query = "&".join([*(f"where={quote(one)}" for one in where), f"sort={quote(sort)}", f"find={quote(find)}"])
    reply = served.client.get(f"/api/runs/small/images?{query}")
    assert refused(reply) or (reply.status_code == 200 and set(reply.json()) == {"total", "columns", "rows"})
    assert served.told == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(st.one_of(TEXT, st.sampled_from(["..", ".", "image", "small", "api", "runs", "%2e"])), max_size=6)
)
def test_no_address_breaks_the_server(walled: ServedView, parts: list[str]) -> None:
    status, body = raw(walled, "/" + "/".join(quote(part, safe="%") for part in parts))
    assert status in (200, 204) or 400 <= status < 500
    assert SECRET not in body
    assert walled.told == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/runs", "/api/runs/small", "/", "/image/small/x"])
def test_there_is_nothing_to_write(served: ServedView, method: str, path: str) -> None:
    assert served.client.request(method, path).status_code in (404, 405)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "a b"])
def test_another_name_that_leads_here_is_refused(served: ServedView, host: str) -> None:
    status, body = raw(served, "/api/runs", host=host)
    assert status in (400, 421)
    assert b"small" not in body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_this_computer_may_look(served: ServedView, host: str) -> None:
    assert raw(served, "/api/runs", host=f"{host}:{served.port}")[0] == 200


def test_every_reply_has_the_headers_of_a_guarded_page(served: ServedView) -> None:
    for path in ("/", "/api/runs", "/nothing", "/api/runs/small/images?limit=x"):
        headers = served.client.get(path).headers
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        for name in HEADERS.keys() - {"content-security-policy", "cache-control"}:
            assert headers[name] == HEADERS[name]


def test_without_the_token_there_is_nothing_and_with_it_a_cookie(made: Path) -> None:
    with ServedView(made.parent, token=TOKEN) as site:
        for path in ("/", "/api/runs", "/run/small", "/static/app.js", "/image/small/x", "/api/runs?token=wrong"):
            assert (site.client.get(path).status_code, "small" in site.client.get(path).text) == (401, False)
        welcome = site.client.get(f"/run/small?step=3&token={TOKEN}&mode=wipe")
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/run/small?step=3&mode=wipe")
        cookie = welcome.headers["set-cookie"]
        assert TOKEN not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert site.data("/api/runs")["runs"][0]["name"] == "small"
        with site.new_client() as stranger:
            assert stranger.get("/api/runs").status_code == 401
            assert stranger.get("/api/runs", headers={"cookie": f"cbench-view-{site.port}=made.up"}).status_code == 401


def test_the_redirect_after_the_token_stays_on_this_server(made: Path) -> None:
    with ServedView(made.parent, token=TOKEN) as site:
        for path in ("//evil.example/", "/%2f%2fevil.example", "/\\evil.example"):
            reply = raw_headers(site, f"{path}?token={TOKEN}")
            assert not reply.startswith(("//", "/\\", "http"))


def raw_headers(site: ServedView, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        reply.read()
        return reply.headers.get("location", "")
    finally:
        connection.close()


def test_tokens_cannot_be_guessed_fast_or_be_weak(made: Path) -> None:
    with ServedView(made.parent, token=TOKEN) as site:
        codes = [site.client.get(f"/?token={number:030}").status_code for number in range(40)]
        assert codes[0] == 401
        assert codes[-1] == 429
    assert len(new_token()) >= 30
    for weak in ("", "short", "a b" * 20, "x" * 15, "ü" * 30):
        with pytest.raises(StudyError, match="at least 16"):
            require_token(weak)


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(StudyError, match="there is no folder nowhere"):
        RunShelf([Path("nowhere")])


def test_a_folder_that_may_not_be_read_is_one_line(runs: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    with ServedView(runs) as site:
        runs.chmod(0)
        try:
            assert httpx.codes.is_server_error(site.client.get("/api/runs").status_code)
        finally:
            runs.chmod(0o755)
