-- What is one row of a log each, from the view `fresh`: the events that came in just now.
-- `live` holds whole streams: of a fresh row all rows of its stream, of this replica and others,
-- but for those that do not count: another machine said otherwise, neither knowing of the other, and
-- marks: what was erased (ADR 107) is in `events` and `causes` alone.

CREATE OR REPLACE TEMP MACRO place(n, replica, row_n) AS {'n': n, 'replica': replica, 'row_n': row_n};
CREATE OR REPLACE TEMP MACRO said(words) AS
    CASE WHEN words['payload'] IS NULL THEN coalesce(words['text'], '')
    ELSE (SELECT t.text FROM texts t WHERE t.payload = words['payload']) END;

CREATE OR REPLACE TEMP MACRO known_sum(x) AS CASE WHEN count(x) = count(*) THEN sum(x) END;
CREATE OR REPLACE TEMP MACRO known_cost(x) AS  -- exact: the same in whatever order they come
    known_sum(x::DECIMAL(38, 12))::DOUBLE;

INSERT INTO causes
SELECT log, replica, n, occurred_at,
    CASE WHEN tag = 'erased.1' THEN 'erased' WHEN kind = 'receipt' THEN 'command'
        WHEN kind = 'log' THEN 'log' ELSE 'reply' END,
    coalesce(split_part(d.command.kind, '.', 2), split_part(tag, '.', -2)),
    CASE kind WHEN 'receipt' THEN entity END,
    CASE kind WHEN 'receipt' THEN coalesce(
        d.command.runKey, d.command.changes, d.command.agent, d.command.task, d.result.ids[1])
    WHEN 'log' THEN NULL ELSE entity END,
    rows, d.result.status, d.result.code, d.who
FROM (
    SELECT *, CASE kind WHEN 'receipt' THEN json_transform(data, '{
        "command": {"kind": "VARCHAR", "runKey": "VARCHAR", "changes": "VARCHAR",
                    "agent": "VARCHAR", "task": "VARCHAR"},
        "result": {"ids": ["VARCHAR"], "status": "VARCHAR", "code": "VARCHAR"},
        "who": "VARCHAR"}') END AS d
    FROM fresh WHERE row_n = 0
);

INSERT INTO journal_taken
SELECT replica, n, d.replica, d.first, d.last
FROM (
    SELECT *, json_transform(data,
        '{"replica": "VARCHAR", "first": "BIGINT", "last": "BIGINT"}') AS d
    FROM fresh WHERE tag = 'watch.journal_taken.1'
);

CREATE OR REPLACE TEMP TABLE fresh_triggers AS
SELECT replica, n, row_n, occurred_at, entity, tag, d
FROM (
    SELECT *, json_transform(data, '{
        "runKey": "VARCHAR", "dueAt": "TIMESTAMP", "rule": "VARCHAR",
        "trigger": {"reason": "VARCHAR", "reasonId": "VARCHAR", "replica": "VARCHAR",
            "position": "BIGINT", "change": "VARCHAR", "tokens": ["VARCHAR"],
            "isPropagated": "BOOLEAN", "hop": "INTEGER", "ticks": ["VARCHAR"],
            "turn": "INTEGER", "words": "VARCHAR", "about": "VARCHAR"}}') AS d
    FROM fresh WHERE tag IN (
        'alert.wake_queued.1', 'alert.trigger_merged.1', 'alert.trigger_suppressed.1')
);

INSERT INTO triggers
SELECT m.replica, m.n, m.row_n, m.occurred_at, m.entity,
    concat_ws(' ', m.d.trigger.reason, m.d.trigger.reasonId, m.d.trigger.replica,
        coalesce(m.d.trigger.change, m.d.trigger.ticks[1], m.d.trigger.turn::VARCHAR)),
    CASE m.tag WHEN 'alert.wake_queued.1' THEN 'first'
        WHEN 'alert.trigger_suppressed.1' THEN 'suppressed'
        ELSE CASE WHEN q.run_key IS NULL THEN 'merged' ELSE 'inherited' END END,
    m.d.runKey, m.d.rule, m.d.trigger.reason, m.d.trigger.reasonId,
    CASE WHEN m.d.trigger.position IS NOT NULL THEN m.d.trigger.replica END,
    m.d.trigger.position, coalesce(m.d.trigger.tokens, []),
    coalesce(m.d.trigger.isPropagated, false), coalesce(m.d.trigger.hop, 0),
    coalesce(len(m.d.trigger.ticks), 0), m.d.dueAt, m.d.trigger.words, m.d.trigger.about
