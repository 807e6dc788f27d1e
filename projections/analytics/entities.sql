-- What is one row for each entity: all rows of the touched ones are made anew, from `live`, the
-- whole streams of those entities. So a rebuild and any sequence of refreshes agree.

CREATE OR REPLACE TEMP TABLE started AS  -- of a wake that two replicas ran, the first one's
SELECT entity AS run_key, replica, n, row_n, occurred_at, d
FROM (
    SELECT *, json_transform(data, '{"agent": "VARCHAR", "task": "VARCHAR",
        "reason": "VARCHAR", "thread": "VARCHAR", "model": "VARCHAR", "scaffold": "INTEGER",
        "turnMax": "INTEGER", "journalPosition": "BIGINT", "agentPosition": "BIGINT",
        "isFirst": "BOOLEAN", "template": "VARCHAR", "templateVersion": "INTEGER",
        "hop": "INTEGER"}') AS d
    FROM live WHERE tag = 'wake.started.1'
) QUALIFY row_number() OVER (PARTITION BY entity ORDER BY place(n, replica, row_n)) = 1;

UPDATE token_usage u SET cost = c.cost  -- at the price that holds then
FROM (
    SELECT u.replica, u.n, u.row_n, arg_max(cost_of(u.tokens_in, u.tokens_out, u.tokens_thought,
        u.tokens_cached, p.input_micros, p.output_micros, p.cached_micros), p.since) AS cost
    FROM token_usage u JOIN started s USING (run_key)
    JOIN (SELECT * REPLACE (coalesce(since, DATE '0001-01-01') AS since) FROM prices) p
        ON p.model = s.d.model AND p.since <= u.occurred_at::DATE
    GROUP BY ALL
) c WHERE u.replica = c.replica AND u.n = c.n AND u.row_n = c.row_n;

DELETE FROM turns WHERE run_key IN (FROM touched_wakes);
INSERT INTO turns
WITH used AS (
    SELECT run_key, turn, known_sum(tokens_in) AS tokens_in, known_sum(tokens_out) AS tokens_out,
        known_sum(tokens_thought) AS tokens_thought, known_sum(tokens_cached) AS tokens_cached,
        known_cost(cost) AS cost
    FROM token_usage WHERE run_key IN (FROM touched_wakes) GROUP BY run_key, turn
), said_of AS (
    SELECT *, json_transform(data, '{"turn": "INTEGER", "forced": "VARCHAR", "reply": "VARCHAR",
        "calls": "JSON", "code": "VARCHAR",
        "text": {"text": "VARCHAR", "payload": "VARCHAR"}}') AS d,
        lead(CASE tag WHEN 'wake.deferred.1' THEN data->>'reason'
                WHEN 'wake.finished.1' THEN data->>'code' END)
            OVER (PARTITION BY replica, entity ORDER BY n, row_n) AS stopped_by
    FROM live
    WHERE tag IN ('wake.model_asked.1', 'wake.model_answered.1', 'wake.model_failed.1',
        'wake.deferred.1', 'wake.finished.1')
)
SELECT run_key, turn, asked_at, answered_at,
    date_diff('microsecond', asked_at, answered_at) / 1e6, attempts, failures, failure_code,
    forced, CASE WHEN answered_at IS NOT NULL THEN coalesce(json_array_length(answer.calls), 0) END,
    answer.reply, nullif(said(answer.text), ''),
    u.tokens_in, u.tokens_out, u.tokens_thought, u.tokens_cached, u.cost
FROM (
    SELECT entity AS run_key, d.turn,
        min(occurred_at) FILTER (tag = 'wake.model_asked.1') AS asked_at,
        min(occurred_at) FILTER (tag = 'wake.model_answered.1') AS answered_at,
        count(*) FILTER (tag = 'wake.model_asked.1' AND coalesce(stopped_by, '') NOT IN (
            'budget', 'consent', 'secret', 'unpriced_model', 'switched_off', 'out_of_scope',
            'disallowed_provider_model')) AS attempts,
        count(*) FILTER (tag = 'wake.model_failed.1') AS failures,
        arg_max(d.code, place(n, replica, row_n)) AS failure_code, nullif(max(d.forced), '') AS forced,
        arg_min({'calls': d.calls, 'reply': d.reply, 'text': d.text}, place(n, replica, row_n))
            FILTER (tag = 'wake.model_answered.1') AS answer  -- the first, where machines ran it
    FROM said_of WHERE tag LIKE 'wake.model_%' GROUP BY entity, d.turn
) LEFT JOIN used u USING (run_key, turn);

