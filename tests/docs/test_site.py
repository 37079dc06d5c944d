"""The site that `make docs` makes has every page in its navigation, once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAVIGATION = ROOT / "docs" / "site" / "navigation.md"
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "docker/README.md", "results/README.md")
CONFIRMED = ROOT / "results" / "published" / "confirmed"


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^[\w./-]+$", NAVIGATION.read_text(encoding="utf-8"), re.MULTILINE)
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent != NAVIGATION.parent]
    pages += [*map(ROOT.joinpath, OUTSIDE), *CONFIRMED.rglob("*.md")]

    assert sorted(f"{name}.md" for name in listed) == sorted(path.relative_to(ROOT).as_posix() for path in pages)


def test_what_the_sidebar_leads_to_beside_pages_is_published_or_made_by_the_build():
    links = re.findall(r"pathto\('([^']+)'", (NAVIGATION.parent / "templates" / "reports.html").read_text())
    build = (ROOT / ".ci" / "make-site").read_text(encoding="utf-8")

    assert links
    for link in links:
        assert (ROOT / link).is_file() or f'--out "$site/{Path(link).parent}"' in build