FROM fresh_triggers m LEFT JOIN (
    SELECT replica, n, entity, d.runKey AS run_key FROM fresh_triggers
    WHERE tag = 'alert.wake_queued.1' AND d.trigger.reason IN ('manual', 'user')
) q ON m.tag = 'alert.trigger_merged.1' AND q.replica = m.replica AND q.n = m.n
    AND q.entity = m.entity AND q.run_key = m.d.runKey;

INSERT INTO attention
SELECT replica, n, row_n, occurred_at, entity, d.runKey, split_part(tag, '.', 2),
    d.until, coalesce(d.reason, d.code, d.outcome), d.by, coalesce(d.leftOut, 0)
FROM (
    SELECT *, json_transform(data, '{
        "runKey": "VARCHAR", "until": "TIMESTAMP", "reason": "VARCHAR", "code": "VARCHAR",
        "outcome": "VARCHAR", "by": "VARCHAR", "leftOut": "INTEGER"}') AS d
    FROM fresh WHERE tag IN ('alert.wake_begun.1', 'alert.wake_dropped.1',
        'alert.wake_backed_off.1', 'alert.settled.1')
);

INSERT INTO triggers  -- what a superseded wake passed on without a row: it stands at the drop
WITH RECURSIVE passed AS (
    SELECT a.superseded_by AS heir, a.run_key, a.replica, a.n, a.row_n, a.occurred_at
    FROM attention a SEMI JOIN fresh f
        ON f.log = 'agent' AND f.replica = a.replica AND f.n = a.n AND f.row_n = a.row_n
    WHERE a.left_out > 0
    UNION ALL
    SELECT p.heir, a.run_key, p.replica, p.n, p.row_n, p.occurred_at
    FROM passed p JOIN attention a ON a.superseded_by = p.run_key AND a.left_out > 0
)
SELECT p.replica, p.n, p.row_n, p.occurred_at, t.agent_id, t.trigger_id, 'inherited', p.heir,
    NULL, t.reason, t.reason_id, t.journal_replica, t.journal_n, t.tokens, t.is_propagated,
    t.hop, t.ticks, NULL, t.words, t.about
FROM passed p JOIN triggers t USING (run_key)
ANTI JOIN triggers h ON h.run_key = p.heir AND h.trigger_id = t.trigger_id
QUALIFY row_number() OVER (PARTITION BY p.heir, t.trigger_id ORDER BY t.n, t.row_n) = 1
ORDER BY p.n, t.n, t.row_n;

INSERT INTO prompt_sections
SELECT s.run_key, s.part, s.ordinal, s.ref.name, s.ref.payload, t.bytes
FROM (
    SELECT entity AS run_key, part, unnest(refs) AS ref, generate_subscripts(refs, 1) AS ordinal
    FROM (
        SELECT entity, unnest(['system', 'user']) AS part, unnest([d.system, d.user]) AS refs
        FROM (
            SELECT entity, json_transform(data, '{
                "system": [{"name": "VARCHAR", "payload": "VARCHAR"}],
                "user": [{"name": "VARCHAR", "payload": "VARCHAR"}]}') AS d
            FROM fresh WHERE tag = 'wake.started.1'
        )
    )
) s LEFT JOIN texts t ON t.payload = s.ref.payload;

INSERT INTO token_usage  -- what it costs is told once its wake's model is known
SELECT replica, n, row_n, occurred_at, entity, d.turn, d.attempt, is_late, tokens_in, tokens_out,
    CASE WHEN tokens_in + tokens_out IS NULL THEN d.tokensThought
        ELSE coalesce(d.tokensThought, 0) END,
    CASE WHEN tokens_in + tokens_out IS NULL THEN d.tokensCached
        ELSE coalesce(d.tokensCached, 0) END,
    is_failed, NULL
