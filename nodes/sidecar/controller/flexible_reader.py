"""Reads the fields of a message in Kafka's flexible format, one after the other (KIP-482)."""

from __future__ import annotations

from struct import Struct
from uuid import UUID

_INT8, _INT16, _INT32, _INT64 = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q")


class FlexibleReader:
    """A place in some bytes. Every method reads one field and moves on; ``LookupError`` or ``struct.error`` if there is none."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _number(self, shape: Struct) -> int:
        (number,) = shape.unpack_from(self._data, self._at)
        self._at += shape.size
        return int(number)

    def int8(self) -> int:
        """One byte, signed."""
        return self._number(_INT8)

    def int16(self) -> int:
        """Two bytes, signed."""
        return self._number(_INT16)

    def int32(self) -> int:
        """Four bytes, signed."""
        return self._number(_INT32)

    def int64(self) -> int:
        """Eight bytes, signed."""
        return self._number(_INT64)

    def boolean(self) -> bool:
        """One byte."""
        return bool(self._number(_INT8))

    def uuid(self) -> UUID:
        """Sixteen bytes."""
        return UUID(bytes=self._bytes(16))

    def unsigned(self) -> int:
        """A number in base 128, lowest digit first."""
        number = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def text(self) -> str | None:
        """A compact text, or none."""
        length = self.unsigned() - 1
        return None if length < 0 else self._bytes(length).decode()

    def count(self) -> int:
        """How many entries a compact list has; −1 if there is no list."""
        return self.unsigned() - 1

    def numbers(self) -> tuple[int, ...]:
        """A compact list of four-byte numbers; none is an empty one."""
        return tuple(self.int32() for _ in range(self.count()))

    def tagged(self) -> dict[int, FlexibleReader]:
        """The tagged fields, which end every structure, each with a reader of its own."""
        return {self.unsigned(): FlexibleReader(self._bytes(self.unsigned())) for _ in range(self.unsigned())}

    def _bytes(self, length: int) -> bytes:
        found = self._data[self._at : self._at + length]
        if len(found) < length:
            raise IndexError("the field is cut off")
        self._at += length
        return found
