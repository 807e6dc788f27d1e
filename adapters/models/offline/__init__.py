"""How the offline model reads what people write: sentences, clauses, lemmas and acts.

    text -> sentences -> clauses -> one module for each act

Acts: `deadline`, `duration`, `state` (waiting, freed, on hold, started), `done`, `todo`, `urgency`.
Their phrases are data, a file for each language (`phrasing`); `clauses` tells polarity and time.
"""
