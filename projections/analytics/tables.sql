-- The tables of analytics.duckdb. README.md says what each column means: both change together,
-- and `SCHEMA_VERSION` in adapters/analytics/rows.py is raised with them; but for the plain fields
-- of a task, `$task_columns`, which come with their version from domain/journal/task.py.
--
-- Times are UTC. NULL is "none" or "not known"; there are no empty texts that stand for it.
-- (log, replica, n, row_n) is where a row stands; `at` is a reserved word here: occurred_at.

CREATE TABLE positions (
    log VARCHAR, n BIGINT, digest VARCHAR, events BIGINT
);
CREATE TABLE home (
    schema_version INTEGER, timezone VARCHAR, currency VARCHAR
);
CREATE TABLE prices (
    model VARCHAR, input_micros BIGINT, output_micros BIGINT, cached_micros BIGINT, since DATE
);
CREATE TABLE texts (
    payload VARCHAR, bytes BIGINT, text VARCHAR USING COMPRESSION zstd
);

-- ------------------------------------------------------------- one row for each row of a log

CREATE TABLE events (
    log VARCHAR, replica VARCHAR, n BIGINT, row_n INTEGER, rows INTEGER, occurred_at TIMESTAMP,
    stream VARCHAR, kind VARCHAR, entity VARCHAR, version INTEGER, tag VARCHAR,
    data JSON USING COMPRESSION zstd
);
CREATE TABLE causes (
    log VARCHAR, replica VARCHAR, n BIGINT, occurred_at TIMESTAMP, kind VARCHAR, what VARCHAR,
    key VARCHAR, about VARCHAR, rows INTEGER, result_status VARCHAR, result_code VARCHAR,
    who VARCHAR
);
CREATE TABLE caused_by (
    log VARCHAR, replica VARCHAR, n BIGINT, row_n INTEGER,
    by_log VARCHAR, by_replica VARCHAR, by_n BIGINT, by_row_n INTEGER, why VARCHAR
);
CREATE TABLE triggers (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, agent_id VARCHAR,
    trigger_id VARCHAR, fate VARCHAR, run_key VARCHAR, rule VARCHAR, reason VARCHAR,
    reason_id VARCHAR, journal_replica VARCHAR, journal_n BIGINT, tokens VARCHAR[],
    is_propagated BOOLEAN, hop INTEGER, ticks INTEGER, due_at TIMESTAMP, words VARCHAR,
    about VARCHAR
);
CREATE TABLE attention (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, agent_id VARCHAR,
    run_key VARCHAR, what VARCHAR, until TIMESTAMP, reason VARCHAR, superseded_by VARCHAR,
    left_out INTEGER
);
CREATE TABLE prompt_sections (
    run_key VARCHAR, part VARCHAR, ordinal INTEGER, name VARCHAR, payload VARCHAR, bytes BIGINT
);
CREATE TABLE token_usage (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, run_key VARCHAR,
    turn INTEGER, attempt INTEGER, is_late BOOLEAN, tokens_in BIGINT, tokens_out BIGINT,
    tokens_thought BIGINT, tokens_cached BIGINT, is_failed BOOLEAN, cost DOUBLE
);
CREATE TABLE observations (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, agent_id VARCHAR,
    run_key VARCHAR, text VARCHAR, priority VARCHAR, category VARCHAR, target VARCHAR
);
CREATE TABLE requests (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, run_key VARCHAR,
    agent_id VARCHAR, asked_agent_id VARCHAR, task_id VARCHAR, about VARCHAR
);
CREATE TABLE rehearsals (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, template_id VARCHAR,
    set_id VARCHAR, item INTEGER, version INTEGER, model VARCHAR, scaffold INTEGER, wakes INTEGER,
    agents INTEGER, kept INTEGER, lost INTEGER, avoided INTEGER, repeated INTEGER, new INTEGER,
    kept_in_force INTEGER, lost_in_force INTEGER, avoided_in_force INTEGER,
    repeated_in_force INTEGER, new_in_force INTEGER, better INTEGER, worse INTEGER, tokens BIGINT
);
CREATE TABLE verdicts (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, set_id VARCHAR,
    item INTEGER, verdict VARCHAR, decided_by VARCHAR, reason VARCHAR, code VARCHAR,
    confirmation INTEGER, operation VARCHAR, is_edited BOOLEAN, journal_n BIGINT
);
CREATE TABLE task_changes (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, task_id VARCHAR,
    what VARCHAR, decided_by VARCHAR, actor VARCHAR, agent_id VARCHAR, operation VARCHAR,
    part_id VARCHAR, value VARCHAR, reason VARCHAR
);
CREATE TABLE operation_effects (
    operation VARCHAR, replica VARCHAR, n BIGINT, occurred_at TIMESTAMP, status VARCHAR,
    code VARCHAR
);
CREATE TABLE journal_taken (
    replica VARCHAR, n BIGINT, journal_replica VARCHAR, first_n BIGINT, last_n BIGINT
);

