"""Transactions of keys: lists to which elements are appended, and registers, judged by what transactions read. After Elle.

`columns` takes a history apart; `lists` and `registers` say which version came after which, and what is wrong with versions by
themselves, with `writers` and `internal`; `dependencies`, `suspects`, `cycles` and `search` find who came before whom in a circle;
`consistency` says which models forbid that; `words` tells it, and `check` judges.
"""
