"""Hook of mkdocs: the search shows pages that teach before the reference and the decisions."""

from typing import Any

from mkdocs.structure.pages import Page

BOOSTS = {"start/": 4.0, "coming_from/": 0.5, "api/": 0.3, "decisions/": 0.1, "theory/": 0.5, "llms": 0.1}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Set the weight of a page, unless the page itself does."""
    boost = next((value for part, value in BOOSTS.items() if page.file.src_uri.startswith(part)), 1.0)
    page.meta.setdefault("search", {"boost": boost})
    return markdown
