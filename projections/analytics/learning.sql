-- Lessons, ratings of wakes and digests: made anew like all in entities.sql, and after the wakes.

CREATE OR REPLACE TEMP TABLE learnt AS  -- newest first, by row
SELECT entity, split_part(entity, ':', 1) AS scope_kind,
    entity[length(split_part(entity, ':', 1)) + 2 :] AS scope_id, tag, occurred_at, d,
    row_number() OVER (ORDER BY n DESC, replica DESC, row_n DESC) AS age
FROM (
    SELECT *, json_transform(data, '{"changes": "VARCHAR", "item": "INTEGER", "tool": "VARCHAR",
        "verdict": "VARCHAR", "isEdited": "BOOLEAN", "template": "VARCHAR",
        "version": "INTEGER", "model": "VARCHAR", "at": "TIMESTAMP", "runKey": "VARCHAR",
        "stars": "INTEGER"}') AS d
    FROM live WHERE tag IN ('lessons.decided.1', 'lessons.rated.1')
);

DELETE FROM lessons WHERE (scope_kind || ':' || scope_id) IN (
    SELECT entity FROM touched WHERE kind = 'lessons');
INSERT INTO lessons  -- what was learnt late is as old as its verdict
SELECT scope_kind, scope_id, d.changes, d.item, d.tool, nullif(d.verdict, 'reopened'),
    coalesce(d.isEdited, false), d.template, d.version, d.model,
    coalesce(d."at", occurred_at)
FROM learnt WHERE tag = 'lessons.decided.1'
QUALIFY row_number() OVER (PARTITION BY entity, d.changes, d.item
    ORDER BY coalesce(d."at", occurred_at) DESC, age) = 1;

DELETE FROM wake_ratings WHERE ('template:' || template_id) IN (
    SELECT entity FROM touched WHERE kind = 'lessons');
INSERT INTO wake_ratings
SELECT l.d.runKey, l.scope_id, w.template_version, l.d.stars, l.occurred_at
FROM learnt l LEFT JOIN wakes w ON w.run_key = l.d.runKey WHERE l.tag = 'lessons.rated.1'
QUALIFY row_number() OVER (PARTITION BY l.entity, l.d.runKey ORDER BY l.age) = 1;

DELETE FROM digests WHERE agent_id IN (SELECT entity FROM touched WHERE kind = 'memory');
INSERT INTO digests
WITH made AS (  -- of one that two replicas made, the first
    SELECT entity AS agent_id, occurred_at, d,
        row_number() OVER (ORDER BY n, replica, row_n) AS place
    FROM (
        SELECT *, json_transform(data, '{"id": "VARCHAR", "depth": "INTEGER",
            "first": "VARCHAR", "last": "VARCHAR", "count": "INTEGER", "sources": ["VARCHAR"],
            "words": {"text": "VARCHAR", "payload": "VARCHAR"}, "since": "TIMESTAMP",
            "until": "TIMESTAMP"}') AS d
        FROM live WHERE tag = 'memory.folded.1'
    ) QUALIFY row_number() OVER (PARTITION BY entity, d.id ORDER BY n, replica, row_n) = 1
), covered AS (  -- a note, or a digest, belongs to the first digest that names it
    SELECT agent_id, source, arg_min(digest_id, place) AS digest_id
    FROM (SELECT agent_id, d.id AS digest_id, unnest(d.sources) AS source, place FROM made)
    GROUP BY agent_id, source
)
SELECT m.d.id, m.agent_id, m.d.depth, m.occurred_at, m.d.first, m.d.last, m.d.since, m.d.until,
    m.d.count, strlen(said(m.d.words)), p.digest_id,
    p.digest_id IS NULL AND m.d.id IN (SELECT digest_id FROM covered), said(m.d.words)
FROM made m LEFT JOIN covered p ON p.agent_id = m.agent_id AND p.source = m.d.id;
