"""Nothing in a figure is cut, whichever file it is in."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tidemark.harness.report.style import looks, new_figure, save


@pytest.mark.parametrize("dots_per_inch", [72, 150], ids=["SVG", "PNG"])
def test_labels_are_within_the_figure(dots_per_inch, tmp_path):
    with looks():
        figure = new_figure(9.6, 3)
        axes = figure.add_subplot()
        axes.set_yticks([0, 1], ["truncated-under-consumer", "stuck"])
        axes.text(1, 0, "  2000")
        save(figure, tmp_path, "labels", "words")
        figure.set_dpi(dots_per_inch)
        drawn = axes.get_tightbbox(FigureCanvasAgg(figure).get_renderer())

    assert drawn.x0 > 0
    assert drawn.x1 < 9.6 * dots_per_inch
