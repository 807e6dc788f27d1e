-- Questions that people ask in one line: over the tables, like questions.sql, and after it.

CREATE VIEW proposals AS
SELECT i.set_id, i.item, i.status, i.tool, i.summary, t.title AS task, a.name AS agent,
    p.name AS template, w.template_version AS version, w.model, i.opened_at, i.decided_at,
    i.decided_by, i.reason, i.is_edited, i.agent_id, i.task_id, i.run_key
FROM change_items i LEFT JOIN wakes w USING (run_key)
LEFT JOIN tasks t ON t.task_id = i.task_id LEFT JOIN agents a ON a.agent_id = i.agent_id
LEFT JOIN templates p ON p.template_id = w.template_id
ORDER BY i.opened_at DESC NULLS FIRST, i.set_id, i.item;

CREATE MACRO happened(at_local, zone := NULL) AS TABLE
WITH told AS (
    SELECT e.*, (e.occurred_at AT TIME ZONE 'UTC') AT TIME ZONE
        coalesce(zone, (SELECT timezone FROM home)) AS local_at
    FROM events e
    WHERE e.kind IN ('task', 'day', 'catalog', 'agent', 'template', 'wake', 'changes', 'policy')
), sets AS (
    SELECT set_id, any_value(agent_id) AS agent_id, any_value(task_id) AS task_id
    FROM change_items GROUP BY set_id
)
SELECT e.local_at, regexp_replace(e.tag, '[.][0-9]+$$', '') AS what, e.data->>'by' AS decided_by,
    t.title AS task, g.name AS agent, e.log, e.replica, e.n, e.row_n, e.entity
FROM told e LEFT JOIN wakes w ON e.kind = 'wake' AND w.run_key = e.entity
LEFT JOIN sets s ON e.kind = 'changes' AND s.set_id = e.entity
LEFT JOIN agents g ON g.agent_id = coalesce(w.agent_id, s.agent_id, e.entity)
LEFT JOIN tasks t ON t.task_id = coalesce(w.task_id, s.task_id, g.task_id, e.entity)
WHERE starts_with(strftime(e.local_at, '%Y-%m-%d %H:%M:%S.%f'),
    replace(at_local::VARCHAR, 'T', ' '))
ORDER BY e.local_at, e.log DESC, e.n, e.row_n;

-- --------------------------------------------------------------------- what a version changed

CREATE MACRO ln_choose(n, k) AS lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
CREATE MACRO fisher_exact(k1, n1, k2, n2) AS CASE WHEN n1 > 0 AND n2 > 0 THEN least(1.0,
    list_sum(list_filter(
        list_transform(range(greatest(0, k1 + k2 - n2)::BIGINT, least(n1, k1 + k2)::BIGINT + 1),
            lambda k: exp(ln_choose(n1, k) + ln_choose(n2, k1 + k2 - k)
                - ln_choose(n1 + n2, k1 + k2))),
        lambda p: p <= 1.0000001 * exp(ln_choose(n1, k1) + ln_choose(n2, k2)
            - ln_choose(n1 + n2, k1 + k2))))) END;
CREATE MACRO student_t(df) AS CASE WHEN df < 11  -- its 97.5 % point; of many by Cornish and Fisher
    THEN [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
        2.262157, 2.228139][df]
    ELSE 1.959964 + 2.372271 / df + 2.822499 / (df * df) + 2.555850 / (df * df * df) END;

