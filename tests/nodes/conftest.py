"""Messages as bytes."""

from io import BytesIO

import pytest

from tidemark.nodes.formats.wire.codec import codec


@pytest.fixture
def body_bytes():
    """What a request or response of an API looks like on the wire."""

    def write(key, version, entity, which="request"):
        out = BytesIO()
        getattr(codec(key, version), f"write_{which}")(out, entity)
        return out.getvalue()

    return write
