-- Tasks, the time spent on them, their ratings, the blocks of days, and the names of categories and labels: made anew
-- like all in entities.sql.

DELETE FROM tasks WHERE task_id IN (SELECT entity FROM touched WHERE kind = 'task');
INSERT INTO tasks
WITH facts AS (
    SELECT entity AS task_id, place(n, replica, row_n) AS place, occurred_at, tag, d
    FROM (
        SELECT *, json_transform(data, '{"by": "VARCHAR", "title": "VARCHAR",
            "status": "VARCHAR", $task_types, "category": "VARCHAR", "label": "VARCHAR",
            "item": "VARCHAR", "note": "VARCHAR", "isChecked": "BOOLEAN",
            "description": {"text": "VARCHAR", "payload": "VARCHAR"}}') AS d
        FROM live WHERE kind = 'task'
    )
), labelled AS (
    SELECT task_id, list(label ORDER BY label) AS labels
    FROM (
        SELECT task_id, d.label AS label,
            arg_max(tag, place) = 'task.label_assigned.1' AS is_assigned
        FROM facts WHERE tag IN ('task.label_assigned.1', 'task.label_removed.1')
        GROUP BY task_id, d.label
    ) WHERE is_assigned GROUP BY task_id
), itemised AS (
    SELECT task_id, count(*) AS items, count(*) FILTER (is_checked) AS items_checked
    FROM (
        SELECT task_id, d.item,
            arg_max(CASE tag WHEN 'task.item_added.1' THEN coalesce(d.isChecked, false)
                WHEN 'task.item_checked.1' THEN true WHEN 'task.item_unchecked.1' THEN false END,
                place) AS is_checked,
            arg_max(CASE tag WHEN 'task.item_archived.1' THEN true
                WHEN 'task.item_restored.1' THEN false END, place) AS is_archived
        FROM facts WHERE d.item IS NOT NULL GROUP BY task_id, d.item
    ) WHERE NOT coalesce(is_archived, false) GROUP BY task_id
), noted AS (
    SELECT task_id, count(*) AS notes
    FROM (
        SELECT task_id, d.note, arg_max(tag, place) = 'task.note_removed.1' AS is_removed
        FROM facts WHERE tag IN ('task.note_added.1', 'task.note_removed.1')  -- it may come back
        GROUP BY task_id, d.note
    ) WHERE NOT is_removed GROUP BY task_id
), folded AS (
    SELECT task_id, arg_max(d.title, place) FILTER (
            tag IN ('task.created.1', 'task.retitled.1')) AS title,
        coalesce(arg_max(d.status, place), 'OPEN') AS status,
        $task_folded,
        arg_max(d.category, place) AS category_id,
        min(occurred_at) FILTER (tag = 'task.created.1') AS created_at,
        arg_min(d.by, place) FILTER (tag = 'task.created.1') AS created_by,
        max(occurred_at) AS updated_at,
        arg_max(tag, place) FILTER (
            tag IN ('task.deleted.1', 'task.restored.1')) = 'task.deleted.1' AS is_deleted,
        arg_max(d.description, place) AS description
    FROM facts GROUP BY task_id
)
SELECT f.* EXCLUDE (created_at, created_by, updated_at, is_deleted, description),
    coalesce(l.labels, []), coalesce(i.items, 0), coalesce(i.items_checked, 0), coalesce(o.notes, 0), f.created_at,
    f.created_by, f.updated_at, coalesce(f.is_deleted, false), nullif(said(f.description), '')
FROM folded f LEFT JOIN labelled l USING (task_id) LEFT JOIN itemised i USING (task_id)
LEFT JOIN noted o USING (task_id);

DELETE FROM time_entries
WHERE task_id IN (SELECT entity FROM touched WHERE kind = 'task');
INSERT INTO time_entries
SELECT entry_id, task_id, started_at, IF(reopened > ended, NULL, ended_at) AS last_end,
    date_diff('microsecond', started_at, last_end) / 6e7, decided_by, summary
FROM (
    SELECT d.entry AS entry_id, entity AS task_id,
        arg_max(d."start", place(n, replica, row_n)) AS started_at,
        arg_max(d."end", place(n, replica, row_n)) AS ended_at,
        arg_min(d.by, place(n, replica, row_n)) AS decided_by,
        nullif(arg_max(d.summary, place(n, replica, row_n)), '') AS summary,
        max(place(n, replica, row_n)) FILTER (tag = 'task.time_reopened.1') AS reopened,
        max(place(n, replica, row_n)) FILTER (d."end" IS NOT NULL) AS ended,
        max(place(n, replica, row_n)) FILTER (tag = 'task.time_removed.1') AS removed,
        max(place(n, replica, row_n)) FILTER (
            tag IN ('task.time_started.1', 'task.time_logged.1')) AS added
    FROM (
        SELECT *, json_transform(data, '{"by": "VARCHAR", "entry": "VARCHAR",
            "start": "TIMESTAMP", "end": "TIMESTAMP", "summary": "VARCHAR"}') AS d
        FROM live
        WHERE tag IN ('task.time_started.1', 'task.time_stopped.1', 'task.time_logged.1',
            'task.time_edited.1', 'task.time_reopened.1', 'task.time_removed.1')
    ) GROUP BY entity, d.entry
) WHERE removed IS NULL OR removed < added;

DELETE FROM blocks
WHERE day IN (SELECT entity::DATE FROM touched WHERE kind = 'day');
INSERT INTO blocks
SELECT d.block, entity::DATE, d."start", d."end", date_diff('minute', d."start"::TIME, d."end"::TIME),
    d.task, d.category, d.title, d.by, occurred_at
FROM (
    SELECT *, json_transform(data, '{"by": "VARCHAR", "block": "VARCHAR", "start": "VARCHAR",
        "end": "VARCHAR", "task": "VARCHAR", "category": "VARCHAR", "title": "VARCHAR"}') AS d
    FROM live WHERE tag IN ('day.block_put.1', 'day.block_removed.1')
) QUALIFY tag = 'day.block_put.1' AND row_number() OVER (
    PARTITION BY entity, d.block ORDER BY place(n, replica, row_n) DESC) = 1;

DELETE FROM ratings
WHERE task_id IN (SELECT entity FROM touched WHERE kind = 'task');
INSERT INTO ratings
SELECT entity, nullif(d.entry, ''), max(occurred_at), arg_max(d.score, place(n, replica, row_n)),
    nullif(arg_max(coalesce(d.comment, ''), place(n, replica, row_n)), ''),
    arg_max(d.by, place(n, replica, row_n))
FROM (
    SELECT *, json_transform(data, '{"by": "VARCHAR", "entry": "VARCHAR", "score": "INTEGER",
        "comment": "VARCHAR"}') AS d
    FROM live WHERE tag = 'task.rated.1'
) GROUP BY entity, d.entry;

DELETE FROM names WHERE EXISTS (FROM touched WHERE kind = 'catalog');
INSERT INTO names
SELECT kind, id, arg_max(name, place)
FROM (
    SELECT CASE WHEN d.label IS NULL THEN 'category' ELSE 'label' END AS kind,
        coalesce(d.label, d.category) AS id, d.name AS name, place(n, replica, row_n) AS place
    FROM (
        SELECT *, json_transform(data,
            '{"category": "VARCHAR", "label": "VARCHAR", "name": "VARCHAR"}') AS d
        FROM live WHERE tag IN ('catalog.category_added.1', 'catalog.category_renamed.1',
            'catalog.label_added.1', 'catalog.label_scoped.1')
    ) WHERE d.name <> ''
) GROUP BY kind, id;
