"""The page of a survey, opened in a real browser: what it shows, sends, and does not send."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.server.collector.test_killed_collector import HOST, free_port, kept, started
from tests.support.local.surveys import TEXT, small_survey

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


@pytest.fixture
def declared() -> str:
    return TEXT


@pytest.fixture
def page(tmp_path: Path, declared: str):
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("there is no Chromium on this machine")
    (tmp_path / "survey.toml").write_text(declared)
    port = free_port()
    collector = started(tmp_path, port)
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 900, "height": 1200})
        opened.goto(f"http://{HOST}:{port}/")
        yield opened
        browser.close()
    os.kill(collector.pid, signal.SIGTERM)
    collector.wait()


def test_a_person_tries_sends_and_is_asked_no_more_often_than_was_said(page, tmp_path: Path):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.get_by_label("tablet").check()
    page.locator("input[type=number]").fill("12.5")

    page.get_by_role("button", name="Try it").click()
    reports = page.locator("#shown code")
    reports.nth(2).wait_for()
    shown = reports.all_inner_texts()
    assert [len(text.split()) for text in shown] == [small_survey().size] * 3
    assert not requests
    assert kept(tmp_path) == []
    if target := os.environ.get("DISCREET_SCREENSHOT"):
        page.screenshot(path=target, full_page=True)

    for sent in range(1, 4):
        page.get_by_role("button", name="Send").click()
        page.get_by_text("Sent. Thank you.").wait_for()
        assert len(kept(tmp_path)) == sent
        page.reload()
    page.get_by_role("button", name="Send").click()
    page.get_by_text("taken part already").wait_for()
    assert len(kept(tmp_path)) == 3
    assert not [one for one in requests if HOST not in one]


def test_a_batch_that_was_not_acknowledged_is_sent_again_and_counts_once(page, tmp_path: Path):
    page.route("**/reports", lambda route: route.abort())
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Not sent").wait_for()
    assert kept(tmp_path) == []
    page.unroute("**/reports")
    for _ in range(3):
        page.get_by_role("button", name="Send").click()
        page.get_by_text("Sent. Thank you.").wait_for()
        page.reload()
    assert len(kept(tmp_path)) == 3


@pytest.mark.parametrize("script", ["page.js", "device.js", "survey.json"])
def test_without_its_script_the_page_sends_nothing_by_itself(page, script: str):
    """A browser would send a form as it was filled in, and so the answers as they are."""
    page.route(f"**/{script}", lambda route: route.abort())
    with page.expect_request(f"**/{script}"):  # a survey is asked for after the page is there
        page.reload()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_label("tablet").check()
    page.locator("input[type=number]").fill("12.5")
    page.locator("input[type=number]").press("Enter")
    page.get_by_role("button", name="Send").click(force=True)
    page.wait_for_timeout(200)
    assert requests == []
    assert page.evaluate("location.search") == ""


def test_a_browser_that_keeps_nothing_is_told_so_and_sends_nothing(page, tmp_path: Path):
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error(); }; }")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("does not let the page keep").wait_for()
    assert kept(tmp_path) == []


ODD = """
name = "odd"
purpose = "Odd texts"

[questions.__proto__]
text = "Which?"
values = ["a\\r\\nb", "<b>\\"'&", "nul\\u0000"]
epsilon = 32
scheme = "k_ary"

[questions."x\\ny"]
text = "How many?"
min = 0
max = 1234567.5
step = 2.5
epsilon = 1
"""


@pytest.mark.parametrize("declared", [ODD])
def test_odd_names_and_values_reach_the_device_as_they_are_declared(page):
    """At an epsilon of 32 a report tells the place of the value, but for one in 10**13."""
    for place in range(4):
        page.locator("input[type=radio]").nth(place).check()
        page.get_by_role("button", name="Try it").click()
        page.locator("#shown code").nth(2).wait_for()
        shown = page.locator("#shown code").all_inner_texts()
        assert [int(text.split()[0], 2) for text in shown] == [place] * 3
    assert page.get_by_text("from 0 to 1,234,567.5").is_visible()
