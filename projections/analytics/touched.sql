-- Which entities the fresh events concern: their rows are made anew, from all of their streams.

CREATE OR REPLACE TEMP TABLE touched AS
SELECT kind, entity FROM fresh
WHERE kind IN (
    'wake', 'changes', 'agent', 'task', 'day', 'catalog', 'template', 'lessons', 'memory')
UNION SELECT 'wake', d.runKey FROM fresh_triggers WHERE d.runKey IS NOT NULL
UNION SELECT 'wake', a.run_key FROM attention a
    JOIN fresh f ON f.log = 'agent' AND f.replica = a.replica AND f.n = a.n AND f.row_n = a.row_n
UNION SELECT o.owner_kind, o.owner FROM operations o
    JOIN causes c ON c.log = 'journal' AND c.key = o.operation
    JOIN fresh f ON f.log = 'journal' AND f.replica = c.replica AND f.n = c.n AND f.row_n = 0;

CREATE OR REPLACE TEMP VIEW touched_wakes AS
SELECT entity AS run_key FROM touched WHERE kind = 'wake';
CREATE OR REPLACE TEMP VIEW touched_sets AS
SELECT entity AS set_id FROM touched WHERE kind = 'changes';
