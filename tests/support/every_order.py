"""Linearizability by definition, for a handful of operations: every order is tried. It shares no code with the checkers."""


def intervals(ops):
    """``(f, asked, answered, begin, end, must)`` of the operations that may have happened; `end` is None if they need not end."""
    found, open_ = [], {}
    for place, op in enumerate(ops):
        if op.type == "invoke":
            open_[op.process] = (op, place)
            continue
        begun, begin = open_.pop(op.process)
        if op.type == "ok":
            found.append((op.f, begun.value, (op.value,), begin, place))
        elif op.type == "info":
            found.append((op.f, begun.value, None, begin, None))
    found += [(begun.f, begun.value, None, begin, None) for begun, begin in open_.values()]
    return found


def final_states(ops, initial, step):
    """All states after legal orders; none if there is no legal order.

    `step(state, f, asked, answered)` gives the state after it in a tuple, or None if that cannot be; `answered` is in a tuple, or
    None if nobody knows.
    """
    states = []

    def go_on(state, left):
        if all(call[4] is None for call in left) and state not in states:
            states.append(state)
        for place, (f, asked, answered, begin, _) in enumerate(left):
            others = left[:place] + left[place + 1 :]
            if all(other[4] is None or begin < other[4] for other in others):
                after = step(state, f, asked, answered)
                if after is not None:
                    go_on(after[0], others)

    go_on(initial, intervals(ops))
    return states


def register(state, f, asked, answered):
    """A register with compare-and-set."""
    if f == "read":
        return (state,) if answered is None or answered[0] == state else None
    if f == "write":
        return (asked,)
    if answered is not None and len(answered[0]) == 3:
        return (state,) if state != asked[0] else None
    return (asked[1],) if state == asked[0] else None


def text(state, f, asked, answered):
    """A string that is put, appended to and got, behind one key."""
    if f == "get":
        return (state,) if answered is None or answered[0][1] == state else None
    return (asked[1],) if f == "put" else ((state or "") + asked[1],)


def log(state, f, asked, answered):
    """A log behind one key; its state is a list."""
    if f == "read":
        return (state,) if answered is None or answered[0][1] == state else None
    if answered is not None and len(answered[0]) == 3 and answered[0][2] != len(state):
        return None
    return ([*state, asked[1]],)
