"""Plans that are kept for ever: what once went wrong, and what once was taken for wrong, to be played again after every change."""

from tidemark.harness.search.corpus.folder import Corpus
from tidemark.harness.search.corpus.kept_plan import CorpusError, KeptPlan
from tidemark.harness.search.corpus.played_again import Replayed, replay

__all__ = ["Corpus", "CorpusError", "KeptPlan", "Replayed", "replay"]
