"""A campaign kept in an object store, against a real S3 server (moto) in a process of its own."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from missing import skip_without
from moto_server import FOLDER, ROOT, MotoServer, moto_server
from pyspark.sql import SparkSession
from rich.console import Console

from tidemark.cli import main
from tidemark.pipeline.campaign.campaign import CampaignFailedError, CampaignOutcome, run_campaign
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest
from tidemark.pipeline.folder.tables import SCHEMAS
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.store import store_driver
from tidemark.pipeline.store.object_store import ObjectStore
from tidemark.pipeline.store.store_exchange import exchange
from tidemark.pipeline.store.store_place import StoreError, StorePlace
from tidemark.pipeline.store.stored_campaign import StoredCampaign
from tidemark.pipeline.store.working_copy import fetch

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"
URI = "s3://campaigns/of/demo"

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[MotoServer]:
    if not FOLDER.is_dir():
        skip_without("moto, an S3 server: make tools installs it")
    with moto_server() as server:
        yield server


@pytest.fixture(autouse=True)
def bucket(server: MotoServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty bucket, the credentials for it, and a machine without a working copy."""
    server.reset()
    server.ask("s3.create_bucket(Bucket='campaigns')")
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ROOT[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ROOT[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr("tidemark.pipeline.store.store_place.cache_folder", lambda: tmp_path / "first")


@pytest.fixture
def another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """From now on working copies are elsewhere."""
    return lambda name: monkeypatch.setattr("tidemark.pipeline.store.store_place.cache_folder", lambda: tmp_path / name)


@pytest.fixture
def small(spec: CampaignSpec) -> CampaignSpec:
    """2 variants x 6 plans."""
    return replace(spec, plans=6)


@pytest.fixture
def counted(simulate: Callable[..., Any], tmp_path: Path) -> tuple[Callable[..., Any], Callable[[], list[str]]]:
    """The world, and which runs of it there were since somebody asked."""
    log = tmp_path / "runs.log"

    def and_say_so(spec: CampaignSpec, variant: str, index: int) -> Any:
        with log.open("a") as file:
            file.write(f"{variant} {index}\n")
        return simulate(spec, variant, index)

    def runs() -> list[str]:
        found = sorted(log.read_text().splitlines()) if log.exists() else []
        log.unlink(missing_ok=True)
        return found

    return and_say_so, runs


def run(
    spec: CampaignSpec, simulate: Callable[..., Any], told: io.StringIO | None = None, **options: Any
) -> CampaignOutcome:
    place = StorePlace.of(URI)
    return run_campaign(
        spec,
        place.working_copy(),
        chunk_size=2,
        console=Console(file=told or io.StringIO(), width=1000),
        simulate=simulate,
        stored=StoredCampaign(place),
        **options,
    )


def tables(spark: SparkSession, folder: Path) -> dict[str, list[str]]:
    found = {}
    for name in SCHEMAS:
        table = spark.read.option("__globPaths__", "false").parquet(str(folder / name)).drop("wall_us")
        found[name] = sorted(json.dumps(row.asDict(), default=str) for row in table.collect())
    return found


def keys() -> dict[str, int]:
    return ObjectStore(StorePlace.of(URI)).sizes()


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[Any, str, str]:
    monkeypatch.setattr(sys, "argv", ["tidemark", *words])
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
        main()
    return end.value.code, out.getvalue(), error.getvalue()


@pytest.mark.parametrize("master", [None, pytest.param("local[2,3]", marks=pytest.mark.systems)])
def test_it_comes_back_from_the_store_row_for_row(
    master: str | None,
    spark: SparkSession,
    small: CampaignSpec,
    simulate: Callable[..., Any],
    tmp_path: Path,
    another_machine: Callable[[str], None],
) -> None:
    local = run_campaign(
        small,
        tmp_path / "local",
        chunk_size=2,
        master=master,
        console=Console(file=io.StringIO()),
        simulate=simulate,
    )
    stored = run(small, simulate, master=master)
    another_machine("second")
    fetched = fetch(StorePlace.of(URI))

    assert stored == local
    assert (fetched.chunks, fetched.damaged) == (6, ())
    assert "second" in fetched.folder.parts
    assert tables(spark, fetched.folder) == tables(spark, tmp_path / "local")
    assert len(tables(spark, fetched.folder)["runs"]) == 12
    here = {path.relative_to(fetched.folder).as_posix() for path in fetched.folder.rglob("*") if path.is_file()}
    assert set(keys()) == here - {".lock"}
    assert len(keys()) == 1 + 6 * 5


@pytest.mark.parametrize(
    ("uploads", "master"),
    [
        (0, None),
        *(pytest.param(*one, marks=pytest.mark.systems) for one in ((1, None), (13, "local[2,3]"), (19, None))),
    ],
)
def test_a_driver_that_ends_between_two_uploads_goes_on_elsewhere(
    uploads: int,
    master: str | None,
    spark: SparkSession,
    small: CampaignSpec,
    simulate: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    another_machine: Callable[[str], None],
) -> None:
    left = [f".{uploads}"] * uploads
    write = ObjectStore.write

    def write_some(self: ObjectStore, key: str, content: bytes) -> None:
        if not key.startswith("."):
            if not left:
                raise StoreError("The store is gone.")
            left.pop()
        write(self, key, content)

    with monkeypatch.context() as gone:
        gone.setattr(ObjectStore, "write", write_some)
        gone.setattr(
            "tidemark.pipeline.engines.delivery.THREADS_THAT_UPLOAD", 1
        )  # else many chunks are half-way, and none is there
        with pytest.raises((CampaignFailedError, StoreError), match=r"The store is gone\."):
            run(small, simulate, master=master)
    there = {key for key in keys() if key.startswith("chunks/")}
    assert len(there) == max(0, uploads - 1) // 5
    another_machine("second")

    log = tmp_path / "second.log"

    def on_the_second(spec: CampaignSpec, variant: str, index: int) -> Any:
        """Said by itself: a task of the first driver may be at its last run yet."""
        with log.open("a") as file:
            file.write(f"{variant} {index}\n")
        return simulate(spec, variant, index)

    told = io.StringIO()
    again = run(small, on_the_second, told, master=master)

    assert (again.status, again.runs, again.expected) == ("finished", 12, 12)
    assert len(log.read_text().splitlines()) == 12 - 2 * len(there)
    assert "damaged" not in told.getvalue()
    assert len(tables(spark, again.folder)["runs"]) == 12
    assert len(keys()) == 1 + 6 * 5


def test_what_was_finished_and_not_uploaded_is_uploaded_and_not_run_again(
    small: CampaignSpec,
    counted: tuple[Callable[..., Any], Callable[[], list[str]]],
    another_machine: Callable[[str], None],
) -> None:
    simulate, runs = counted
    run(small, simulate)
    store = ObjectStore(StorePlace.of(URI))
    for key in keys():
        if "chunk-00001" in key:
            store.delete(key)
    store.write(f"ops/campaign=demo/variant={OLD}/chunk-00000.parquet", b"cut off")
    runs()

    run(small, simulate)
    another_machine("second")

    assert runs() == []
    assert fetch(StorePlace.of(URI)).chunks == 6


def test_a_store_that_has_lost_everything_gets_it_again(
    small: CampaignSpec,
    counted: tuple[Callable[..., Any], Callable[[], list[str]]],
) -> None:
    simulate, runs = counted
    run(small, simulate)
    before = keys()
    store = ObjectStore(StorePlace.of(URI))
    for key in before:
        store.delete(key)
    runs()

    run(small, simulate)

    assert runs() == []
    assert keys() == before


def test_what_is_damaged_in_the_store_is_noticed_and_done_again(
    spark: SparkSession,
    small: CampaignSpec,
    counted: tuple[Callable[..., Any], Callable[[], list[str]]],
    another_machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulate, runs = counted
    first = run(small, simulate)
    whole = tables(spark, first.folder)
    store = ObjectStore(StorePlace.of(URI))
    bad = f"runs/campaign=demo/variant={OLD}/chunk-00001.parquet"
    store.write(bad, bytes(keys()[bad]))
    store.delete("trace/campaign=demo/variant=kafka-2.1%2Bno-fetch-fence/chunk-00000.parquet")
    store.write(f"chunks/campaign=demo/variant={OLD}/chunk-00002.json", b"{")
    another_machine("second")
    runs()

    code, _, error = typed(monkeypatch, "runs", URI)
    assert code == 254
    assert "is damaged (chunk 1 of kafka-0.10: its file of `runs` has other bytes, and 2 more)" in error
    told = io.StringIO()
    again = run(small, simulate, told)

    words = [line for line in told.getvalue().splitlines() if "damaged" in line]
    assert sorted(words) == [
        f"chunk 0 of {NEW}: its file of `trace` is missing: damaged, will be redone.",
        "chunk 1 of kafka-0.10: its file of `runs` has other bytes: damaged, will be redone.",
        "chunk 2 of kafka-0.10: its record cannot be read: damaged, will be redone.",
    ]
    assert runs() == [f"{OLD} 2", f"{OLD} 3", f"{OLD} 4", f"{OLD} 5", f"{NEW} 0", f"{NEW} 1"]
    assert again == first
    assert tables(spark, again.folder) == whole
    another_machine("third")
    assert tables(spark, fetch(StorePlace.of(URI)).folder) == whole


def test_a_damaged_working_copy_is_mended_from_the_store(
    small: CampaignSpec, counted: tuple[Callable[..., Any], Callable[[], list[str]]]
) -> None:
    simulate, runs = counted
    folder = run(small, simulate).folder
    path = folder / f"runs/campaign=demo/variant={OLD}/chunk-00001.parquet"
    before = path.read_bytes()
    path.write_bytes(bytes(len(before)))
    runs()

    told = io.StringIO()
    run(small, simulate, told)

    assert runs() == []
    assert path.read_bytes() == before
    assert "damaged" not in told.getvalue()


def test_a_campaign_grows_elsewhere_and_another_takes_its_place(
    small: CampaignSpec,
    counted: tuple[Callable[..., Any], Callable[[], list[str]]],
    another_machine: Callable[[str], None],
) -> None:
    simulate, runs = counted
    run(small, simulate)
    another_machine("second")
    runs()
    run(replace(small, plans=8), simulate)
    assert runs() == [f"{OLD} 6", f"{OLD} 7", f"{NEW} 6", f"{NEW} 7"]

    another_machine("first")
    assert run(replace(small, plans=8), simulate).runs == 16
    assert runs() == []

    run(replace(small, seed=8, plans=2), simulate, fresh=True)
    another_machine("second")
    assert fetch(StorePlace.of(URI)).chunks == 2
    manifest = Manifest.read(StorePlace.of(URI).working_copy())
    assert manifest is not None
    assert (manifest.spec.seed, manifest.spec.plans) == (8, 2)
    assert len(keys()) == 1 + 2 * 5


def test_what_cannot_be_had_again_is_not_deleted_by_fresh(small: CampaignSpec, simulate: Callable[..., Any]) -> None:
    run(small, simulate)
    store = ObjectStore(StorePlace.of(URI))
    manifest = Manifest.of(store.read("manifest.json") or b"", URI)
    store.write("manifest.json", replace(manifest, spec=replace(small, world="docker")).content())
    before = keys()

    with pytest.raises(CampaignRefusedError, match="holds runs that cannot be had again"):
        run(small, simulate, fresh=True)
    assert keys() == before


def test_runs_that_raised_are_tried_again_in_both_places(
    small: CampaignSpec, simulate: Callable[..., Any], another_machine: Callable[[str], None]
) -> None:
    def mended(spec: CampaignSpec, variant: str, index: int) -> Any:
        return simulate(spec, OLD, index)

    assert run(small, simulate).errors == 1
    another_machine("second")
    assert run(small, mended, retry_errors=True).errors == 0
    another_machine("first")
    assert run(small, simulate).errors == 0


def test_two_drivers_at_once_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, another_machine: Callable[[str], None]
) -> None:
    place = StorePlace.of(URI)
    monkeypatch.setattr(
        store_driver, "WRITTEN_EVERY_S", 3600
    )  # else it might write between the other's word and its look
    first = StoredCampaign(place)
    with first.driving(tmp_path / "first"):
        with (
            pytest.raises(
                StoreError,
                match=r"Another driver works on s3://campaigns/of/demo \(process \d+ on .+, heard of \d+ s ago\)",
            ),
            StoredCampaign(place).driving(tmp_path / "second"),
        ):
            pass
        monkeypatch.setattr(store_driver, "DEAD_AFTER_S", -1)
        with StoredCampaign(place).driving(tmp_path / "second"):
            assert first._driver is not None
            monkeypatch.setattr(store_driver, "WRITTEN_EVERY_S", 0.01)
            first._driver._go_on()  # ends when it sees the other one
            with pytest.raises(StoreError, match=r"has taken s3://campaigns/of/demo"):
                first.keep_pages(write_page(tmp_path))
    assert keys() == {}


def test_a_driver_that_was_killed_is_followed_at_once_by_one_of_the_same_working_copy(tmp_path: Path) -> None:
    place = StorePlace.of(URI)
    killed = StoredCampaign(place).driving(tmp_path)
    killed._write()

    with StoredCampaign(place).driving(tmp_path):
        assert set(keys()) == {".driver.json"}
    assert keys() == {}


def write_page(folder: Path) -> Path:
    pages = folder / "pages"
    pages.mkdir()
    (pages / "report.html").write_text("<title>")
    (pages / ".hidden").write_text("")
    return pages


def test_pages_are_uploaded_as_what_they_are(server: MotoServer, tmp_path: Path) -> None:
    StoredCampaign(StorePlace.of(URI)).keep_pages(write_page(tmp_path))

    asked = "answer['type'] = s3.head_object(Bucket='campaigns', Key='of/demo/report.html')['ContentType']"
    assert server.ask(asked) == {"type": "text/html"}
    assert set(keys()) == {"report.html"}


def test_commands_read_from_the_store(
    small: CampaignSpec,
    simulate: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    another_machine: Callable[[str], None],
) -> None:
    run(small, simulate)
    another_machine("second")

    code, out, _ = typed(monkeypatch, "list", "s3a://campaigns", "--json")
    assert (code, json.loads(out)["folder"], json.loads(out)["runs"]) == (0, URI, 12)
    assert not list(StorePlace.of(URI).working_copy().rglob("*.parquet"))  # records say so
    code, out, error = typed(monkeypatch, "runs", URI, "--json")
    assert [(json.loads(line)["variant"], json.loads(line)["plan"]) for line in out.splitlines()] == [
        (OLD, 0),
        (OLD, 4),
        (NEW, 4),
    ]
    assert "Finished chunks fetched from s3://campaigns/of/demo: 6." in error
    code, out, _ = typed(monkeypatch, "sql", URI, "SELECT count(*) AS runs FROM trace", "--json")
    assert (code, json.loads(out)) == (0, {"runs": 6})


def test_a_reader_waits_for_another_that_fetches(
    small: CampaignSpec,
    simulate: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    another_machine: Callable[[str], None],
) -> None:
    run(small, simulate)
    another_machine("second")
    second = []

    def meanwhile(*of: Any, **how: Any) -> Any:
        monkeypatch.setattr("tidemark.pipeline.store.working_copy.exchange", exchange)
        thread = Thread(target=lambda: second.append(fetch(StorePlace.of(URI))))
        thread.start()
        thread.join(1.0)  # it has not come back, and cannot yet
        assert second == []
        threads.append(thread)
        return exchange(*of, **how)

    threads: list[Thread] = []
    monkeypatch.setattr("tidemark.pipeline.store.working_copy.exchange", meanwhile)
    first = fetch(StorePlace.of(URI))
    threads[0].join(60)

    assert (first.chunks, second[0].chunks) == (6, 0)


def test_a_campaign_that_was_deleted_from_the_store_is_not_read_from_a_working_copy(
    small: CampaignSpec, simulate: Callable[..., Any]
) -> None:
    run(small, simulate)
    store = ObjectStore(StorePlace.of(URI))
    for key in keys():
        store.delete(key)

    with pytest.raises(StoreError, match=f"There is no campaign in {URI} any more"):
        fetch(StorePlace.of(URI))
    assert run(small, simulate).status == "finished"
    assert fetch(StorePlace.of(URI)).damaged == ()


def of_reader(server: MotoServer) -> dict[str, str]:
    policy = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": "*"}],
        }
    )
    return server.ask(
        "iam.create_user(UserName='reader')\n"
        "iam.put_user_policy(UserName='reader', PolicyName='reads', PolicyDocument=names['policy'])\n"
        "key = iam.create_access_key(UserName='reader')['AccessKey']\n"
        "answer = {'AWS_ACCESS_KEY_ID': key['AccessKeyId'], 'AWS_SECRET_ACCESS_KEY': key['SecretAccessKey']}",
        policy=policy,
    )


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("no bucket", "has no bucket others: make it first, or name another."),
        ("wrong endpoint", "s3://campaigns/x cannot be reached at http://127.0.0.1:1 (Failed to connect"),
        (
            "no credentials",
            "and no credentials are set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.",
        ),
        (
            "unknown key",
            "(The AWS Access Key Id you provided does not exist in our records): the credentials must be right",
        ),
        ("wrong secret", "(The request signature we calculated does not match the signature you provided"),
        pytest.param(
            "only reads", "does not let us write to s3://campaigns/x (Access Denied)", marks=pytest.mark.systems
        ),
    ],
)
def test_a_store_that_cannot_be_used_is_told_in_a_sentence_before_anything_runs(
    what: str, sentence: str, server: MotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = of_reader(server)
    server.let_in("0")
    match what:
        case "wrong endpoint":
            monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        case "no bucket":
            server.let_in("inf")
        case "no credentials":
            monkeypatch.delenv("AWS_ACCESS_KEY_ID")
            monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        case "wrong secret":
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", reader["AWS_ACCESS_KEY_ID"])
        case "only reads":
            for name, value in reader.items():
                monkeypatch.setenv(name, value)
    address = "s3://others/x" if what == "no bucket" else "s3://campaigns/x"

    code, out, error = typed(monkeypatch, "compare", "--plans", "2", "--out", address)

    assert (code, out) == (254, "")
    assert sentence in error
    assert len(error.strip().splitlines()) == 1
