"""Every line of the registry has a name and a sentence, and something that finds it."""

from collections import Counter

from tidemark.checkers.registry import OF_REPLICAS, all_checkers


def test_each_anomaly_is_in_one_line():
    names = Counter(name for checker in all_checkers() for name in checker.meanings)

    assert {name for name, times in names.items() if times > 1} == set()


def test_each_line_has_something_that_finds():
    assert all(checker.meanings for checker in all_checkers())
    assert all((checker.listen is None) != (checker.find is None) for checker in OF_REPLICAS)
