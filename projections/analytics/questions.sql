-- Questions as views and macros. A view answers for everything; a macro takes what it is about.
-- What each column means is told in README.md.

CREATE MACRO wilson_low(k, n) AS CASE WHEN n > 0 THEN greatest(0.0,
    (k / n + 1.9207294 / n - 1.959963985 * sqrt(k / n * (1 - k / n) / n + 0.9603647 / (n * n)))
    / (1 + 3.8414588 / n)) END;
CREATE MACRO wilson_high(k, n) AS CASE WHEN n > 0 THEN least(1.0,
    (k / n + 1.9207294 / n + 1.959963985 * sqrt(k / n * (1 - k / n) / n + 0.9603647 / (n * n)))
    / (1 + 3.8414588 / n)) END;
CREATE MACRO cost_of(tokens_in, tokens_out, tokens_thought, tokens_cached, input_micros,
    output_micros, cached_micros) AS  -- as `cost` in adapters/home/prices.py, exact
    (tokens_in::HUGEINT * input_micros
        + least(coalesce(tokens_cached, 0), tokens_in)::HUGEINT
            * (coalesce(cached_micros, input_micros) - input_micros)
        + (tokens_out + coalesce(tokens_thought, 0))::HUGEINT * output_micros
    ) / 1e12;
CREATE MACRO day_in(at_utc, zone) AS
    ((at_utc AT TIME ZONE 'UTC') AT TIME ZONE zone)::DATE;

-- ------------------------------------------------------------------------------- templates

CREATE VIEW template_performance AS
WITH ran AS (
    SELECT template_id, count(*) AS total_wakes,
        count(*) FILTER (outcome = 'completed') AS success_count,
        count(*) FILTER (outcome = 'failed') AS failure_count,
        count(*) FILTER (outcome = 'skipped') AS skipped_count,
        count(*) FILTER (outcome IS NULL) AS running_count,
        sum(date_diff('microsecond', started_at, ended_at)) FILTER (duration_seconds > 0)::BIGINT
            / count(*) FILTER (duration_seconds > 0) / 1e6 AS average_duration_seconds,
        min(started_at) AS first_wake_at, max(started_at) AS last_wake_at,
        avg(tokens_in + tokens_out + tokens_thought) AS tokens_per_wake,
        median(duration_seconds) AS median_duration_seconds,
        quantile_cont(duration_seconds, 0.95) AS p95_duration_seconds,
        median(active_seconds) AS median_active_seconds,
        quantile_cont(active_seconds, 0.95) AS p95_active_seconds,
        round(sum(waited_seconds), 6) AS waited_seconds,
        round(sum(cost::DECIMAL(38, 12)) / count(cost), 9) AS cost_per_wake,
        count(*) FILTER (is_noop)
            / nullif(count(*) FILTER (outcome = 'completed'), 0) AS noop_rate
    FROM wakes WHERE started_at IS NOT NULL GROUP BY template_id
), living AS (
    SELECT template_id, count(*) FILTER (lifecycle = 'active' AND NOT is_deleted) AS active
    FROM agents GROUP BY template_id
), decided AS (
    SELECT w.template_id, count(*) FILTER (i.status = 'confirmed') AS confirmed,
        count(*) AS decided,
        median(date_diff('microsecond', i.opened_at, i.decided_at)) / 1e6 AS seconds
    FROM change_items i JOIN wakes w USING (run_key)
    WHERE i.status IN ('confirmed', 'rejected') GROUP BY w.template_id
), known AS (
    SELECT template_id FROM ran UNION SELECT template_id FROM living
    UNION SELECT template_id FROM templates
)
SELECT k.template_id, t.name AS template_name, coalesce(r.total_wakes, 0) AS total_wakes,
    coalesce(r.success_count, 0) AS success_count, coalesce(r.failure_count, 0) AS failure_count,
    coalesce(r.success_count / nullif(r.success_count + r.failure_count, 0), 0.0)
        AS success_rate,
    r.average_duration_seconds, r.first_wake_at, r.last_wake_at,
    coalesce(l.active, 0) AS active_instance_count,
    coalesce(r.skipped_count, 0) AS skipped_count, coalesce(r.running_count, 0) AS running_count,
    coalesce(d.confirmed, 0) AS confirmed_items, coalesce(d.decided, 0) AS decided_items,
    d.confirmed / d.decided AS acceptance_rate,
    d.seconds AS median_seconds_to_decision, r.tokens_per_wake, r.noop_rate,
    r.median_duration_seconds, r.p95_duration_seconds, r.median_active_seconds,
    r.p95_active_seconds, coalesce(r.waited_seconds, 0.0) AS waited_seconds, r.cost_per_wake
