-- What caused a row, beyond the first row of its own append, which every row has as a cause.

INSERT INTO caused_by  -- a reply answers its intent
SELECT f.log, f.replica, f.n, f.row_n, a.log, a.replica, a.n, a.row_n, 'answers the model request'
FROM (
    SELECT *, json_transform(data, '{"turn": "INTEGER", "attempt": "INTEGER"}') AS d
    FROM fresh WHERE tag IN ('wake.model_answered.1', 'wake.model_failed.1')
) f JOIN (
    SELECT *, json_transform(data, '{"turn": "INTEGER", "attempt": "INTEGER"}') AS d
    FROM live WHERE tag = 'wake.model_asked.1'
) a ON a.stream = f.stream AND a.d.turn = f.d.turn AND a.d.attempt = f.d.attempt;

INSERT INTO caused_by
SELECT f.log, f.replica, f.n, f.row_n, a.log, a.replica, a.n, a.row_n, 'answers the tool request'
FROM (
    SELECT *, json_transform(data, '{"operation": "VARCHAR", "attempt": "INTEGER"}') AS d
    FROM fresh WHERE tag = 'wake.tool_returned.1'
) f JOIN (
    SELECT *, json_transform(data, '{"operation": "VARCHAR", "attempt": "INTEGER"}') AS d
    FROM live WHERE tag = 'wake.tool_asked.1'
) a ON a.stream = f.stream AND a.d.operation = f.d.operation AND a.d.attempt = f.d.attempt;

INSERT INTO caused_by  -- a wake begins because it was queued, each time with all its triggers
SELECT DISTINCT f.log, f.replica, f.n, 0, 'agent', t.replica, t.n, t.row_n,
    CASE t.fate WHEN 'first' THEN 'was queued' ELSE 'was merged into it' END
FROM fresh f JOIN triggers t ON t.run_key = f.entity
WHERE f.tag = 'wake.started.1';

INSERT INTO caused_by  -- a command goes on with a wake that has begun
SELECT c.log, c.replica, c.n, 0, 'agent', s.replica, s.n, s.row_n, 'goes on with the wake'
FROM causes c JOIN fresh f ON f.log = c.log AND f.replica = c.replica AND f.n = c.n
JOIN started s ON s.run_key = c.about
WHERE f.row_n = 0 AND c.what IN ('retake_wake', 'stop_wake', 'defer_wake');

INSERT INTO caused_by  -- a trigger notices a change of the journal
SELECT 'agent', t.replica, t.n, t.row_n, 'journal', t.journal_replica, t.journal_n, 0,
    'noticed the change'
FROM triggers t JOIN fresh f
    ON f.log = 'agent' AND f.replica = t.replica AND f.n = t.n AND f.row_n = t.row_n
WHERE t.journal_n IS NOT NULL;

INSERT INTO caused_by  -- a request comes of what a wake asked
SELECT 'agent', t.replica, t.n, t.row_n, 'agent', r.replica, r.n, r.row_n, 'hands on the request'
FROM triggers t JOIN fresh f
    ON f.log = 'agent' AND f.replica = t.replica AND f.n = t.n AND f.row_n = t.row_n
JOIN requests r ON r.run_key = t.reason_id AND r.asked_agent_id = t.agent_id
WHERE t.reason = 'request';

INSERT INTO caused_by  -- an operation is applied because it was intended
SELECT 'journal', e.replica, e.n, 0, 'agent', o.replica, o.asked_n, o.asked_row_n,
    'applies the operation'
FROM operations o JOIN operation_effects e USING (operation)
WHERE (o.owner_kind, o.owner) IN (SELECT (kind, entity) FROM touched)
    AND ('journal', e.replica, e.n, 0) NOT IN (
        SELECT (log, replica, n, row_n) FROM caused_by WHERE why = 'applies the operation');

INSERT INTO caused_by  -- a verdict is about a proposal
SELECT f.log, f.replica, f.n, f.row_n, p.log, p.replica, p.n, p.row_n, 'decides the proposal'
FROM (
    SELECT *, (data->>'item')::INTEGER AS item FROM fresh WHERE tag IN (
        'changes.item_confirming.1', 'changes.item_rejected.1', 'changes.item_deferred.1',
        'changes.item_retracted.1', 'changes.item_expired.1', 'changes.item_reopened.1')
) f JOIN (
    SELECT *, (data->>'item')::INTEGER AS item FROM live WHERE tag = 'changes.item_proposed.1'
) p ON p.kind = f.kind AND p.entity = f.entity AND p.item = f.item;

INSERT INTO caused_by  -- an undo is about a confirmation
SELECT f.log, f.replica, f.n, f.row_n, 'agent', a.replica, a.n, a.row_n,
    'takes the confirmation back'
FROM (
    SELECT *, json_transform(data, '{"item": "INTEGER", "undoes": "VARCHAR"}') AS d
    FROM fresh WHERE tag IN ('changes.undo_asked.1', 'changes.item_undone.1')
) f JOIN verdicts a ON a.set_id = f.entity AND a.item = f.d.item
    AND a.operation = f.d.undoes AND a.verdict = 'confirming';

INSERT INTO caused_by  -- an outcome answers the confirmation
SELECT 'agent', v.replica, v.n, v.row_n, 'agent', a.replica, a.n, a.row_n,
    'answers the confirmation'
FROM verdicts v JOIN fresh f
    ON f.log = 'agent' AND f.replica = v.replica AND f.n = v.n AND f.row_n = v.row_n
JOIN verdicts a ON a.set_id = v.set_id AND a.item = v.item
    AND a.confirmation = v.confirmation AND a.verdict = 'confirming'
WHERE v.verdict IN ('confirmed', 'failed');
