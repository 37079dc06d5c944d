from pathlib import Path

import pytest

from tidemark.pipeline.store.store_place import StoreAddressError, StorePlace


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_both_ways_to_write_an_address_name_one_place() -> None:
    place = StorePlace("bucket", "campaigns/night")

    assert StorePlace.of("s3://bucket/campaigns/night") == place
    assert StorePlace.of("s3a://bucket/campaigns/night/") == place
    assert (place.uri, place.name, place.server) == ("s3://bucket/campaigns/night", "night", "Amazon S3")


def test_server_and_region_stand_in_the_address_or_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "s3://bucket/night?endpoint_override=10.0.0.1:9000&scheme=http&region=eu-north-1"
    assert StorePlace.of(address) == StorePlace("bucket", "night", "http://10.0.0.1:9000", "eu-north-1")
    assert StorePlace.of("s3://bucket/night?endpoint_override=store").endpoint == "https://store"

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert StorePlace.of("s3://bucket/night") == StorePlace("bucket", "night", "http://127.0.0.1:5000", "eu-west-1")
    assert StorePlace.of(address).endpoint == "http://10.0.0.1:9000"


def test_each_place_has_a_working_copy_that_is_called_like_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.pipeline.store.store_place.cache_folder", lambda: Path("/cache"))
    copies = {
        StorePlace.of(f"s3://{address}").working_copy()
        for address in ("a/b/night", "a/night", "b/night", "a/night?endpoint_override=store")
    }

    assert len(copies) == 4
    assert {copy.name for copy in copies} == {"night"}
    assert {copy.parent.parent for copy in copies} == {Path("/cache/stores")}


def test_a_working_copy_has_one_name_whatever_leads_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "disk")
    monkeypatch.setattr("tidemark.pipeline.store.store_place.cache_folder", lambda: tmp_path / "cache")

    assert StorePlace.of("s3://a/night").working_copy().is_relative_to(tmp_path / "disk")


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket",
        "s3:///night",
        "s3://user@bucket/night",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "s3://bucket/50%25",
        "s3://bucket/a#b",
        "s3://bucket/a?scheme=ftp",
        "s3://bucket/a?access_key=x",
        "gs://bucket/a",
        "s3://[bucket]/a",
        "s3://[bucket/a",
    ],
)
def test_what_names_no_place_is_refused(address: str) -> None:
    with pytest.raises(StoreAddressError):
        StorePlace.of(address)


def test_a_list_may_begin_at_the_bucket() -> None:
    assert StorePlace.of("s3://bucket", whole_bucket=True).below("night").uri == "s3://bucket/night"
