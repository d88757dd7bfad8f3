"""The site is built without a warning, and a reader sees it: pages, style, the picture, search, links that lead on."""

import http.client
import importlib
import importlib.util
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

import tenterhooks
import tenterhooks.hookspecs

from .browser import Browser, Page, browser, executable

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(
            path.relative_to(DOCS).with_suffix(".html").as_posix()
            for path in DOCS.rglob("*.md")
            if path != DOCS / "README.md"
        ),
        *(f"plugins/{path.parent.name}.html" for path in ROOT.glob("plugins/*/README.md")),
    ]
)
MADE_OF = ("sphinx", "myst_parser", "furo")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    missing = [module for module in MADE_OF if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"the site is built with {', '.join(missing)}: pip install -r docs/requirements.txt")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [*command, str(DOCS), str(folder / "site")], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder / "site"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """What was asked for is not printed."""


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, on this machine alone."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if (found := executable()) is None:
        pytest.skip("pages are seen in Chromium, which is not installed, or cannot be driven on this system")
    with browser(found, tmp_path_factory.mktemp("chromium") / "profile") as running:
        yield running


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    opened = chromium.page()
    yield opened
    opened.close()


# What is built


@pytest.mark.parametrize("name", PAGES)
def test_the_site_has_each_page(site: Path, name: str) -> None:
    assert (site / name).is_file()


