-- Templates and their versions: made anew like all in entities.sql.

CREATE OR REPLACE TEMP TABLE template_rows AS
SELECT entity AS template_id, place(n, replica, row_n) AS place, occurred_at, tag, d
FROM (
    SELECT *, json_transform(data, '{"agentKind": "VARCHAR", "name": "VARCHAR",
        "model": "VARCHAR", "categories": ["VARCHAR"], "version": "INTEGER",
        "author": "VARCHAR", "general": {"text": "VARCHAR", "payload": "VARCHAR"},
        "report": {"text": "VARCHAR", "payload": "VARCHAR"}}') AS d
    FROM live WHERE kind = 'template'
);

DELETE FROM templates
WHERE template_id IN (SELECT entity FROM touched WHERE kind = 'template');
INSERT INTO templates
SELECT template_id, arg_max(d.name, place), any_value(d.agentKind),
    nullif(arg_max(coalesce(d.model, ''), place)
        FILTER (tag IN ('template.created.1', 'template.model_set.1')), ''),
    arg_max(coalesce(d.categories, []), place)
        FILTER (tag IN ('template.created.1', 'template.categories_set.1')),
    arg_max(d.version, place) FILTER (tag != 'template.rehearsed.1'),
    min(occurred_at) FILTER (tag = 'template.created.1'),
    bool_or(tag = 'template.deleted.1')
FROM template_rows GROUP BY template_id;

DELETE FROM template_versions
WHERE template_id IN (SELECT entity FROM touched WHERE kind = 'template');
INSERT INTO template_versions
SELECT r.template_id, r.d.version, r.occurred_at, r.d.author, nullif(r.d.model, ''),
    r.d.version = t.active_version, said(r.d.general), said(r.d.report)
FROM template_rows r JOIN templates t USING (template_id)
WHERE r.tag = 'template.version_added.1';

DELETE FROM rehearsals
WHERE template_id IN (SELECT entity FROM touched WHERE kind = 'template');
INSERT INTO rehearsals
SELECT replica, n, row_n, occurred_at, entity,
    nullif(split_part(d.item, '.', 1), ''), TRY_CAST(split_part(d.item, '.', 2) AS INTEGER),
    nullif(d.version, 0), nullif(d.model, ''), d.scaffold, d.wakes, d.agents,
    coalesce(d.tried.kept, 0), coalesce(d.tried.lost, 0), coalesce(d.tried.avoided, 0),
    coalesce(d.tried.repeated, 0), coalesce(d.tried.new, 0),
    coalesce(d.control.kept, 0), coalesce(d.control.lost, 0), coalesce(d.control.avoided, 0),
    coalesce(d.control.repeated, 0), coalesce(d.control.new, 0),
    coalesce(d.better, 0), coalesce(d.worse, 0), d.tokens
FROM (
    SELECT *, json_transform(data, '{"item": "VARCHAR", "version": "INTEGER", "model": "VARCHAR",
        "scaffold": "INTEGER", "wakes": "INTEGER", "agents": "INTEGER", "tokens": "BIGINT",
        "better": "INTEGER", "worse": "INTEGER",
        "tried": {"kept": "INTEGER", "lost": "INTEGER", "avoided": "INTEGER",
            "repeated": "INTEGER", "new": "INTEGER"},
        "control": {"kept": "INTEGER", "lost": "INTEGER", "avoided": "INTEGER",
            "repeated": "INTEGER", "new": "INTEGER"}}') AS d
    FROM live WHERE tag = 'template.rehearsed.1'
);
