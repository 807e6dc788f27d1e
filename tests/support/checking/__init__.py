"""The laws of DESIGN 2, looked for in the bytes of a home by a stranger to the code.

Plain sqlite3, json and hashlib: nothing here imports wakelog, so what is wrong in its deciders and
folds alike is seen here all the same. `tests.support.checker` is the way in.
"""
