"""What is left out of a log that says the same ten thousand times."""

from tidemark.harness.handover.long_logs import ENDS, shortened


def test_of_lines_that_differ_in_numbers_only_the_middle_is_left_out_and_counted():
    same = [f"{number} fetch refused at offset {number}" for number in range(2 * ENDS + 5)]
    log = "\n".join(["begins", *same, "ends", ""])

    short = shortened(log).splitlines()

    assert short[:-1] == ["begins", *same[:ENDS], *same[-ENDS:], "ends"]
    assert short[-1].startswith("[5 lines were left out")


def test_a_log_that_says_many_things_is_as_it_was():
    log = "\n".join(f"{'x' * number} 1" for number in range(2 * ENDS + 5)) + "\n"

    assert shortened(log) == log
