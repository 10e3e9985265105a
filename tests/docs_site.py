"""The built site of the documentation: every link inside of it leads somewhere, and a search finds pages.

    python tests/docs_site.py SITE

Needs playwright and a browser, see `browser`. `tests/newcomer.py` builds the site and runs this.
"""

import functools
import http.server
import re
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import browser

SEARCHES = ("tutorial", "MJCF", "IMU", "domain randomization")
PATIENCE = 60_000  # milliseconds
FIRST = 3  # results that one looks at


class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {name for name in (given.get("id"), given.get("name")) if name}
        for attribute in ("href", "src"):
            if given.get(attribute) and tag != "base":
                self.links.append(given[attribute] or "")


def broken_links(site: Path) -> Iterator[str]:
    """Links inside a site that lead nowhere, each with its page."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in sorted(pages.items()):
        for link in sorted(set(page.links)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path
            if parts.path:
                root = site.resolve() if parts.path.startswith("/") else path.parent
                target = (root / unquote(parts.path).lstrip("/")).resolve()
                target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(site.resolve())}: {link}"
            if not target.is_file():
                yield f"{where} leads to no file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} leads to no anchor"


def found(site: Path, words: str, page) -> str:
    """The title of the first of the first results of a search that has all of its words."""
    page.fill("input[data-md-component=search-query]", words)
    page.wait_for_function(  # the results are those of these words
        "words => document.querySelector('.md-search-result__list mark')?.textContent.toLowerCase()"
        ".startsWith(words.slice(0, 3).toLowerCase())", arg=words, timeout=PATIENCE,
    )  # fmt: skip
    titles = []
    for result in page.locator("li.md-search-result__item").all()[:FIRST]:
        link = result.locator("a.md-search-result__link").first
        titles.append(link.locator("h1, h2").first.inner_text().strip())
        address = urlsplit(link.get_attribute("href") or "").path
        target = site / unquote(address).lstrip("/")
        text = (target / "index.html" if target.is_dir() else target).read_text(encoding="utf-8")
        if re.search(r"\b" + r"\s+".join(map(re.escape, words.split())) + r"s?\b", text, re.IGNORECASE):
            return titles[-1]
    raise AssertionError(f"a search for {words!r} finds {', '.join(map(repr, titles))}, none of which has it")


def main(site: Path) -> int:
    broken = list(broken_links(site))
    count = sum(1 for _ in site.rglob("*.html"))
    print(*broken[:20], f"{count} pages, {len(broken)} links lead nowhere", sep="\n", flush=True)
    from playwright.sync_api import sync_playwright

    path = browser.found_or_got()
    if path is None:
        print(browser.MISSING)
        return 1
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for words in SEARCHES:
            page = opened.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            print(f"a search for {words!r} finds {found(site, words, page)!r}", flush=True)
            page.close()
        opened.close()
        server.shutdown()
    return 1 if broken else 0


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