DELETE FROM waits WHERE run_key IN (FROM touched_wakes);
INSERT INTO waits  -- it ends with the next that is written of its wake
SELECT entity, data->>'reason', occurred_at, ended_at,
    date_diff('microsecond', occurred_at, ended_at) / 1e6
FROM (
    SELECT *, lead(occurred_at) OVER (PARTITION BY replica, entity ORDER BY n, row_n) AS ended_at
    FROM live WHERE kind = 'wake' AND tag != 'wake.late_reply.1'
) WHERE tag = 'wake.deferred.1' AND entity IN (SELECT run_key FROM started);

CREATE OR REPLACE TEMP TABLE tool_rows AS
SELECT entity AS run_key, place(n, replica, row_n) AS place, occurred_at, tag, d
FROM (
    SELECT *, json_transform(data, '{"turn": "INTEGER", "operation": "VARCHAR",
        "attempt": "INTEGER", "callId": "VARCHAR", "tool": "VARCHAR", "status": "VARCHAR",
        "code": "VARCHAR", "message": {"text": "VARCHAR", "payload": "VARCHAR"},
        "arguments": {"text": "VARCHAR", "payload": "VARCHAR"}, "changed": ["VARCHAR"],
        "position": "BIGINT", "actionType": "VARCHAR", "agentPosition": "BIGINT"}') AS d
    FROM live WHERE tag IN ('wake.tool_asked.1', 'wake.tool_returned.1')
);

DELETE FROM tool_calls WHERE run_key IN (FROM touched_wakes);
INSERT INTO tool_calls
WITH called AS (
    SELECT run_key, turn, unnest(calls) AS call, generate_subscripts(calls, 1) AS ordinal
    FROM (
        SELECT entity AS run_key, d.turn, d.calls FROM (
            SELECT entity, json_transform(data, '{"turn": "INTEGER", "calls": [
                {"callId": "VARCHAR", "tool": "VARCHAR", "problem": "VARCHAR",
                 "arguments": {"text": "VARCHAR", "payload": "VARCHAR"}}]}') AS d
            FROM live WHERE tag = 'wake.model_answered.1'
        )
    )
), returned AS (
    SELECT *, row_number() OVER (PARTITION BY run_key, d.turn ORDER BY place) AS ordinal
    FROM tool_rows WHERE tag = 'wake.tool_returned.1'
), asked AS (
    SELECT run_key, d.turn AS turn, d.operation AS operation, min(occurred_at) AS asked_at,
        max(d.attempt) AS attempts, any_value(d.tool) AS tool,
        any_value(d.actionType) AS action_type
    FROM tool_rows WHERE tag = 'wake.tool_asked.1' GROUP BY ALL
), waiting AS (
    SELECT a.*, 1 + (SELECT count(*) FROM returned r
        WHERE r.run_key = a.run_key AND r.d.turn = a.turn) AS ordinal
    FROM asked a ANTI JOIN returned r ON r.run_key = a.run_key AND r.d.operation = a.operation
)
SELECT c.run_key, c.turn, c.ordinal, c.call.callId, c.call.tool,
    coalesce(r.d.tool, w.tool, c.call.tool), said(c.call.arguments),
    nullif(c.call.problem, ''), coalesce(a.operation, w.operation),
    coalesce(a.attempts, w.attempts, 0), coalesce(a.asked_at, w.asked_at), r.occurred_at,
    r.d.status, nullif(r.d.code, ''), CASE WHEN r.d IS NOT NULL THEN said(r.d.message) END,
    coalesce(len(r.d.changed), 0),
    CASE WHEN coalesce(r.d.agentPosition, 0) = 0 THEN r.d.position END,  -- a read has no effect
    coalesce(a.action_type, w.action_type)
FROM called c
LEFT JOIN returned r ON r.run_key = c.run_key AND r.d.turn = c.turn AND r.ordinal = c.ordinal
LEFT JOIN asked a ON a.run_key = c.run_key AND a.operation = r.d.operation
LEFT JOIN waiting w ON w.run_key = c.run_key AND w.turn = c.turn AND w.ordinal = c.ordinal;

