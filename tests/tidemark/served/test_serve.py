"""A results folder in a browser: what is shown, what is not, and to whom."""

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate
from tidemark.served.server import HOST, NoPortError, server_of

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A run with hostile words, a campaign of which one chunk of two is done, and things that are no results."""
    folder = tmp_path_factory.mktemp("results")
    run = folder / "runs" / "one & <two>"
    run.mkdir(parents=True)
    (run / "history.jsonl").write_text('{"kind":"meta"}\n')
    anomaly = {"name": EVIL, "verdict": "violation", "message": EVIL}
    (run / "verdict.json").write_text(json.dumps({"valid": "invalid", "contract": EVIL, "anomalies": [anomaly]}))
    (run / "report.html").write_text("<title>Tidemark</title>")
    (run / "key.pem").write_text("secret")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.json").write_text("secret")
    broken = folder / "runs" / "broken"
    broken.mkdir()
    (broken / "history.jsonl").write_text("")
    (broken / "verdict.json").write_text("[")
    campaign = folder / "camp"
    spec = CampaignSpec("camp", ("kafka-0.10", "kafka-2.7"), 2, 1)
    campaign.mkdir()
    manifest = open_campaign(campaign, spec, chunk_size=1)
    for number in range(3):
        run_chunk(Task(spec, campaign, manifest.identity, simulate), manifest.layout.task(number))
    part = open_campaign(campaign / "parts" / "destructive", replace(spec, profile="destructive"), chunk_size=1)
    run_chunk(Task(part.spec, campaign / "parts" / "destructive", part.identity, simulate), part.layout.task(0))
    damaged = folder / "damaged" / "runs"
    damaged.mkdir(parents=True)
    (folder / "damaged" / "manifest.json").write_text('{"spec":')
    (folder.parent / "outside.json").write_text("secret")
    (folder / "link.json").symlink_to(folder.parent / "outside.json")
    return folder


@contextmanager
def serving(root):
    server = server_of(root, 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def get(root):
    with serving(root) as port:

        def ask(path, method="GET", host=None):
            connection = http.client.HTTPConnection(HOST, port, timeout=30)
            connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer.status, text, answer.headers

        yield ask


def test_the_folder_lists_runs_and_campaigns_with_their_state(get):
    status, page, _ = get("/")

    assert status == 200
    assert 'href="/run/runs/one%20%26%20%3Ctwo%3E"' in page
    assert ">invalid<" in page
    assert "3 of 4 runs" in page
    assert "not judged" in page
    assert "cannot be read" in page  # the damaged campaign


def test_a_part_of_a_campaign_is_listed_and_shown_with_its_profile(get):
    assert 'href="/campaign/camp/parts/destructive"' in get("/")[1]
    _, page, _ = get("/campaign/camp/parts/destructive")
    assert "1 of 4 runs are done" in page
    assert "destructive" in page.partition("<h1>")[2].partition("<table")[0]


def test_it_can_be_filtered(get):
    assert "camp</a>" in get("/?kind=campaign")[1]
    assert "one &amp;" not in get("/?kind=campaign")[1]
    assert "camp</a>" not in get("/?q=invalid+runs")[1]
    assert EVIL not in get("/?q=%3Cscript%3Ealert(1)%3C/script%3E")[1]


def test_a_campaign_that_runs_is_shown_as_it_is_and_loads_itself_again(get, root):
    _, page, _ = get("/campaign/camp")

    assert "3 of 4 runs are done (75.0 %)" in page
    assert '<meta http-equiv="refresh" content="3">' in page
    spec = CampaignSpec("camp", ("kafka-0.10", "kafka-2.7"), 2, 1)
    manifest = open_campaign(root / "camp", spec)
    run_chunk(Task(spec, root / "camp", manifest.identity, simulate), manifest.layout.task(3))
    _, page, _ = get("/campaign/camp")
    assert "Complete: 4 runs." in page
    assert "refresh" not in page.split("</head>")[0]
    assert get("/campaign/camp?variant=kafka-9")[0] == 200
    assert get("/campaign/damaged")[0] == 404


def test_a_run_has_its_verdict_and_its_files_and_nothing_in_it_runs(get):
    status, page, headers = get("/run/runs/one%20&%20%3Ctwo%3E")

    assert status == 200
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]
    assert get("/file/runs/one%20&%20%3Ctwo%3E/report.html")[1] == "<title>Tidemark</title>"
    assert "It has no verdict" in get("/run/runs/broken")[1]


@pytest.mark.parametrize(
    "path",
    [
        "/file/../outside.json",
        "/file/%2e%2e/outside.json",
        "/file//etc/passwd",
        "/file/link.json",
        "/file/.hidden/x.json",
        "/file/runs/one%20&%20%3Ctwo%3E/key.pem",
        "/file/%00",
        "/run/nowhere",
        "/campaign/..",
        "/what/ever",
    ],
)
def test_what_is_not_below_or_not_for_showing_is_not_there(get, path):
    status, page, _ = get(path)

    assert status == 404
    assert "secret" not in page


def test_it_listens_to_this_machine_and_answers_to_its_names_only(get):
    assert HOST == "127.0.0.1"
    assert get("/", host="localhost:1")[0] == 200
    assert get("/", host="[::1]:1")[0] == 200
    status, page, _ = get("/", host="evil.example")
    assert (status, "camp" in page) == (421, False)


def test_it_only_reads(get):
    assert get("/", method="POST")[0] == 501
    status, body, headers = get("/", method="HEAD")
    assert (status, body) == (200, "")
    assert int(headers["Content-Length"]) > 500


def test_a_port_that_is_taken_is_told(root):
    with serving(root) as port, pytest.raises(NoPortError, match=f"cannot listen on port {port}: somebody else"):
        server_of(root, port)