FROM known k LEFT JOIN templates t ON t.template_id IS NOT DISTINCT FROM k.template_id
LEFT JOIN ran r ON r.template_id IS NOT DISTINCT FROM k.template_id
LEFT JOIN living l ON l.template_id IS NOT DISTINCT FROM k.template_id
LEFT JOIN decided d ON d.template_id IS NOT DISTINCT FROM k.template_id
ORDER BY total_wakes DESC, k.template_id;

CREATE MACRO wake_series_of(template := NULL, zone := NULL) AS TABLE
WITH ran AS (
    SELECT day_in(started_at, coalesce(zone, (SELECT timezone FROM home))) AS day, outcome,
        date_diff('microsecond', started_at, ended_at) AS micros
    FROM wakes WHERE started_at IS NOT NULL AND (template IS NULL OR template_id = template)
), days AS (
    SELECT unnest(range(min(day)::TIMESTAMP, max(day)::TIMESTAMP + INTERVAL 1 DAY,
        INTERVAL 1 DAY))::DATE AS day FROM ran
)
SELECT d.day, count(r.day) AS total_wakes,
    count(*) FILTER (r.outcome = 'completed') AS success_count,
    count(*) FILTER (r.outcome = 'failed') AS failure_count,
    coalesce(count(*) FILTER (r.outcome = 'completed')
        / nullif(count(*) FILTER (r.outcome IN ('completed', 'failed')), 0), 0.0)
        AS success_rate,
    sum(r.micros) FILTER (r.micros > 0)::BIGINT / count(*) FILTER (r.micros > 0) / 1e6
        AS average_duration_seconds
FROM days d LEFT JOIN ran r USING (day) GROUP BY d.day ORDER BY d.day;

CREATE VIEW wake_series AS FROM wake_series_of();

CREATE VIEW version_series AS
SELECT template_id, template_version AS version, count(*) AS total_wakes,
    count(*) FILTER (outcome = 'completed') AS success_count,
    count(*) FILTER (outcome = 'failed') AS failure_count,
    coalesce(count(*) FILTER (outcome = 'completed')
        / nullif(count(*) FILTER (outcome IN ('completed', 'failed')), 0), 0.0)
        AS success_rate,
    sum(date_diff('microsecond', started_at, ended_at)) FILTER (duration_seconds > 0)::BIGINT
        / count(*) FILTER (duration_seconds > 0) / 1e6 AS average_duration_seconds,
    min(started_at) AS first_wake_at, max(started_at) AS last_wake_at
FROM wakes WHERE template_id IS NOT NULL AND started_at IS NOT NULL
GROUP BY ALL ORDER BY first_wake_at;

CREATE VIEW resolution_time AS
SELECT a.agent_id, a.task_id, a.template_id, a.created_at, min(c.occurred_at) AS resolved_at,
    arg_min(c.value, c.occurred_at) AS status,
    date_diff('microsecond', a.created_at, min(c.occurred_at)) / 1e6 AS seconds
FROM agents a JOIN task_changes c ON c.task_id = a.task_id AND c.what = 'status_set'
    AND c.value IN ('DONE', 'REJECTED') AND c.occurred_at >= a.created_at
GROUP BY a.agent_id, a.task_id, a.template_id, a.created_at;

CREATE MACRO resolution_series_of(zone := NULL) AS TABLE
WITH solved AS (
    SELECT day_in(resolved_at, coalesce(zone, (SELECT timezone FROM home))) AS day, seconds
    FROM resolution_time
), days AS (
    SELECT unnest(range(min(day)::TIMESTAMP, max(day)::TIMESTAMP + INTERVAL 1 DAY,
        INTERVAL 1 DAY))::DATE AS day FROM solved
)
SELECT d.day, count(s.day) AS resolved,
    sum(s.seconds::DECIMAL(38, 6)) / count(s.day) AS average_seconds
FROM days d LEFT JOIN solved s USING (day) GROUP BY d.day ORDER BY d.day;

CREATE VIEW resolution_series AS FROM resolution_series_of();

CREATE VIEW planned_against_spent AS
SELECT day, task_id, coalesce(p.minutes, 0) AS planned_minutes,
    coalesce(s.minutes, 0.0) AS spent_minutes
FROM (
    SELECT day, task_id, sum(minutes)::BIGINT AS minutes FROM blocks
    WHERE task_id IS NOT NULL GROUP BY ALL
) p FULL JOIN (
    SELECT day_in(started_at, (SELECT timezone FROM home)) AS day, task_id,
        sum(date_diff('microsecond', started_at, ended_at)) / 6e7 AS minutes
    FROM time_entries WHERE ended_at IS NOT NULL GROUP BY ALL
) s USING (day, task_id) ORDER BY day, task_id;

