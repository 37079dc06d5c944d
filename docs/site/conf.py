"""How `make docs` makes the site: Sphinx reads the repository's own pages where they lie, so their links need no other form."""

from __future__ import annotations

import posixpath
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
REPORTS = ("results/published/demo", "results/published/families", "results/published/real-systems")
"""Folders that are copied, each with a report.html, or several."""
NAVIGATION = Path(__file__).with_name("navigation.md")

project = "Tidemark"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**.md",
    "docker/README.md",
    "results/README.md",
    "results/published/confirmed/**.md",
]
exclude_patterns = [".*", "docs/site", "build", "dist", "harness", "tests"]  # the walk passes them over
myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # JSON with … in it

html_theme = "furo"
html_title = "Tidemark"
html_show_sphinx = html_show_copyright = html_show_sourcelink = html_copy_source = False
html_static_path = ["static"]
html_js_files = [("accessible.js", {"defer": "defer"})]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        *(f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation")),
        "reports.html",
        "sidebar/scroll-end.html",
    ]
}


def add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """The README is a page for readers elsewhere, too: only here it has the list of all pages."""
    if page == root_doc:
        source[0] += "\n" + NAVIGATION.read_text(encoding="utf-8")


def point_to_reports(app: Sphinx, tree: nodes.document) -> None:
    """Links to published reports lead to the copies, which lie where they lie in the repository."""
    below = posixpath.dirname(app.env.docname)
    for link in [*tree.findall(download_reference), *tree.findall(pending_xref)]:
        target = posixpath.normpath(posixpath.join(below, link["reftarget"].lstrip("/")))
        if not target.startswith(REPORTS):
            target = posixpath.normpath(link["reftarget"].lstrip("/"))
        if target.startswith(REPORTS):
            page = target if target.endswith(".html") else f"{target}/report.html"
            link.replace_self(nodes.reference("", "", *link.children, refuri=posixpath.relpath(page, below or ".")))


def copy_reports(app: Sphinx, failed: Exception | None) -> None:
    """And the README is the page that a browser is given for the folder."""
    if failed is None:
        for report in REPORTS:
            shutil.copytree(ROOT / report, Path(app.outdir) / report, dirs_exist_ok=True)
        shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", point_to_reports, priority=1)  # before downloads are collected
    app.connect("build-finished", copy_reports)
