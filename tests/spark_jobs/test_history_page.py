"""The report in a real browser, with no network: a view of one change, and one with a past and rude names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from spark_jobs.history_page import page
from spark_jobs.periods import DURATIONS
from tests.packages import program

pytestmark = pytest.mark.browser

START = 1_763_424_000_000
RUDE = "</script><!--<script><b>k & co</b>, which goes on and on"
REASONS = ("entered_inserted", "entered_moved", "entered_promoted", "left_dominated", "left_deleted", "left_expired",
           "left_moved")  # fmt: skip


def facts(stays: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """What history_report gives of these stays, all of one object."""
    last = max(stay["to"] or START for stay in stays)
    longest = {"key": RUDE, "total": 1.0, "longest": 1.0, "stays": len(stays), "moves": 0, "member": True}
    return {
        "view": "v", "first": START, "last": last, "period": 1000, "durations": [bound / 1000 for bound in DURATIONS],
        "totals": {"changes": len(stays), "stays": len(stays), "keys": 1, "members": 1, "median": None},
        "timeline": [{"key": RUDE, "by": None, "point": "price=1", **stay} for stay in stays],
        "longest": [longest], "lifetimes": [], "displacements": [],
        "churn": [{"period": START, "entered": 1, "moved": 0, "left": 0, "members": 1} | dict.fromkeys(REASONS, 0)
                  | {"entered_inserted": 1}],
    } | more  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=program("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


def shown(browser: Browser, path: Path, given: dict[str, Any], width: int = 1200) -> Page:
    """The page, drawn; an error in it, or a request to anywhere, fails the test."""
    path.write_text(page("v: its skyline over time", given), encoding="utf-8")
    opened = browser.new_page(viewport={"width": width, "height": 900}, offline=True)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))

    def requested(request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            wrong.append(request.url)

    opened.on("request", requested)
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    assert not wrong
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    return opened


def test_one_change_is_a_past(browser: Browser, tmp_path: Path) -> None:
    opened = shown(browser, tmp_path / "page.html", facts([{"from": START, "to": None, "end": "member"}]))
    text = opened.inner_text("main")
    for expected in ("No stay is over yet.", "Nobody was displaced.", "Every object that was a member", RUDE):
        assert expected in text
    opened.close()


@pytest.mark.parametrize("width", [1200, 380])
def test_a_past_with_every_end_and_an_empty_class_between(browser: Browser, tmp_path: Path, width: int) -> None:
    ends = ("dominated", "expired", "moved", "deleted")
    stays = [{"from": START + i * 100, "to": START + i * 100 + 50, "end": end} for i, end in enumerate(ends)]
    given = facts(
        [{"from": None, "to": START + 10, "end": "dominated"}, *stays],
        lifetimes=[
            {"at_least": 0.001, "below": 0.002, "stays": 1},
            {"at_least": 31_536_000.0, "below": None, "stays": 4},
        ],
        displacements=[{"by": RUDE, "key": "a", "times": 12345, "last_at": START}],
    )
    opened = shown(browser, tmp_path / "page.html", given, width)
    assert "12,345" in opened.inner_text("#displaced")
    bars = opened.evaluate("document.getElementById('lifetimes').data[0]")
    assert sum(bars["y"]) == 5
    assert len(bars["x"]) == len(DURATIONS) - 1  # from 1 ms to a year and more, those without stays too
    assert bars["text"][-1] == "365 d and more"
    names = opened.evaluate("document.getElementById('timeline').layout.yaxis.ticktext")
    assert "<" not in names[0]
    assert len(opened.evaluate("document.getElementById('timeline').data.map(bar => bar.name)")) == len(ends)
    opened.close()