-- ------------------------------------------------------------------------------- proposals

CREATE VIEW acceptance AS
WITH sides AS (
    SELECT unnest(['tool', 'template', 'version', 'model', 'category']) AS dimension,
        unnest([i.tool, w.template_id,
            w.template_id || ' v' || w.template_version::VARCHAR, w.model, c.name]) AS value,
        i.status, i.is_edited
    FROM change_items i LEFT JOIN wakes w USING (run_key)
    LEFT JOIN tasks t ON t.task_id = i.task_id
    LEFT JOIN names c ON c.kind = 'category' AND c.id = coalesce(t.category_id,
        CASE WHEN i.tool = 'create_task' THEN substr(i.touches[1], length('category:') + 1) END)
    WHERE i.opened_at IS NOT NULL
), counted AS (
    SELECT dimension, value, count(*) AS proposed,
        count(*) FILTER (status = 'confirmed') AS confirmed,
        count(*) FILTER (status = 'rejected') AS rejected,
        count(*) FILTER (status IN ('confirmed', 'rejected')) AS decided,
        count(*) FILTER (status IN ('pending', 'confirming', 'deferred')) AS undecided,
        count(*) FILTER (status = 'retracted') AS retracted,
        count(*) FILTER (status = 'expired') AS expired,
        count(*) FILTER (status = 'confirmed' AND is_edited) AS edited
    FROM sides GROUP BY ALL
)
SELECT *, confirmed / nullif(decided, 0) AS acceptance_rate,
    wilson_low(confirmed, decided) AS low, wilson_high(confirmed, decided) AS high
FROM counted ORDER BY dimension, decided DESC, value;

CREATE VIEW lesson_counts AS
WITH told AS (
    SELECT scope_kind, scope_id, tool, count(*) FILTER (verdict = 'confirmed') AS confirmed,
        count(*) FILTER (verdict = 'rejected') AS rejected,
        count(*) FILTER (verdict = 'deferred') AS deferred,
        count(*) FILTER (is_edited) AS edited, max(decided_at) AS last_at
    FROM lessons WHERE verdict IN ('confirmed', 'rejected', 'deferred') GROUP BY ALL
)
SELECT scope_kind, scope_id, coalesce(c.name, t.name) AS scope, tool, confirmed, rejected,
    deferred, edited, confirmed / nullif(confirmed + rejected, 0) AS acceptance_rate,
    wilson_low(confirmed, confirmed + rejected) AS low,
    wilson_high(confirmed, confirmed + rejected) AS high, last_at
FROM told LEFT JOIN names c ON scope_kind = 'category' AND c.kind = 'category' AND c.id = scope_id
LEFT JOIN templates t ON scope_kind = 'template' AND t.template_id = scope_id
ORDER BY scope_kind, scope, tool;

CREATE VIEW rejection_reasons AS
SELECT tool, reason, count(*) AS rejected, any_value(summary ORDER BY decided_at DESC) AS example,
    max(decided_at) AS last_at
FROM change_items WHERE status = 'rejected' GROUP BY ALL ORDER BY rejected DESC, tool, reason;

CREATE VIEW time_to_decision AS
SELECT tool, count(*) AS decided,
    median(date_diff('microsecond', opened_at, decided_at)) / 1e6 AS median_seconds,
    quantile_cont(date_diff('microsecond', opened_at, decided_at), 0.9) / 1e6 AS p90_seconds,
    quantile_cont(date_diff('microsecond', opened_at, decided_at), 0.95) / 1e6 AS p95_seconds
FROM change_items WHERE status IN ('confirmed', 'rejected')
GROUP BY tool ORDER BY decided DESC, tool;

CREATE MACRO open_proposals_at(at_utc := NULL) AS TABLE
WITH told AS (
    SELECT coalesce(at_utc::TIMESTAMP, (SELECT max(occurred_at) FROM events)) AS at_utc
)
SELECT i.set_id, i.item, i.agent_id, i.task_id, i.run_key, i.tool, i.summary, i.status,
    i.opened_at, date_diff('microsecond', i.opened_at, t.at_utc) / 1e6 AS waiting_seconds
FROM change_items i, told t
WHERE i.opened_at <= t.at_utc AND i.status IN ('pending', 'confirming', 'deferred')
ORDER BY i.opened_at, i.set_id, i.item;

CREATE VIEW open_proposals AS FROM open_proposals_at();

