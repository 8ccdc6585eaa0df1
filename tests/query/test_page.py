"""The live page in a real browser: it draws, follows, explains, asks, looks back, and heals.

Pictures of what the browser showed are kept in tests/artifacts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.fields import jsonable
from tests.packages import program
from tests.query.harness import START, Query, Stack

pytestmark = [pytest.mark.kafka, pytest.mark.browser]

_VIEWS = """
[page-{name}]
dimensions = {{ price = "min", distance = "min", rating = "max", noise = "min" }}
group_by = ["city"]
carry = ["label"]

[stream-{name}]
dimensions = {{ price = "min", volume = "max" }}
window = {{ size = 5 }}

[as-long-as-a-name-may-be-and-no-phone-is-as-wide-as-that-by-far-{name}]
dimensions = {{ price = "min" }}
"""
_PATIENCE_MS = 60_000
"""Nothing waits this long unless something is broken; the machine may be busy."""


def hotel(price: float, distance: float, rating: float, city: str = "Paris", label: str | None = None) -> bytes:
    fields = {
        "price": jsonable(price),
        "distance": distance,
        "rating": rating,
        "noise": 1,
        "city": city,
        "label": label,
    }
    return orjson.dumps(fields)


class Site(Stack):
    """The services over views of this module's own, and a way to bring the query service back."""

    def __init__(self, kafka: KafkaSettings, home: Path, name: str) -> None:
        path = home / "views.toml"
        path.write_text(_VIEWS.format(name=name))
        for view in load_views(path).values():
            ensure_topics(kafka, view)
        super().__init__(kafka, path, home)
        self.hotels, self.stream = self.views[f"page-{name}"], self.views[f"stream-{name}"]
        self.address = self.query.address
        self._at = START

    def put(self, rows: dict[str, bytes | None], view: View | None = None) -> None:
        """Publishes updates a second of event time apart."""
        timed = []
        for key, value in rows.items():
            self._at += 1000
            timed.append((key.encode(), value, self._at))
        self.publish(view or self.hotels, timed)

    def restart_query(self) -> None:
        self.query = Query(self.kafka, self.path, self.home, "--port", self.address.rsplit(":", 1)[1])
        self.query.address = self.address
        self.query.wait_ready()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = program("chromium")
    quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
    options = ["--no-sandbox", "--disable-gpu", "--disable-sync", "--enable-unsafe-swiftshader", *quiet]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=options)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("page")
    running = Site(KafkaSettings(broker.address), home, home.name.replace("page", "p"))
    running.put(
        {
            "ritz": hotel(300, 1, 4.9, label="The Ritz"), "hostel": hotel(20, 3, 3.5), "middle": hotel(120, 2, 4.2),
            "tired": hotel(320, 4, 3.1), "roma": hotel(90, 1, 4.0, "Rome"), "lazio": hotel(95, 2, 3.9, "Rome"),
        }
    )  # fmt: skip
    running.put({f"e{i}": orjson.dumps({"price": 10 - i, "volume": 1}) for i in range(7)}, running.stream)
    yield running
    running.stop()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """The page on the keyed view, live. Any error in it, and any request to elsewhere, fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(_PATIENCE_MS)
    opened, errors, elsewhere = context.new_page(), [], []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda request: elsewhere.append(request.url) if _leaves(request.url, site) else None)
    open_view(opened, site, site.hotels)
    yield opened
    context.close()
    assert errors == []
    assert elsewhere == []


def _leaves(url: str, site: Site) -> bool:
    return not url.startswith((site.address + "/", "blob:", "data:"))


def open_view(page: Page, site: Site, view: View) -> None:
    page.goto(f"{site.address}/#{view.name}")
    wait_for_link(page, "live")


def wait_for_link(page: Page, state: str) -> None:
    expect(page.locator(f"#link[data-state={state}]")).to_be_visible(timeout=_PATIENCE_MS)


def wait_for_members(page: Page, *keys: str) -> None:
    """Until the list holds just these members; the picture shows the same ones."""
    drawn = "() => [...document.querySelectorAll('#ranking tbody tr')].map((row) => row.dataset.key).sort().join()"
    page.wait_for_function(f"(wanted) => ({drawn})() === wanted", arg=",".join(sorted(keys)), timeout=_PATIENCE_MS)


def drawn_keys(page: Page, *traces: str) -> list[str]:
    """Keys of the points in these traces of the picture."""
    script = """(names) => document.getElementById('chart').data
        .filter((trace) => names.includes(trace.name)).flatMap((trace) => trace.customdata)"""
    keys: list[str] = page.evaluate(script, list(traces))
    return sorted(keys)


def keep(page: Page, repository: Path, name: str) -> None:
    place = repository / "tests" / "artifacts" / f"{name}.png"
    place.parent.mkdir(exist_ok=True)
    page.screenshot(path=place, full_page=True)
    assert place.stat().st_size > 10_000


def test_it_draws_members_the_crowd_and_a_staircase(page: Page, repository: Path) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.wait_for_function("() => document.getElementById('chart').data?.length > 0")
    assert drawn_keys(page, "Paris", "Rome") == ["hostel", "middle", "ritz", "roma"]
    assert drawn_keys(page, "others") == ["lazio", "tired"]
    stairs = page.evaluate(
        "() => document.getElementById('chart').data.filter((t) => t.mode === 'lines').map((t) => [t.x, t.y])"
    )
    assert stairs[0] == [[20, 120, 120, 300, 300], [3, 3, 2, 2, 1]]
    assert "Download" in (buttons := page.locator("#chart .modebar").inner_html())
    assert "Share" not in buttons, "nobody is offered to send the data elsewhere"
    keep(page, repository, "page")


def test_a_change_is_drawn_and_told(page: Page, site: Site) -> None:
    site.put({"palace": hotel(250, 1, 5.0)})
    wait_for_members(page, "palace", "hostel", "middle", "roma")
    expect(page.locator("#feed li").filter(has_text="palace entered: new").first).to_be_visible()
    expect(page.locator("#feed li").filter(has_text="ritz left: palace dominates it").first).to_be_visible()
    site.put({"palace": None})
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    expect(page.locator("#feed li").first).to_have_text(re.compile("ritz entered: its dominator palace was deleted$"))
    page.get_by_label("Object").fill("palace")
    page.keyboard.press("Enter")
    expect(page.locator("#explanation")).to_contain_text('"palace" is not in the view')
    expect(page.locator("#explanation")).to_contain_text(re.compile("It was a member:.*, deleted"))
    told = page.locator("#feed li").evaluate_all("(lines) => lines.map((line) => line.dataset.seq)")
    assert len(set(told)) == len(told), "every change is told once"


def test_objects_are_explained(page: Page, repository: Path) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.get_by_role("button", name="ritz", exact=True).click()
    explanation = page.locator("#explanation")
    expect(explanation).to_contain_text("A member: nothing beats it")
    place = page.evaluate(
        """() => { const chart = document.getElementById('chart'), box = chart.getBoundingClientRect();
            const { xaxis, yaxis } = chart._fullLayout;
            return [box.left + xaxis._offset + xaxis.d2p(320), box.top + yaxis._offset + yaxis.d2p(4)]; }"""
    )
    page.mouse.move(*place)
    page.mouse.click(*place)
    expect(explanation).to_contain_text("tired")
    expect(explanation).to_contain_text("Not a member")
    expect(explanation).to_contain_text("A single change would make it a member")
    keep(page, repository, "page-explanation")


def test_any_object_can_be_named(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.get_by_label("Object").fill("lazio")
    page.keyboard.press("Enter")
    explanation = page.locator("#explanation")
    expect(explanation).to_contain_text("Not a member: roma dominates it")
    page.get_by_label("Object").fill("no/such hotel?")
    page.get_by_role("button", name="Explain").click()
    expect(explanation).to_contain_text('"no/such hotel?" is not in the view')


def test_constraints_ask_the_service(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.wait_for_function("() => document.getElementById('chart').data?.length > 0")
    slide(page, "price at most", 200)  # of 1000, between 20 and 320
    wait_for_members(page, "hostel")
    request: Any = page.locator("#request").get_attribute("href")
    assert "where=price%3C%3D80" in request
    page.locator("#reset").click()
    wait_for_members(page, "ritz", "hostel", "middle", "roma")


def test_weights_order_the_list(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    for name in ("distance", "rating", "noise"):
        slide(page, f"weight of {name}", 0)
    expect(page.locator("#ranking tbody tr").first).to_have_attribute("data-key", "hostel")
    slide(page, "weight of rating", 20)
    slide(page, "weight of price", 0)
    expect(page.locator("#ranking tbody tr").first).to_have_attribute("data-key", "ritz")


def test_the_past_is_shown_as_of_a_time(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    slide_by_id(page, "as-of", 1)
    wait_for_members(page, "ritz")
    expect(page.locator("#count")).to_contain_text("as of")
    page.get_by_role("button", name="Back to now").click()
    wait_for_members(page, "ritz", "hostel", "middle", "roma")


def test_a_constraint_rests_while_the_past_is_shown(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    slide(page, "price at most", 200)
    wait_for_members(page, "hostel")
    slide_by_id(page, "as-of", 1)
    wait_for_members(page, "ritz")
    expect(page.get_by_label("price at most", exact=True)).to_be_disabled()
    expect(page.locator("#rests")).to_have_text("Constraints are about now, not about the past.")
    expect(page.locator("#problem")).to_be_hidden()
    request = page.locator("#request").get_attribute("href") or ""
    assert "as_of=" in request
    assert "where=" not in request
    page.get_by_role("button", name="Back to now").click()
    wait_for_members(page, "hostel")
    expect(page.locator("#rests")).to_be_hidden()


def test_groups_and_more_dimensions(page: Page, repository: Path) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.locator("#group").select_option("Rome")
    wait_for_members(page, "roma")
    page.locator("#group").select_option("")
    for dimension, kind in (("rating", "scatter3d"), ("noise", "splom")):
        page.locator(f"#dims input[value={dimension}]").check()
        page.wait_for_function(
            "(kind) => document.getElementById('chart').data?.some((trace) => trace.type === kind)", arg=kind
        )
        keep(page, repository, f"page-{kind}")


def test_a_window_shows_its_newest_elements(page: Page, site: Site) -> None:
    open_view(page, site, site.stream)
    wait_for_members(page, "e6@6")
    site.put({"e7": orjson.dumps({"price": 9, "volume": 8})}, site.stream)
    wait_for_members(page, "e6@6", "e7@7")
    slide_by_id(page, "last", 0)
    wait_for_members(page, "e7@7")


def test_a_broken_connection_shows_and_heals(page: Page, site: Site) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    site.query.stop()
    wait_for_link(page, "broken")
    site.put({"meanwhile": hotel(10, 5, 2.0)})
    site.restart_query()
    wait_for_link(page, "live")
    wait_for_members(page, "ritz", "hostel", "middle", "roma", "meanwhile")
    site.put({"meanwhile": None})
    wait_for_members(page, "ritz", "hostel", "middle", "roma")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser: Browser, site: Site, repository: Path, scheme: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True)
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    open_view(page, site, site.hotels)
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="hostel").tap()
    expect(page.locator("#explanation")).to_contain_text("A member")
    keep(page, repository, f"page-phone-{scheme}")
    context.close()


def test_it_works_from_the_keyboard(page: Page) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    page.locator("#ranking tbody button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#explanation")).to_contain_text("A member")
    past = page.get_by_label("As of")
    past.focus()
    page.keyboard.press("Home")
    expect(page.locator("#count")).to_contain_text("as of")
    expect(past).not_to_have_attribute("aria-valuetext", "now")
    page.keyboard.press("End")
    expect(past).to_have_attribute("aria-valuetext", "now")


def test_infinite_values_are_drawn_at_the_edge(page: Page, site: Site) -> None:
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    site.put({"free": hotel(float("-inf"), 5, 2.0)})
    wait_for_members(page, "ritz", "hostel", "middle", "roma", "free")
    expect(page.locator("#count")).to_contain_text("±∞ drawn at the edge")
    assert "free" in drawn_keys(page, "Paris")
    drawn = page.evaluate(
        "() => document.getElementById('chart').data.filter((t) => t.mode === 'markers').flatMap((t) => t.x)"
    )
    assert all(isinstance(x, int | float) for x in drawn)
    page.get_by_role("button", name="free", exact=True).click()
    expect(page.locator("#explanation")).to_contain_text("−∞")
    site.put({"free": None})
    wait_for_members(page, "ritz", "hostel", "middle", "roma")


def test_a_view_that_does_not_exist_is_said_and_left(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/#nosuch")
    expect(page.locator("#problem")).to_contain_text("there is no view 'nosuch'")
    page.locator("#view").select_option(site.hotels.name)
    wait_for_link(page, "live")
    wait_for_members(page, "ritz", "hostel", "middle", "roma")
    expect(page.locator("#problem")).to_be_hidden()


def slide(page: Page, label: str, value: int) -> None:
    page.get_by_label(label, exact=True).fill(str(value))


def slide_by_id(page: Page, name: str, value: int) -> None:
    page.locator(f"#{name}").fill(str(value))