class Marks(HTMLParser):
    """The anchors and the addresses in a page: those that are followed, and those that are loaded with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.followed: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.anchors.add(value)
            elif key == "href" and value and tag == "a":
                self.followed.append(value)
            elif value and (key == "src" or (key == "href" and tag == "link")):
                self.loaded.append(value)


def api(site: Path, page: str) -> set[str]:
    return Marks((site / "reference" / page).read_text(encoding="utf-8")).anchors


def test_the_api_has_each_public_name_of_the_core(site: Path) -> None:
    # The marks of pluggy are objects without a signature of their own.
    wanted = {f"tenterhooks.{name}" for name in tenterhooks.__all__} - {"tenterhooks.hookimpl", "tenterhooks.hookspec"}
    assert wanted - api(site, "api.html") == set()


def test_the_api_has_the_stages_in_their_order(site: Path) -> None:
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    stages = re.findall(r'id="tenterhooks\.hookspecs\.(\w+)"', text)
    assert stages == list(tenterhooks.hookspecs.STAGES)


def test_the_api_has_a_property_s_sentence_as_it_stands_in_the_source(site: Path) -> None:
    sentence = (tenterhooks.Session.torn.__doc__ or "").partition("\n")[0]
    assert ": " in sentence, "the first sentence is no longer one that could be taken for a type"
    assert f"<p>{sentence}</p>" in (site / "reference" / "api.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("plugin", sorted(path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml")))
def test_the_api_has_each_public_name_of_a_plugin(site: Path, plugin: str) -> None:
    package = "tenterhooks_" + plugin.replace("-", "_")
    wanted = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
    assert wanted, package
    assert wanted - api(site, "plugins-api.html") == set()


def test_each_link_within_the_site_leads_somewhere(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    pages: dict[str, Marks] = {}
    broken, foreign, anchored = [], [], []
    waiting = [("the test", "/index.html")]
    seen = set()
    while waiting:
        source, path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            broken.append(f"{source} -> {path}: {answer.status}")
        elif path.endswith(".html"):
            marks = pages[path] = Marks(content.decode())
            here = urljoin(address, path)
            for link in marks.followed + marks.loaded:
                there = urlsplit(urljoin(here, link))
                if there.netloc == urlsplit(address).netloc:
                    waiting.append((path, there.path))
                    anchored.append((path, there.path, unquote(there.fragment)))
                elif link in marks.loaded and there.scheme != "data":
                    foreign.append(f"{path} loads {link}")
    for source, path, anchor in anchored:
        if anchor and path in pages and anchor not in pages[path].anchors:
            broken.append(f"{source} -> {path}#{anchor}")
    assert broken == []
    assert foreign == [], "the site is to be read offline, too"
    assert {f"/{name}" for name in PAGES} - pages.keys() == set()


# What is seen


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_shown(address: str, page: Page, name: str) -> None:
    page.open(address + name)
    heading = page.run("document.querySelector('article h1').firstChild.textContent")
    assert heading
    # Sphinx makes typographic quotes in both.
    assert page.run("document.title").startswith(heading.strip())
    assert page.run("document.querySelector('article h1').getBoundingClientRect().height") > 20
    # Of the theme's style and of the site's own: the pages stand at the side, and tables begin at the top.
    side, article = page.run(
        "['.sidebar-drawer', 'article'].map(e => document.querySelector(e).getClientRects()[0].toJSON())"
    )
    assert side["right"] <= article["left"]
    assert page.run("[...document.querySelectorAll('td')].every(cell => getComputedStyle(cell).verticalAlign == 'top')")
    assert page.complaints == []


@pytest.mark.parametrize("width", [400, 1000, 1100, 1280, 1320, 1600])
def test_pages_and_tables_fit_into_the_window(address: str, page: Page, width: int) -> None:
    page.look(width)
    wide = []
    for name in ("index.html", "explanation/lifecycle.html", "how-to/migrate-callbacks.html", "reference/plugins.html"):
        page.open(address + name)
        if page.run("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
        # On a telephone a table may be pushed to the side.
        tables = page.run("[...document.querySelectorAll('.table-wrapper')].map(e => e.scrollWidth - e.clientWidth)")
        if width >= 1000 and any(over > 0 for over in tables):
            wide.append(f"a table of {name}")
    assert wide == []


def test_the_picture_of_the_lifecycle_is_seen(address: str, page: Page) -> None:
    page.open(address + "explanation/lifecycle.html")
    picture = "document.querySelector('article img')"
    assert page.run(f"{picture}.complete && {picture}.naturalWidth") == 760
    box = page.run(f"{picture}.getBoundingClientRect().toJSON()")
    assert box["width"] > 600
    assert box["height"] > 450
    middle = f"{box['x'] + box['width'] / 2}, {box['y'] + 100}"
    assert page.run(f"document.elementFromPoint({middle}) === {picture}")
    assert "on_exception" in page.run(f"{picture}.alt")


def test_the_picture_is_dark_where_all_is_dark(address: str, page: Page, tmp_path: Path) -> None:
    seen = []
    for dark in (False, True):
        page.look(dark=dark)
        page.open(address + "_images/lifecycle.svg")
        paper, text = page.run(
            "['.paper', '.name'].map(e => getComputedStyle(document.querySelector(e)).fill.match(/\\d+/g)"
            ".reduce((sum, part) => sum + Number(part), 0))"
        )
        seen.append((paper > 600, text > 600, page.screenshot(tmp_path / f"{dark}.png")))
    (light_paper, light_text, light), (dark_paper, dark_text, darkened) = seen
    assert (light_paper, light_text) == (True, False)
    assert (dark_paper, dark_text) == (False, True)
    assert light != darkened


def test_the_words_of_the_picture_stand_in_their_boxes(address: str, page: Page) -> None:
    page.open(address + "_images/lifecycle.svg")
    outside = """
        (() => {
            const boxes = [...document.querySelectorAll('.stage, .step, .last')].map(e => e.getBBox());
            const within = (inner, outer) =>
                inner.x >= outer.x + 4 && inner.x + inner.width <= outer.x + outer.width - 4;
            return [...document.querySelectorAll('text')].filter(text => {
                const words = text.getBBox(), x = words.x + words.width / 2, y = words.y + words.height / 2;
                const box = boxes.find(b => b.x < x && x < b.x + b.width && b.y < y && y < b.y + b.height);
                return box && !within(words, box) || !within(words, {x: 0, width: 760});
            }).map(text => text.textContent);
        })()
    """
    assert page.run(outside) == []
    stages = page.run("[...document.querySelectorAll('.name')].map(text => text.textContent)")
    assert stages == list(tenterhooks.hookspecs.STAGES)


def test_search_finds_a_page_and_leads_to_it(address: str, page: Page) -> None:
    page.open(address + "index.html")
    page.click("input.sidebar-search")
    with page.loading():
        page.write("mailbox")
    results = page.until("[...document.querySelectorAll('ul.search li a')].map(link => link.getAttribute('href'))")
    assert [result for result in results if result.startswith("how-to/tracker-hook.html")], results
    with page.loading():
        page.click("ul.search li a[href^='how-to/tracker-hook.html']")
    assert (
        page.run("document.querySelector('article h1').firstChild.textContent") == "A complete hook: post to a tracker"
    )
    assert page.complaints == []


def test_search_finds_a_class_of_the_api(address: str, page: Page) -> None:
    page.open(address + "search.html?q=SecondOrStepTimer")
    results = page.until("[...document.querySelectorAll('ul.search li a')].map(link => link.getAttribute('href'))")
    assert "reference/api.html#tenterhooks.SecondOrStepTimer" in results