DELETE FROM reports WHERE run_key IN (FROM touched_wakes);
INSERT INTO reports
WITH drafted AS (
    SELECT entity AS run_key, max(occurred_at) AS drafted_at,
        arg_max(d, place(n, replica, row_n)) AS d
    FROM (
        SELECT *, json_transform(data, '{"oneLiner": "VARCHAR",
            "content": {"text": "VARCHAR", "payload": "VARCHAR"},
            "tldr": {"text": "VARCHAR", "payload": "VARCHAR"}}') AS d
        FROM live WHERE tag = 'wake.report_drafted.1'
    ) GROUP BY entity
), finished AS (
    SELECT entity AS run_key, min(occurred_at) AS ended_at
    FROM live WHERE tag = 'wake.finished.1' AND data->>'outcome' = 'completed' GROUP BY entity
)
SELECT r.run_key, s.d.agent, s.d.task, r.drafted_at, f.ended_at, r.d.oneLiner, said(r.d.tldr),
    said(r.d.content)
FROM drafted r LEFT JOIN started s USING (run_key) LEFT JOIN finished f USING (run_key);

DELETE FROM requests WHERE run_key IN (FROM touched_wakes);
INSERT INTO requests
SELECT r.replica, r.n, r.row_n, r.occurred_at, r.entity, s.d.agent, r.d.agent, r.d.task, r.d.about
FROM (
    SELECT *, json_transform(data,
        '{"agent": "VARCHAR", "task": "VARCHAR", "about": "VARCHAR"}') AS d
    FROM live WHERE tag = 'wake.request_staged.1'
) r LEFT JOIN started s ON s.run_key = r.entity;

DELETE FROM agents WHERE agent_id IN (SELECT entity FROM touched WHERE kind = 'agent');
INSERT INTO agents
SELECT entity, any_value(d.task), any_value(d.agentKind), any_value(d.generation),
    arg_max(d.name, place(n, replica, row_n)), arg_max(d.mode, place(n, replica, row_n)),
    nullif(arg_max(model, place(n, replica, row_n)), ''),
    nullif(arg_max(template, place(n, replica, row_n)), ''),
    coalesce(arg_max(d.turnMax, place(n, replica, row_n)), 5),
    coalesce(arg_max(is_automatic, place(n, replica, row_n)), true),
    arg_max(lifecycle, place(n, replica, row_n)),
    min(occurred_at) FILTER (tag = 'agent.created.1'),
    coalesce(max(d.position) FILTER (tag = 'agent.created.1'), 0),
    min(occurred_at) FILTER (tag = 'agent.destroyed.1'), bool_or(tag = 'agent.deleted.1'),
    any_value(d.subject)
FROM (
    SELECT *, CASE WHEN tag = 'agent.model_chosen.1' THEN coalesce(d.model, '') END AS model,
        CASE WHEN tag = 'agent.template_assigned.1' THEN coalesce(d.template, '') END AS template,
        CASE WHEN tag = 'agent.automation_set.1' THEN d.isOn END AS is_automatic,
        CASE tag WHEN 'agent.created.1' THEN 'created' WHEN 'agent.activated.1' THEN 'active'
            WHEN 'agent.paused.1' THEN 'dormant' WHEN 'agent.destroyed.1' THEN 'destroyed'
            END AS lifecycle
    FROM (
        SELECT *, json_transform(data, '{"agentKind": "VARCHAR", "task": "VARCHAR",
            "generation": "INTEGER", "name": "VARCHAR", "mode": "VARCHAR", "model": "VARCHAR",
            "turnMax": "INTEGER", "isOn": "BOOLEAN", "position": "BIGINT",
            "template": "VARCHAR", "subject": "VARCHAR"}') AS d
        FROM live WHERE kind = 'agent' AND tag IN ('agent.created.1', 'agent.named.1',
            'agent.mode_set.1', 'agent.model_chosen.1', 'agent.turn_max_set.1',
            'agent.automation_set.1', 'agent.activated.1', 'agent.paused.1',
            'agent.destroyed.1', 'agent.deleted.1', 'agent.template_assigned.1')
    )
) GROUP BY entity;
