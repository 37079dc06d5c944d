"""EDN, the notation in which Jepsen writes histories: its forms, a reader that streams, a writer, and the operations in a file.

Source: https://github.com/edn-format/edn, and what Clojure prints beyond it (``##NaN``, hexadecimal, metadata, records as
``#jepsen.history.Op{…}``).
"""
