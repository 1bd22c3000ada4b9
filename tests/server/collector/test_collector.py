"""The collector, asked as a server asks it: what it keeps, refuses, and says."""

import asyncio
import base64
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import DeclarationError
from discreet.local.device.survey_device import SurveyDevice, batch_text
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.tallies import tally_pages
from discreet.server.collector import app as app_module
from discreet.server.collector.app import Collector
from discreet.server.collector.batch import SentBatch
from discreet.server.collector.report_store import ReportStore
from tests.support.local.surveys import TEXT, small_survey


@pytest.fixture
def store(tmp_path: Path):
    kept = ReportStore(tmp_path / "app.reports", small_survey())
    yield kept
    kept.close()


def batch(answers: dict[str, Any] | None = None) -> str:
    made = SurveyDevice(small_survey().published(), {}).batch(answers or {})
    assert made is not None
    return made


async def request(app: Collector, method: str, path: str, body: bytes = b"", pieces: int = 1):
    """Send one request in pieces; return the status, the headers and the body of the answer."""
    size = -(-len(body) // pieces) or 1
    parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
    messages = [
        {"type": "http.request", "body": part, "more_body": place + 1 < len(parts)}
        for place, part in enumerate(parts)
    ]
    sent: list[Any] = []

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app({"type": "http", "method": method, "path": path}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(m["body"] for m in sent[1:])


def post(app: Collector, *bodies: str | bytes, pieces: int = 1):
    async def run():
        sent = [body.encode() if isinstance(body, str) else body for body in bodies]
        return await asyncio.gather(*(request(app, "POST", "/reports", s, pieces) for s in sent))

    return [(status, json.loads(body)) for status, _, body in asyncio.run(run())]


def counted(store: ReportStore) -> int:
    tally = tally_pages(store.survey, store.pages())
    return 0 if tally is None else tally.people


def test_a_batch_that_is_sent_again_counts_once(store):
    app, one = Collector(store), batch()
    assert post(app, one) == [(201, {"kept": True})]
    assert post(app, one) == [(200, {"kept": "before"})]
    assert sorted(status for status, _ in post(app, *[batch()] * 5)) == [200] * 4 + [201]
    assert counted(store) == 2


def test_batches_of_many_at_once_are_kept(store):
    assert {status for status, _ in post(Collector(store), *(batch() for _ in range(300)))} == {201}
    assert counted(store) == 300


def test_a_batch_in_pieces_is_read(store):
    assert post(Collector(store), batch(), pieces=7) == [(201, {"kept": True})]


def test_what_is_kept_is_there_for_the_next(store, tmp_path):
    post(Collector(store), batch({"platform": "phone"}))
    store.close()
    again = ReportStore(tmp_path / "app.reports", small_survey())
    assert counted(again) == 1
    again.close()


def test_nobody_else_reads_what_is_kept(store, tmp_path):
    post(Collector(store), batch())
    kept = sorted(tmp_path.glob("app.reports*"))
    assert len(kept) > 1
    assert {one.stat().st_mode & 0o777 for one in kept} == {0o600}


def test_rows_lie_in_no_order_of_time(store, tmp_path):
    for _ in range(20):
        post(Collector(store), batch())
    kept = sqlite3.connect(tmp_path / "app.reports")
    tokens = [row[0] for row in kept.execute("SELECT token FROM batches")]
    columns = [row[1] for row in kept.execute("PRAGMA table_info(batches)")]
    kept.close()
    assert tokens == sorted(tokens)
    assert columns == ["token", "reports"]


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(batch()) | changes)


def without(key: str) -> str:
    whole = json.loads(batch())
    del whole[key]
    return json.dumps(whole)


impossible = base64.b64encode(bytes([255, 0, 0])).decode()

BAD = {
    "nothing": "",
    "no JSON": "{",
    "no UTF-8": b"\xff\xfe",
    "deep": "[" * 10_000,
    "a list": "[]",
    "a number": "1",
    "no token": without("token"),
    "one key more": changed(address="here"),
    "short token": changed(token="00"),
    "odd token": changed(token="z" * 32),
    "token of other digits": changed(token="٠" * 32),
    "a token of spaces": changed(token="0 " * 16),
    "a token that is no text": changed(token=5),
    "no reports": changed(reports=[]),
    "reports that are no list": changed(reports="x"),
    "a report that is no text": changed(reports=[1]),
    "a report that is no base64": changed(reports=["%%%%"]),
    "a report that is too short": changed(reports=[base64.b64encode(b"12").decode()]),
    "a report that is too long": changed(reports=[base64.b64encode(b"1234").decode()]),
    "too many reports": changed(reports=[base64.b64encode(bytes(3)).decode()] * 1001),
    "a report that no device makes": changed(reports=[impossible]),
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_what_is_no_batch_is_refused_and_nothing_of_it_is_kept(body, store):
    ((status, answer),) = post(Collector(store), body)
    assert (status, answer["error"]["code"]) == (400, "bad_batch")
    assert counted(store) == 0


def test_another_version_is_refused(store):
    newer = batch_text(parse_survey(TEXT.replace("epsilon = 2", "epsilon = 1")).version, [bytes(3)])
    ((status, answer),) = post(Collector(store), newer)
    assert (status, answer["error"]["code"]) == (409, "other_version")


def test_too_large_a_body_is_refused_before_it_is_read(store):
    ((status, answer),) = post(Collector(store), b"x" * (1 << 24), pieces=50)
    assert (status, answer["error"]["code"]) == (413, "too_large")


WIDE = f"""
name = "wide"
purpose = "Long reports"

[questions.which]
text = "Which?"
values = {[f"v{number}" for number in range(4_000)]}
epsilon = 1
scheme = "unary"
"""


def test_long_batches_share_their_room_and_keep_out_no_short_one(tmp_path, monkeypatch):
    """Senders that begin many long batches and never end them must not fill the memory."""
    monkeypatch.setattr(app_module, "MOST_HELD", 1 << 20)
    wide = parse_survey(WIDE)
    store = ReportStore(tmp_path / "wide.reports", wide)
    app = Collector(store)

    async def run():
        async with asyncio.timeout(60):
            return await attacked()

    async def attacked():
        end, begun = asyncio.Event(), 0

        async def begin():
            sent: list[Any] = []
            pieces = [b" " * (300 << 10)]

            async def receive():
                nonlocal begun
                if pieces:
                    return {"type": "http.request", "body": pieces.pop(), "more_body": True}
                begun += 1
                await end.wait()
                return {"type": "http.disconnect"}

            async def send(message):
                sent.append(message)

            await app({"type": "http", "method": "POST", "path": "/reports"}, receive, send)
            return sent[0]["status"]

        unfinished = [asyncio.create_task(begin()) for _ in range(7)]
        while begun < 4:
            await asyncio.sleep(0)
        short = SurveyDevice(wide.published(), {}).batch({})
        assert short is not None
        answer = await request(app, "POST", "/reports", short.encode())
        end.set()
        return [answer[0], *(await asyncio.gather(*unfinished))]

    status, *unfinished = asyncio.run(run())
    assert status == 201
    assert sorted(unfinished) == [408] * 4 + [429] * 3
    found = asyncio.run(run())
    store.close()
    assert sorted(found) == [201] + [408] * 4 + [429] * 3, "the room is free again"


def test_whatever_fails_while_reports_are_written_is_answered(store, monkeypatch):
    def add(_: Any) -> list[bool]:
        raise MemoryError

    app = Collector(store)
    with monkeypatch.context() as broken:
        broken.setattr(store, "add", add)
        found = post(app, batch(), batch())
    assert {(status, answer["error"]["code"]) for status, answer in found} == {(507, "not_kept")}
    assert post(app, batch()) == [(201, {"kept": True})]


def test_too_many_are_turned_away(store):
    found = post(Collector(store, rate=3), *(batch() for _ in range(10)))
    assert sorted(status for status, _ in found) == [201] * 3 + [429] * 7
    assert counted(store) == 3


def test_a_closed_survey_takes_no_more(store):
    store.end()
    ((status, answer),) = post(Collector(store), batch())
    assert (status, answer["error"]["code"]) == (410, "survey_closed")


def test_a_full_disk_is_said_and_nothing_is_acknowledged(store):
    store._connection.execute("PRAGMA max_page_count = 1")
    found = post(Collector(store), *(batch() for _ in range(300)))
    assert {(status, answer["error"]["code"]) for status, answer in found} == {(507, "not_kept")}
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert post(Collector(store), batch()) == [(201, {"kept": True})]
    assert counted(store) == 1


def test_a_file_of_another_version_is_refused(store, tmp_path):
    other = parse_survey(TEXT.replace("epsilon = 2", "epsilon = 1"))
    with pytest.raises(DeclarationError, match="another version"):
        ReportStore(tmp_path / "app.reports", other)
    with pytest.raises(DeclarationError, match="cannot be used"):
        ReportStore(tmp_path / "no" / "folder", other)


@pytest.mark.parametrize("path", ["/", "/survey.json", "/device.js", "/page.js"])
def test_pages_are_there(path, store):
    status, headers, body = asyncio.run(request(Collector(store), "GET", path))
    assert status == 200
    assert int(headers[b"content-length"]) == len(body) > 0
    assert b"set-cookie" not in headers


def test_a_head_has_the_length_of_the_page_and_no_body(store):
    got = asyncio.run(request(Collector(store), "GET", "/"))
    status, headers, body = asyncio.run(request(Collector(store), "HEAD", "/"))
    assert (status, body) == (200, b"")
    assert headers == got[1]


def test_the_published_form_is_the_survey(store):
    _, _, body = asyncio.run(request(Collector(store), "GET", "/survey.json"))
    assert json.loads(body) == small_survey().published()


@pytest.mark.parametrize(("method", "path"), [("GET", "/reports"), ("POST", "/"), ("GET", "/x")])
def test_nothing_else_is_there(method, path, store):
    assert asyncio.run(request(Collector(store), method, path))[0] == 404


def test_texts_of_a_survey_are_no_markup(tmp_path):
    text = TEXT.replace("Where do you use it?", "<script>alert(1)</script>")
    store = ReportStore(tmp_path / "odd.reports", parse_survey(text))
    page = asyncio.run(request(Collector(store), "GET", "/"))[2].decode()
    store.close()
    assert "<script>alert" not in page


def test_nothing_is_kept_once_the_survey_is_closed_by_another(store, tmp_path):
    app = Collector(store)
    assert post(app, batch())[0][0] == 201
    other = ReportStore(tmp_path / "app.reports", small_survey())
    other.end()
    assert [status for status, _ in post(app, batch(), batch())] == [410, 410]
    assert counted(other) == counted(store) == 1
    other.close()


@pytest.mark.parametrize("ending", ["", "-wal"])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_is_gone_acknowledges_nothing(store, tmp_path, ending, is_replaced):
    app, file = Collector(store), tmp_path / f"app.reports{ending}"
    assert post(app, batch())[0][0] == 201
    before = file.rename(tmp_path / "elsewhere")
    if is_replaced:
        file.write_bytes(before.read_bytes())
    assert [status for status, _ in post(app, batch())] == [507]


@pytest.mark.parametrize("is_ended", [True, False])
def test_a_closed_file_does_not_show_in_which_order_reports_came(tmp_path, is_ended):
    """An open one does: SQLite writes rows one after another, wherever their tokens belong."""
    batches = [SentBatch(bytes([place]) * 16, bytes(small_survey().size)) for place in range(200)]
    written = []
    for name, order in {"up": batches, "down": batches[::-1]}.items():
        store = ReportStore(tmp_path / name, small_survey())
        for one in order:
            store.add([one])
        if is_ended:
            store.end()
            assert not (tmp_path / f"{name}-wal").read_bytes()
        store.close()
        written.append((tmp_path / name).read_bytes()[100:])  # without the counters of its head
    assert (written[0] == written[1]) == is_ended


def test_a_broken_file_is_said(store, tmp_path):
    for _ in range(300):
        post(Collector(store), batch())
    store.close()
    file = tmp_path / "app.reports"
    whole = bytearray(file.read_bytes())
    whole[4096:] = b"\xa5" * (len(whole) - 4096)
    file.write_bytes(whole)
    with pytest.raises(DeclarationError, match="cannot be"):
        counted(ReportStore(file, small_survey()))