CREATE VIEW repeated_proposals AS
WITH repeated AS (
    SELECT agent_id, fingerprint FROM change_items WHERE agent_id IS NOT NULL
    GROUP BY agent_id, fingerprint HAVING count(*) > 1
)
SELECT agent_id, task_id, fingerprint, any_value(tool) AS tool, arg_max(summary, proposed_at)
    AS summary, count(*) AS times, list(status ORDER BY proposed_at, set_id, item) AS statuses,
    min(proposed_at) AS first_at, max(proposed_at) AS last_at
FROM change_items SEMI JOIN repeated USING (agent_id, fingerprint)
GROUP BY agent_id, task_id, fingerprint ORDER BY times DESC, last_at DESC;

-- --------------------------------------------------------------------------- wakes, and none

CREATE VIEW trigger_latency AS
WITH noticed AS (
    SELECT agent_id, trigger_id, min(occurred_at) AS noticed_at
    FROM triggers GROUP BY agent_id, trigger_id
)
SELECT t.reason, count(*) AS triggers,
    median(date_diff('microsecond', d.noticed_at, w.started_at)) / 1e6 AS median_seconds,
    quantile_cont(date_diff('microsecond', d.noticed_at, w.started_at), 0.95) / 1e6
        AS p95_seconds,
    median(date_diff('microsecond', c.occurred_at, w.started_at)) / 1e6
        AS median_seconds_from_change
FROM triggers t JOIN wakes w USING (run_key)
JOIN noticed d ON d.agent_id = t.agent_id AND d.trigger_id = t.trigger_id
LEFT JOIN causes c ON c.log = 'journal' AND c.replica = t.journal_replica AND c.n = t.journal_n
WHERE w.started_at IS NOT NULL GROUP BY t.reason ORDER BY triggers DESC, t.reason;

CREATE VIEW wake_times AS
WITH parts AS (
    SELECT unnest(['duration', 'active', 'waited', 'provider', 'budget', 'other']) AS part,
        unnest([duration_seconds, active_seconds, waited_seconds,
            coalesce(provider, 0.0), coalesce(budget, 0.0), coalesce(other, 0.0)]) AS seconds
    FROM wakes LEFT JOIN (
        SELECT run_key, sum(seconds) FILTER (reason = 'provider') AS provider,
            sum(seconds) FILTER (reason = 'budget') AS budget,
            sum(seconds) FILTER (reason NOT IN ('provider', 'budget')) AS other
        FROM waits GROUP BY run_key
    ) USING (run_key) WHERE duration_seconds IS NOT NULL
)
SELECT part, count(*) AS wakes, count(*) FILTER (seconds > 0) AS above_zero,
    median(seconds) AS median_seconds, quantile_cont(seconds, 0.95) AS p95_seconds,
    round(sum(seconds), 6) AS total_seconds
FROM parts GROUP BY part ORDER BY total_seconds DESC, part;

CREATE VIEW noop_wakes AS
SELECT agent_id, run_key, reason, started_at, duration_seconds, turns, tool_calls, denied_calls,
    tokens_in, tokens_out
FROM wakes WHERE is_noop ORDER BY started_at DESC;

CREATE VIEW wake_reasons AS
SELECT reason, count(*) AS wakes, count(*) FILTER (started_at IS NOT NULL) AS begun,
    count(*) FILTER (outcome = 'completed') AS completed,
    count(*) FILTER (outcome = 'failed') AS failed, count(*) FILTER (is_noop) AS noop,
    sum(proposals)::BIGINT AS proposals
FROM wakes GROUP BY reason ORDER BY wakes DESC, reason;

CREATE VIEW why_no_wake AS
WITH taken AS (
    SELECT journal_replica, max(last_n) AS last_n FROM journal_taken GROUP BY journal_replica
), noticed AS (
    SELECT agent_id, journal_replica AS replica, journal_n AS n
    FROM triggers WHERE journal_n IS NOT NULL
), changed AS (
    SELECT DISTINCT a.agent_id, c.replica, c.n, c.occurred_at, c.actor
    FROM task_changes c JOIN agents a ON a.task_id = c.task_id AND c.n > a.journal_n
        AND (a.destroyed_at IS NULL OR c.occurred_at < a.destroyed_at)
    ANTI JOIN noticed g ON g.agent_id = a.agent_id AND g.replica = c.replica AND g.n = c.n
)
SELECT agent_id, occurred_at, 'suppressed' AS outcome, rule AS why, reason, journal_n, run_key
FROM triggers WHERE fate = 'suppressed'
UNION ALL
SELECT agent_id, ended_at, outcome, coalesce(code, 'by ' || superseded_by), reason,
    NULL, run_key
