"""docs/protocol.md says what the code does: its tables and its picture are the code's own."""

import pytest

from tidemark.harness.report.protocol_page import PAGE, PARTS, written_anew


def test_the_page_and_the_code_agree():
    page = PAGE.read_text(encoding="utf-8")

    assert page == written_anew(page), (
        "docs/protocol.md is behind the code: run python -m tidemark.harness.report.protocol_page"
    )


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_somebody_edited_is_written_anew(part):
    page = PAGE.read_text(encoding="utf-8")
    edited = page.replace(f"<!-- end of {part} -->", f"| a line too many |\n<!-- end of {part} -->")

    assert edited != page
    assert written_anew(edited) == page


def test_a_page_without_a_place_for_a_part_is_refused():
    page = PAGE.read_text(encoding="utf-8").replace("<!-- end of roles -->", "")

    with pytest.raises(ValueError, match="no place for roles: <!-- roles: written by"):
        written_anew(page)


def line_of(page, beginning):
    return next(line for line in page.splitlines() if line.startswith(beginning))


def test_the_table_of_roles_tells_the_steps_and_the_next_role():
    page = PAGE.read_text(encoding="utf-8")

    assert line_of(page, "| nobody elected | leading |") == "| nobody elected | leading | resign, wait | no leader |"
    assert line_of(page, "| fetch request | any but") == "| fetch request | any but leading | refuse fetch | the same |"
    assert line_of(page, "| fetch error |") == "| fetch error | fetching | – | fetching (delayed) |"


def test_the_picture_has_what_every_role_does_once_and_what_only_some_do_from_each():
    page = PAGE.read_text(encoding="utf-8")

    assert line_of(page, "    any --> leading") == "    any --> leading: elected"
    assert line_of(page, "    fetching --> halted") == "    fetching --> halted: out of range"
    assert "leading --> no_leader" not in page
