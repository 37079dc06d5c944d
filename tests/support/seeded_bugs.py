"""Bugs put into what clients saw, at random places: for histories that are wrong in every way that checkers know."""

from random import Random

from transactional_log import TransactionalLog


def buggy_history(seed, operations, bugs, **how):
    """The operations of a correct log (`TransactionalLog`, which gets `how`), with about so many bugs in them."""
    random = Random(seed)
    ops = TransactionalLog(seed, **how).play(operations)
    for _ in range(bugs):
        place = random.randrange(len(ops))
        op = ops[place]
        if op.type == "invoke" or not op.value:
            continue
        micros = list(op.value)
        which = random.randrange(len(micros))
        micros[which] = _wrong(micros[which], random)
        ops[place] = op._replace(value=tuple(micros))
    return ops


def _wrong(micro, random):
    if micro[0] == "send":
        _, key, what = micro
        value = what[1] if isinstance(what, tuple) else what
        return ("send", key, (random.randrange(30), value))
    answer = {key: list(records) for key, records in micro[1].items()}
    if not answer:
        return ("poll", {"k0": []})
    key = random.choice(sorted(answer))
    records = answer[key]
    bug = random.choice(("less", "twice", "turned", "phantom", "moved", "elsewhere", "nothing"))
    if bug == "less" and records:
        records.pop(random.randrange(len(records)))
    elif bug == "twice" and records:
        offset, value = random.choice(records)
        records.append((offset + 3, value))
    elif bug == "turned":
        records.reverse()
    elif bug == "phantom":
        records.append((random.randrange(40), random.randint(10**6, 10**7)))
    elif bug == "moved" and records:
        offset, value = records.pop()
        records.append((offset + random.randint(1, 5), value))
    elif bug == "elsewhere":
        answer.setdefault(f"k{random.randrange(3)}", []).extend(records)
    elif bug == "nothing":
        records.clear()
    return ("poll", answer)