FROM wakes WHERE started_at IS NULL AND ended_at IS NOT NULL
UNION ALL
SELECT c.agent_id, c.occurred_at,
    CASE WHEN c.n > coalesce(t.last_n, 0) THEN 'not_noticed' ELSE 'unmatched' END,
    'changed by ' || c.actor, 'subscription', c.n, NULL
FROM changed c LEFT JOIN taken t ON t.journal_replica = c.replica
ORDER BY occurred_at DESC, agent_id;

CREATE VIEW tokens_and_cost AS
SELECT coalesce(w.model, '?') AS model, w.template_id, count(*) AS turns,
    count(DISTINCT u.run_key) AS wakes,
    count(*) FILTER (u.tokens_in IS NULL OR u.tokens_out IS NULL) AS unknown_turns,
    CASE WHEN count(u.tokens_in) = count(*) THEN sum(u.tokens_in)::BIGINT END AS tokens_in,
    CASE WHEN count(u.tokens_out) = count(*) THEN sum(u.tokens_out)::BIGINT END AS tokens_out,
    CASE WHEN count(u.cost) = count(*)
        THEN sum(u.cost::DECIMAL(38, 12))::DOUBLE END AS cost,
    CASE WHEN count(u.tokens_thought) = count(*) THEN sum(u.tokens_thought)::BIGINT END
        AS tokens_thought,
    CASE WHEN count(u.tokens_cached) = count(*) THEN sum(u.tokens_cached)::BIGINT END
        AS tokens_cached
FROM token_usage u LEFT JOIN wakes w USING (run_key)
GROUP BY w.model, w.template_id ORDER BY turns DESC, model;

-- ------------------------------------------------------------------- where a row comes from

CREATE MACRO causality(of_log, of_n, of_row_n := 0, of_replica := NULL) AS TABLE
WITH RECURSIVE chain AS (
    SELECT log, replica, n, row_n, 0 AS depth, NULL::VARCHAR AS why
    FROM events WHERE log = of_log AND n = of_n AND row_n = of_row_n
        AND (of_replica IS NULL OR replica = of_replica)
    UNION
    SELECT p.log, p.replica, p.n, p.row_n, p.depth, p.why FROM (
        SELECT log, replica, n, 0 AS row_n, depth + 1 AS depth,
            'is of the append that this row caused' AS why
        FROM chain WHERE row_n > 0
        UNION ALL
        SELECT e.by_log, e.by_replica, e.by_n, e.by_row_n, c.depth + 1, e.why
        FROM chain c JOIN caused_by e USING (log, replica, n, row_n)
    ) p WHERE p.depth <= 1000
), nearest AS (
    SELECT log, replica, n, row_n, min(depth) AS depth, arg_min(why, depth) AS why
    FROM chain GROUP BY ALL
)
SELECT c.depth, c.log || ':' || c.replica || ':' || c.n AS position, c.row_n, e.occurred_at,
    e.stream, e.tag, c.why, e.data
FROM nearest c JOIN events e USING (log, replica, n, row_n) ORDER BY c.depth, c.log, c.n, c.row_n;

CREATE MACRO what_it_knew(of_agent, at_utc) AS TABLE
WITH last_wake AS (
    SELECT run_key, started_at FROM wakes
    WHERE agent_id = of_agent AND started_at <= at_utc::TIMESTAMP
    ORDER BY started_at DESC, agent_n DESC LIMIT 1
)
SELECT 'section' AS kind, s.part || ' ' || s.name AS name, w.started_at AS since,
    w.run_key, t.text
FROM last_wake w JOIN prompt_sections s USING (run_key) LEFT JOIN texts t USING (payload)
UNION ALL
SELECT 'observation', o.category, o.occurred_at, o.run_key, o.text
FROM observations o WHERE o.agent_id = of_agent AND o.occurred_at <= at_utc::TIMESTAMP
UNION ALL
(SELECT 'report', r.one_liner, r.current_from, r.run_key, r.content
FROM reports r JOIN wakes w USING (run_key)
WHERE r.agent_id = of_agent AND r.current_from <= at_utc::TIMESTAMP
ORDER BY r.current_from DESC, w.agent_n DESC LIMIT 1)
UNION ALL
SELECT 'open proposal', i.tool, i.opened_at, i.run_key, i.summary
FROM change_items i WHERE i.agent_id = of_agent AND i.opened_at <= at_utc::TIMESTAMP
    AND (i.decided_at IS NULL OR i.status = 'deferred' OR i.decided_at > at_utc::TIMESTAMP);