FROM (
    SELECT *, coalesce(d.tokensIn, d.tokensPrompt) AS tokens_in,
        coalesce(d.tokensOut, d.tokensReply) AS tokens_out,
        fact = 'wake.model_failed.1' AS is_failed
    FROM (
        SELECT *, json_transform(reply, '{"turn": "INTEGER", "attempt": "INTEGER",
            "tokensIn": "BIGINT", "tokensOut": "BIGINT", "tokensPrompt": "BIGINT",
            "tokensReply": "BIGINT", "tokensThought": "BIGINT", "tokensCached": "BIGINT"}') AS d
        FROM (
            SELECT *, tag = 'wake.late_reply.1' AS is_late,
                CASE WHEN is_late THEN data->'reply' ELSE data END AS reply,
                CASE WHEN is_late THEN data->'reply'->>'kind' ELSE tag END AS fact
            FROM fresh WHERE tag IN (
                'wake.model_answered.1', 'wake.model_failed.1', 'wake.late_reply.1')
        )
    )
) WHERE fact = 'wake.model_answered.1' OR (is_failed
    AND coalesce(tokens_in, tokens_out, d.tokensThought, d.tokensCached) IS NOT NULL);

INSERT INTO observations
SELECT replica, n, row_n, occurred_at, entity, d.runKey, said(d.words), d.priority, d.category,
    nullif(d.target, '')
FROM (
    SELECT *, json_transform(data, '{"runKey": "VARCHAR",
        "words": {"text": "VARCHAR", "payload": "VARCHAR"}, "priority": "VARCHAR",
        "category": "VARCHAR", "target": "VARCHAR"}') AS d
    FROM fresh WHERE tag = 'agent.observed.1'
);

INSERT INTO receipts
SELECT replica, n, row_n, occurred_at, split_part(split_part(tag, '.', 2), 'receipt_', 2),
    d.model, coalesce(d.categories, []), d.notice, d.sections
FROM (
    SELECT *, json_transform(data, '{"model": "VARCHAR", "categories": ["VARCHAR"],
        "notice": "INTEGER", "sections": ["VARCHAR"]}') AS d
    FROM fresh WHERE tag IN ('policy.receipt_given.1', 'policy.receipt_withdrawn.1')
);

INSERT INTO verdicts
SELECT replica, n, row_n, occurred_at, entity, d.item,
    CASE WHEN tag = 'changes.item_undone.1' AND d.code IS NOT NULL THEN 'undo_refused'
        ELSE split_part(split_part(tag, '.', 2), 'item_', 2) END, d.by, coalesce(d.reason, d.message),
    d.code, d.confirmation, d.operation, d.arguments IS NOT NULL, d.position
FROM (
    SELECT *, json_transform(data, '{"item": "INTEGER", "by": "VARCHAR", "reason": "VARCHAR",
        "message": "VARCHAR", "code": "VARCHAR", "confirmation": "INTEGER",
        "operation": "VARCHAR", "arguments": "JSON", "position": "BIGINT"}') AS d
    FROM fresh WHERE tag LIKE 'changes.item_%' AND tag != 'changes.item_proposed.1'
);

INSERT INTO task_changes
SELECT f.replica, f.n, f.row_n, f.occurred_at, f.entity, split_part(f.tag, '.', 2), d.by,
    split_part(d.by, ':', 1), CASE WHEN d.by LIKE 'agent:%' THEN substr(d.by, 7) END,
    CASE WHEN c.what = 'apply_operation' THEN c.key END,
    coalesce(d.item, d.note, d.entry, d.label, d.target, d.checklist),
    coalesce(d.title, d.status, $task_values, d.category, d.summary, d.relation, d.score,
        nullif(said(coalesce(d.words, d.description)), '')),
    coalesce(d.reason, d.comment)
FROM (
    SELECT *, json_transform(data, '{"by": "VARCHAR", "item": "VARCHAR", "note": "VARCHAR",
        "entry": "VARCHAR", "label": "VARCHAR", "target": "VARCHAR", "checklist": "VARCHAR",
        "title": "VARCHAR", "status": "VARCHAR", $task_types, "category": "VARCHAR",
        "summary": "VARCHAR", "relation": "VARCHAR", "reason": "VARCHAR", "score": "VARCHAR",
        "comment": "VARCHAR", "words": {"text": "VARCHAR", "payload": "VARCHAR"},
        "description": {"text": "VARCHAR", "payload": "VARCHAR"}}') AS d
    FROM fresh WHERE kind = 'task' AND tag != 'erased.1'
) f LEFT JOIN causes c ON c.log = f.log AND c.replica = f.replica AND c.n = f.n;

INSERT INTO operation_effects
SELECT key, replica, n, occurred_at, result_status, result_code
FROM causes SEMI JOIN fresh USING (log, replica, n)
WHERE log = 'journal' AND (what IN ('apply_operation', 'void_operation')
    OR (what = 'undo_deed' AND result_status != ''));  -- a person's own has none
