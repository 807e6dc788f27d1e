"""How the offline model reads English and German: sentences, clauses, lemmas and acts.

    text -> sentences -> clauses -> one module for each act

Acts: `deadline`, `duration`, `state` (waiting, freed, on hold, started), `done`, `todo`, `urgency`.
Each has the phrases of both languages in tables; `clauses` tells polarity, time and actor.
"""
