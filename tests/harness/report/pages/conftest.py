"""The page of the run that lost a record; other pages are written without the figures of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loss_of_kip_101 import history, plan, verdict

from tidemark.harness.report import pages
from tidemark.harness.report.pages import render_run
from tidemark.harness.report.style import save


@pytest.fixture(autouse=True)
def _no_figures_for_a_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test writes for its words has figures as SVG alone, in a third of the time; `comparison_page` has all."""

    def svg_alone(*args: Any, for_paper: bool = False) -> str:
        return save(*args)

    monkeypatch.setattr(pages, "save", svg_alone)


@pytest.fixture(scope="session")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run."""
    return render_run(plan(), history(), verdict(), tmp_path_factory.mktemp("run"))