CREATE MACRO compare_versions(of_template, a, b) AS TABLE
WITH counted AS (
    SELECT agent_id, count(*) FILTER (v = a AND is_yes) AS yes_a, count(*) FILTER (v = a) AS n_a,
        count(*) FILTER (v = b AND is_yes) AS yes_b, count(*) FILTER (v = b) AS n_b
    FROM (
        SELECT i.agent_id, w.template_version AS v, i.status = 'confirmed' AS is_yes
        FROM change_items i JOIN wakes w USING (run_key)
        WHERE w.template_id = of_template AND w.template_version IN (a, b)
            AND i.status IN ('confirmed', 'rejected')
    ) GROUP BY agent_id
), summed AS (
    SELECT count(*) AS agents, count(*) FILTER (n_a > 0 AND n_b > 0) AS agents_of_both,
        coalesce(sum(yes_a), 0)::BIGINT AS yes_a, coalesce(sum(n_a), 0)::BIGINT AS n_a,
        coalesce(sum(yes_b), 0)::BIGINT AS yes_b, coalesce(sum(n_b), 0)::BIGINT AS n_b
    FROM counted
), rated AS (
    SELECT *, yes_a / nullif(n_a, 0) AS rate_a, yes_b / nullif(n_b, 0) AS rate_b FROM summed
), spread AS (  -- what each agent adds to the difference beyond its share, squared and summed
    SELECT nullif(sqrt(any_value(s.agents / nullif(s.agents - 1, 0))
            * sum(pow((c.yes_b - c.n_b * s.rate_b) / s.n_b
                - (c.yes_a - c.n_a * s.rate_a) / s.n_a, 2))), 0) AS error,
        any_value(sqrt(s.rate_a * (1 - s.rate_a) / s.n_a + s.rate_b * (1 - s.rate_b) / s.n_b))
            AS error_if_independent
    FROM counted c, rated s
), judged AS (
    SELECT r.*, x.error, greatest(1.0,
        coalesce(pow(x.error / nullif(x.error_if_independent, 0), 2), 1.0)) AS design_effect
    FROM rated r, spread x
)
SELECT agents, agents_of_both, yes_a AS confirmed_a, n_a AS decided_a, rate_a, yes_b AS confirmed_b,
    n_b AS decided_b, rate_b, rate_b - rate_a AS difference,
    CASE WHEN agents > 2 THEN rate_b - rate_a - student_t(agents - 1) * error END AS low,
    CASE WHEN agents > 2 THEN rate_b - rate_a + student_t(agents - 1) * error END AS high,
    design_effect,
    fisher_exact(round(yes_a / design_effect)::BIGINT, round(n_a / design_effect)::BIGINT,
        round(yes_b / design_effect)::BIGINT, round(n_b / design_effect)::BIGINT) AS p_value,
    fisher_exact(yes_a, n_a, yes_b, n_b) AS p_if_independent
FROM judged;

-- ------------------------------------------------------------------------------- what it costs

CREATE MACRO cost_per_confirmed_change(dimension := 'template') AS TABLE
WITH paid AS (  -- what the answers to each wake cost; NULL: not known
    SELECT run_key, CASE WHEN count(cost) = count(*) THEN sum(cost::DECIMAL(38, 12)) END AS cost
    FROM token_usage GROUP BY run_key
), proposed AS (
    SELECT run_key, count(*) AS proposed, count(*) FILTER (status = 'confirmed') AS confirmed
    FROM change_items WHERE opened_at IS NOT NULL GROUP BY run_key
), ran AS (
    SELECT CASE dimension WHEN 'template' THEN w.template_id
            WHEN 'version' THEN w.template_id || ' v' || w.template_version::VARCHAR
            WHEN 'model' THEN w.model WHEN 'agent' THEN w.agent_id WHEN 'task' THEN w.task_id
            ELSE error('name template, version, model, agent or task') END AS value,
        CASE WHEN p.run_key IS NULL THEN 0 ELSE p.cost END AS cost, i.proposed, i.confirmed
    FROM wakes w LEFT JOIN paid p USING (run_key) LEFT JOIN proposed i USING (run_key)
    WHERE w.started_at IS NOT NULL
), summed AS (
    SELECT value, count(*) AS wakes, count(*) - count(cost) AS unknown_wakes,
        CASE WHEN count(cost) = count(*) THEN round(sum(cost), 9)::DOUBLE END AS cost,
        coalesce(sum(proposed), 0)::BIGINT AS proposed,
        coalesce(sum(confirmed), 0)::BIGINT AS confirmed
    FROM ran GROUP BY value
)
SELECT *, cost / nullif(confirmed, 0) AS cost_per_confirmed FROM summed
ORDER BY cost_per_confirmed NULLS LAST, value;
