-- Change items, operations and wakes: made anew like all in entities.sql, and after it.

DELETE FROM change_items WHERE set_id IN (FROM touched_sets);
INSERT INTO change_items
WITH proposed AS (
    SELECT entity AS set_id, d.item, occurred_at, d
    FROM (
        SELECT *, json_transform(data, '{"item": "INTEGER", "tool": "VARCHAR",
            "arguments": {"text": "VARCHAR", "payload": "VARCHAR"}, "summary": "VARCHAR",
            "fingerprint": "VARCHAR", "touches": ["VARCHAR"]}') AS d
        FROM live WHERE tag = 'changes.item_proposed.1'
    )
), opened AS (
    SELECT entity AS set_id, occurred_at, d
    FROM (
        SELECT *, json_transform(data, '{"agent": "VARCHAR", "task": "VARCHAR",
            "runKey": "VARCHAR", "expiresAt": "TIMESTAMP"}') AS d
        FROM live WHERE tag = 'changes.opened.1'
    )
), undone AS (
    SELECT set_id, item, confirmation, min(place(n, replica, row_n)) AS since FROM verdicts
    WHERE verdict = 'undone' AND set_id IN (FROM touched_sets) GROUP BY ALL
), told AS (  -- but for undos that were refused
    SELECT *, max(confirmation) OVER (PARTITION BY set_id, item
        ORDER BY place(n, replica, row_n)) AS newest
    FROM verdicts WHERE verdict != 'undo_refused' AND set_id IN (FROM touched_sets)
), standing AS (  -- an undo ends the confirmation that it names, whenever that is told
    SELECT v.* FROM told v LEFT JOIN undone u ON u.set_id = v.set_id AND u.item = v.item
        AND u.confirmation = v.confirmation
    WHERE CASE WHEN v.verdict = 'undone' THEN v.confirmation = v.newest
        WHEN v.verdict IN ('confirming', 'confirmed', 'failed')
            AND place(v.n, v.replica, v.row_n) > u.since THEN v.verdict = 'confirmed'
            AND v.operation IS NOT NULL
        ELSE true END
), decided AS (
    SELECT set_id, item, arg_max(v, place(n, replica, row_n)) AS last,
        arg_max(v, place(n, replica, row_n)) FILTER (verdict IN ('confirming', 'rejected', 'deferred',
            'retracted', 'expired')) AS choice,
        coalesce(max(confirmation), 0) AS confirmations,
        count(*) FILTER (verdict = 'failed') AS failures,
        arg_max(code, place(n, replica, row_n)) FILTER (verdict = 'failed') AS failure_code
    FROM standing v GROUP BY set_id, item
)
SELECT p.set_id, p.item, o.d.agent, o.d.task, o.d.runKey, p.occurred_at, o.occurred_at,
    o.d.expiresAt, p.d.tool, said(p.d.arguments), p.d.summary, p.d.fingerprint,
    coalesce(p.d.touches, []),
    CASE WHEN v.last.verdict IN ('failed', 'reopened', 'undone') THEN 'pending'
        ELSE coalesce(v.last.verdict, 'pending') END,
    CASE WHEN v.last.verdict NOT IN ('failed', 'reopened', 'undone') THEN v.choice.occurred_at END,
    CASE WHEN v.last.verdict NOT IN ('failed', 'reopened', 'undone') THEN v.choice.decided_by END,
    CASE WHEN v.last.verdict NOT IN ('failed', 'reopened', 'undone') THEN nullif(v.choice.reason, '') END,
    coalesce(v.choice.is_edited AND v.last.verdict NOT IN ('failed', 'reopened', 'undone'), false),
    coalesce(v.confirmations, 0), coalesce(v.failures, 0), v.failure_code,
    CASE v.last.verdict WHEN 'confirmed' THEN v.last.journal_n END
FROM proposed p LEFT JOIN opened o USING (set_id)
LEFT JOIN decided v ON v.set_id = p.set_id AND v.item = p.item;

