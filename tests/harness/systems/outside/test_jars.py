"""Jars of a system's image: fetched in a stage of their own, compared, and taken from there."""

from tidemark.harness.systems.outside.jars import stage_of_jars, taken_from_stage
from tidemark.harness.systems.outside.real_system import Jar

JARS = {"/opt/b.jar": Jar("g:b:2", ""), "/opt/a.jar": Jar("g:a:1", "ab" * 32)}


def test_without_jars_there_is_no_stage():
    assert (stage_of_jars({}), taken_from_stage({})) == (([], []), [])


def test_each_is_fetched_and_compared_where_its_content_is_known():
    files, lines = stage_of_jars(JARS)
    a, b = lines[-2:]

    assert [name for name, _ in files] == ["trust-certificates", "certificates.pem"]
    assert lines[0] == "FROM ${BELOW} AS jars"
    assert "-Dartifact=g:a:1 -DoutputDirectory=/opt/jars/0" in a
    assert f"'{'ab' * 32}  /opt/jars/0/a-1.jar' | sha256sum --check" in a
    assert "-Dartifact=g:b:2 -DoutputDirectory=/opt/jars/1" in b
    assert "sha256sum" not in b


def test_they_are_put_where_they_are_wanted():
    assert taken_from_stage(JARS) == [
        'COPY --from=jars ["/opt/jars/0/a-1.jar", "/opt/a.jar"]',
        'COPY --from=jars ["/opt/jars/1/b-2.jar", "/opt/b.jar"]',
    ]
