"""The analytics counted once more, from the raw rows of both logs, by a stranger to the code.

Plain Python over what `tests.support.checking.logs` reads with sqlite3 and json: nothing of the
product's projections and none of its SQL is used. What a column means is told by
`projections/analytics/README.md`; here each meaning is written down a second time.
"""