DELETE FROM operations
WHERE (owner_kind, owner) IN (SELECT (kind, entity) FROM touched);
INSERT INTO operations
WITH asked AS (
    SELECT d.operation AS operation, kind AS owner_kind, entity AS owner,
        any_value(d.item) AS item,
        any_value(CASE tag WHEN 'changes.suppression_asked.1' THEN 'suppress_label'
            WHEN 'changes.lift_asked.1' THEN 'lift_suppression'
            WHEN 'changes.undo_asked.1' THEN 'undo' ELSE d.tool END) AS tool,
        max(d.attempt) AS attempts, min(occurred_at) AS asked_at,
        arg_min({'n': n, 'row_n': row_n}, place(n, replica, row_n)) AS asked_place,
        any_value(replica) AS replica
    FROM (
        SELECT *, json_transform(data, '{"operation": "VARCHAR", "item": "INTEGER",
            "tool": "VARCHAR", "attempt": "INTEGER", "actionType": "VARCHAR"}') AS d
        FROM live WHERE tag IN ('wake.tool_asked.1', 'changes.item_confirming.1',
            'changes.suppression_asked.1', 'changes.lift_asked.1', 'changes.undo_asked.1')
    ) WHERE d.actionType IS DISTINCT FROM 'read' AND d.operation <> '' GROUP BY ALL
), settled AS (
    SELECT operation, arg_min({'occurred_at': occurred_at, 'outcome': outcome, 'code': code,
        'journal_n': journal_n}, place) AS s
    FROM (
        SELECT coalesce(d.operation, d.reply.operation) AS operation, occurred_at,
            place(n, replica, row_n) AS place, coalesce(d.status, d.reply.status,
                CASE WHEN d.code IS NULL THEN 'success' ELSE 'error' END) AS outcome,
            nullif(coalesce(d.code, d.reply.code), '') AS code,
            coalesce(d.position, d.reply.position) AS journal_n
        FROM (
            SELECT *, json_transform(data, '{"operation": "VARCHAR", "attempt": "INTEGER",
                "status": "VARCHAR", "code": "VARCHAR", "position": "BIGINT",
                "reply": {"kind": "VARCHAR", "operation": "VARCHAR", "status": "VARCHAR",
                    "code": "VARCHAR", "position": "BIGINT"}}') AS d
            FROM live WHERE tag IN ('wake.tool_returned.1', 'wake.late_reply.1',
                'changes.suppression_done.1', 'changes.lift_done.1', 'changes.item_undone.1')
        ) WHERE (tag = 'wake.tool_returned.1' AND d.attempt > 0)
            OR d.reply.kind = 'wake.tool_returned.1'
            OR tag IN ('changes.suppression_done.1', 'changes.lift_done.1',
                'changes.item_undone.1')
        UNION ALL
        SELECT a.operation, v.occurred_at, place(v.n, v.replica, v.row_n),
            CASE v.verdict WHEN 'confirmed' THEN 'success' ELSE 'error' END, v.code, v.journal_n
        FROM verdicts v JOIN verdicts a ON a.set_id = v.set_id AND a.item = v.item
            AND a.confirmation = v.confirmation AND a.verdict = 'confirming'
        WHERE v.verdict IN ('confirmed', 'failed') AND v.set_id IN (FROM touched_sets)
    ) GROUP BY operation
), ended AS (
    SELECT DISTINCT entity AS owner FROM live WHERE tag = 'wake.finished.1'
), effect AS (
    SELECT operation, arg_min(e, n) AS e FROM operation_effects e
    WHERE operation IN (SELECT operation FROM asked) GROUP BY operation
)
SELECT a.operation, a.owner_kind, a.owner, a.item,
    coalesce(a.tool, i.tool), a.attempts, a.asked_at, s.s.occurred_at,
    coalesce(s.s.outcome, CASE WHEN w.owner IS NOT NULL THEN 'in_doubt' END), s.s.code,
    a.asked_place.n, a.asked_place.row_n, a.replica,
    e.e.n, e.e.occurred_at, e.e.status, nullif(e.e.code, '')
FROM asked a LEFT JOIN settled s USING (operation)
LEFT JOIN ended w ON w.owner = a.owner AND a.owner_kind = 'wake'
LEFT JOIN effect e ON e.operation = a.operation
LEFT JOIN change_items i ON i.set_id = a.owner AND i.item = a.item;

