"""``python -m bench.mutants``."""

import sys

from bench.mutants import main

main(*sys.argv[1:])
