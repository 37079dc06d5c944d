"""``tidemark hunt --confirm containers``, on real processes: from nothing to a page, in one command."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.systems]

HUNT = ("hunt", "--variant", "kafka-0.11", "--for", "divergence", "--seed", "2", "--jobs", "1", "--json")
PROGRAM = "from tidemark.cli import main; import sys; sys.argv[0] = 'tidemark'; sys.exit(main())"


def test_what_the_model_shows_is_seen_on_processes(engine, image, tmp_path):
    there = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *HUNT, "--confirm", "containers", "--times", "2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": there, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )

    assert ended.returncode == 1, ended.stderr
    found = json.loads(ended.stdout)["confirmed"]
    assert found["seen"] >= 1
    assert len(found["tries"]) == 2
    assert "tries on containers" in (tmp_path / found["page"]).read_text()