DELETE FROM wakes WHERE run_key IN (FROM touched_wakes);
INSERT INTO wakes
WITH queued AS (
    SELECT run_key, any_value(t) FILTER (fate = 'first') AS q, count(*) AS causes,
        arg_max(due_at, place(n, replica, row_n)) AS due_at
    FROM triggers t WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), attended AS (
    SELECT run_key, count(*) FILTER (what = 'wake_backed_off') AS waits,
        any_value(superseded_by) AS superseded_by,
        arg_max(what, place(n, replica, row_n)) AS last
    FROM attention WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), finished AS (
    SELECT entity AS run_key, arg_min(occurred_at, place(n, replica, row_n)) AS ended_at,
        arg_min(d, place(n, replica, row_n)) AS d
    FROM (
        SELECT *, json_transform(data, '{"outcome": "VARCHAR", "stop": "VARCHAR",
            "code": "VARCHAR", "message": "VARCHAR", "isReportMissing": "BOOLEAN"}') AS d
        FROM live WHERE tag = 'wake.finished.1'
    ) GROUP BY entity
), turned AS (
    SELECT run_key, count(answered_at) AS turns FROM turns
    WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), used AS (
    SELECT run_key, known_sum(tokens_in) AS tokens_in, known_sum(tokens_out) AS tokens_out,
        known_sum(tokens_thought) AS tokens_thought, known_sum(tokens_cached) AS tokens_cached,
        known_cost(cost) AS cost
    FROM token_usage WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), waited AS (
    SELECT run_key, sum(date_diff('microsecond', since, ended_at)) AS micros FROM waits
    WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), called AS (
    SELECT run_key, count(returned_at) AS calls, count(*) FILTER (status = 'denied') AS denied,
        count(*) FILTER (status IN ('success', 'partial') AND changed > 0) AS changes
    FROM tool_calls WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), proposed AS (
    SELECT run_key, count(*) AS items FROM change_items
    WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), observed AS (
    SELECT run_key, count(*) AS observations FROM observations
    WHERE run_key IN (FROM touched_wakes) GROUP BY run_key
), retracted AS (
    SELECT entity AS run_key, count(*) AS retractions
    FROM live WHERE tag = 'wake.retraction_staged.1' GROUP BY entity
)
SELECT k.run_key, coalesce(s.replica, q.q.replica), coalesce(s.d.agent, q.q.agent_id),
    coalesce(s.d.task, g.task_id), s.d.thread, coalesce(s.d.reason, q.q.reason), q.q.reason_id,
    CASE WHEN f.d IS NOT NULL THEN 'ended' WHEN a.last = 'wake_backed_off' THEN 'waiting'
        WHEN s.run_key IS NOT NULL THEN 'running' ELSE 'queued' END,
    q.q.occurred_at, q.due_at, q.causes, s.occurred_at, f.ended_at,
    date_diff('microsecond', s.occurred_at, f.ended_at) / 1e6,
    f.d.outcome, nullif(f.d.stop, ''), nullif(f.d.code, ''), nullif(f.d.message, ''),
    nullif(a.superseded_by, ''), s.d.model, nullif(s.d.template, ''), s.d.templateVersion,
    s.d.scaffold, s.d.turnMax,
    CASE WHEN s.run_key IS NOT NULL THEN coalesce(s.d.isFirst, false) END,
    coalesce(s.d.hop, q.q.hop), s.d.journalPosition, s.d.agentPosition,
    coalesce(t.turns, 0), coalesce(c.calls, 0), coalesce(c.denied, 0), coalesce(c.changes, 0),
    coalesce(p.items, 0), coalesce(o.observations, 0), coalesce(x.retractions, 0),
    r.run_key IS NOT NULL, coalesce(f.d.isReportMissing, false), coalesce(a.waits, 0),
    u.tokens_in, u.tokens_out, u.tokens_thought, u.tokens_cached,
    CASE WHEN f.d.outcome = 'completed' THEN r.run_key IS NULL AND p.items IS NULL
        AND o.observations IS NULL AND x.retractions IS NULL AND coalesce(c.changes, 0) = 0 END,
    u.cost, CASE WHEN s.run_key IS NOT NULL THEN coalesce(v.micros, 0) / 1e6 END,
    (date_diff('microsecond', s.occurred_at, f.ended_at) - coalesce(v.micros, 0)) / 1e6
FROM touched_wakes k
LEFT JOIN queued q USING (run_key) LEFT JOIN attended a USING (run_key)
LEFT JOIN started s USING (run_key) LEFT JOIN finished f USING (run_key)
LEFT JOIN turned t USING (run_key) LEFT JOIN called c USING (run_key)
LEFT JOIN used u USING (run_key) LEFT JOIN waited v USING (run_key)
LEFT JOIN proposed p USING (run_key) LEFT JOIN observed o USING (run_key)
LEFT JOIN retracted x USING (run_key) LEFT JOIN reports r USING (run_key)
LEFT JOIN agents g ON g.agent_id = q.q.agent_id
WHERE q.q IS NOT NULL OR s.run_key IS NOT NULL OR f.run_key IS NOT NULL;