-- --------------------------------------------------------------- one row for each entity

CREATE TABLE agents (
    agent_id VARCHAR, task_id VARCHAR, agent_kind VARCHAR, generation INTEGER, name VARCHAR,
    mode VARCHAR, model VARCHAR, template_id VARCHAR, turn_max INTEGER, is_automatic BOOLEAN,
    lifecycle VARCHAR, created_at TIMESTAMP, journal_n BIGINT, destroyed_at TIMESTAMP,
    is_deleted BOOLEAN, subject VARCHAR
);
CREATE TABLE receipts (
    replica VARCHAR, n BIGINT, row_n INTEGER, occurred_at TIMESTAMP, what VARCHAR,
    model VARCHAR, categories VARCHAR[], notice INTEGER, sections VARCHAR[]
);
CREATE TABLE templates (
    template_id VARCHAR, name VARCHAR, template_kind VARCHAR, model VARCHAR,
    categories VARCHAR[], active_version INTEGER, created_at TIMESTAMP, is_deleted BOOLEAN
);
CREATE TABLE template_versions (
    template_id VARCHAR, version INTEGER, created_at TIMESTAMP, author VARCHAR,
    model VARCHAR, is_active BOOLEAN, general VARCHAR, report VARCHAR
);
CREATE TABLE wakes (
    run_key VARCHAR, replica VARCHAR, agent_id VARCHAR, task_id VARCHAR, thread VARCHAR,
    reason VARCHAR, reason_id VARCHAR, state VARCHAR, queued_at TIMESTAMP, due_at TIMESTAMP,
    causes INTEGER, started_at TIMESTAMP, ended_at TIMESTAMP, duration_seconds DOUBLE,
    outcome VARCHAR, stop VARCHAR, code VARCHAR, message VARCHAR, superseded_by VARCHAR,
    model VARCHAR, template_id VARCHAR, template_version INTEGER, scaffold INTEGER,
    turn_max INTEGER, is_first BOOLEAN, hop INTEGER, journal_n BIGINT, agent_n BIGINT,
    turns INTEGER, tool_calls INTEGER, denied_calls INTEGER, journal_changes INTEGER,
    proposals INTEGER, observations INTEGER, retractions INTEGER, has_report BOOLEAN,
    is_report_missing BOOLEAN, waits INTEGER, tokens_in BIGINT, tokens_out BIGINT,
    tokens_thought BIGINT, tokens_cached BIGINT, is_noop BOOLEAN, cost DOUBLE,
    waited_seconds DOUBLE, active_seconds DOUBLE
);
CREATE TABLE turns (
    run_key VARCHAR, turn INTEGER, asked_at TIMESTAMP, answered_at TIMESTAMP,
    latency_seconds DOUBLE, attempts INTEGER, failures INTEGER, failure_code VARCHAR,
    forced VARCHAR, calls INTEGER, reply VARCHAR, text VARCHAR, tokens_in BIGINT,
    tokens_out BIGINT, tokens_thought BIGINT, tokens_cached BIGINT, cost DOUBLE
);
CREATE TABLE waits (
    run_key VARCHAR, reason VARCHAR, since TIMESTAMP, ended_at TIMESTAMP, seconds DOUBLE
);
CREATE TABLE tool_calls (
    run_key VARCHAR, turn INTEGER, ordinal INTEGER, call_id VARCHAR, called VARCHAR,
    tool VARCHAR, arguments VARCHAR, problem VARCHAR, operation VARCHAR, attempts INTEGER,
    asked_at TIMESTAMP, returned_at TIMESTAMP, status VARCHAR, code VARCHAR, message VARCHAR,
    changed INTEGER, journal_n BIGINT, action_type VARCHAR
);
CREATE TABLE reports (
    run_key VARCHAR, agent_id VARCHAR, task_id VARCHAR, drafted_at TIMESTAMP,
    current_from TIMESTAMP, one_liner VARCHAR, tldr VARCHAR,
    content VARCHAR USING COMPRESSION zstd
);
CREATE TABLE change_items (
    set_id VARCHAR, item INTEGER, agent_id VARCHAR, task_id VARCHAR, run_key VARCHAR,
    proposed_at TIMESTAMP, opened_at TIMESTAMP, expires_at TIMESTAMP, tool VARCHAR,
    arguments VARCHAR, summary VARCHAR, fingerprint VARCHAR, touches VARCHAR[], status VARCHAR,
    decided_at TIMESTAMP, decided_by VARCHAR, reason VARCHAR, is_edited BOOLEAN,
    confirmations INTEGER, failures INTEGER, failure_code VARCHAR, journal_n BIGINT
);
CREATE TABLE operations (
    operation VARCHAR, owner_kind VARCHAR, owner VARCHAR, item INTEGER, tool VARCHAR,
    attempts INTEGER, asked_at TIMESTAMP, settled_at TIMESTAMP, outcome VARCHAR, code VARCHAR,
    asked_n BIGINT, asked_row_n INTEGER, replica VARCHAR, journal_n BIGINT,
    effect_at TIMESTAMP, effect VARCHAR, effect_code VARCHAR
);
CREATE TABLE tasks (
    task_id VARCHAR, title VARCHAR, status VARCHAR, $task_columns, category_id VARCHAR,
    labels VARCHAR[], items INTEGER, items_checked INTEGER, notes INTEGER, created_at TIMESTAMP,
    created_by VARCHAR, updated_at TIMESTAMP, is_deleted BOOLEAN,
    description VARCHAR USING COMPRESSION zstd
);
CREATE TABLE time_entries (
    entry_id VARCHAR, task_id VARCHAR, started_at TIMESTAMP, ended_at TIMESTAMP, minutes DOUBLE,
    decided_by VARCHAR, summary VARCHAR
);
CREATE TABLE blocks (
    block_id VARCHAR, day DATE, start_time VARCHAR, end_time VARCHAR, minutes INTEGER,
    task_id VARCHAR, category_id VARCHAR, title VARCHAR, decided_by VARCHAR, put_at TIMESTAMP
);
CREATE TABLE ratings (
    task_id VARCHAR, entry_id VARCHAR, rated_at TIMESTAMP, score INTEGER, comment VARCHAR,
    decided_by VARCHAR
);
CREATE TABLE wake_ratings (
    run_key VARCHAR, template_id VARCHAR, template_version INTEGER, stars INTEGER,
    rated_at TIMESTAMP
);
CREATE TABLE lessons (
    scope_kind VARCHAR, scope_id VARCHAR, set_id VARCHAR, item INTEGER, tool VARCHAR,
    verdict VARCHAR, is_edited BOOLEAN, template_id VARCHAR, template_version INTEGER,
    model VARCHAR, decided_at TIMESTAMP
);
CREATE TABLE digests (
    digest_id VARCHAR, agent_id VARCHAR, depth INTEGER, made_at TIMESTAMP,
    first_position VARCHAR, last_position VARCHAR, since TIMESTAMP, until TIMESTAMP,
    notes INTEGER, bytes BIGINT, parent_id VARCHAR, is_top BOOLEAN, text VARCHAR
);
CREATE TABLE names (
    kind VARCHAR, id VARCHAR, name VARCHAR
);
