-- A database of PostgreSQL as the revision of 2026-11-24 made it, before scripts had numbers; without its queue.
SET check_function_bodies = false;
CREATE SCHEMA agent;
CREATE SCHEMA journal;
CREATE SCHEMA runtime;
CREATE SCHEMA views;
CREATE SCHEMA wakelog;
CREATE FUNCTION wakelog.entries(brought bytea[]) RETURNS TABLE(sha256 bytea, home integer, name text, subject text, token_role text, member_role text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $$
        SELECT t.sha256, h.home, h.name, t.subject, t.role, m.role FROM wakelog.tokens t
        JOIN wakelog.homes h ON h.home = t.home
        JOIN wakelog.members m ON m.home = t.home AND m.subject = t.subject
        WHERE t.sha256 = ANY (brought) AND t.revoked_at IS NULL AND t.expires_at > now()
    $$;
CREATE FUNCTION wakelog.home() RETURNS integer
    LANGUAGE sql STABLE
    AS $$SELECT current_setting('wakelog.home')::integer$$;
CREATE TABLE wakelog.homes (
    home integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    replica text NOT NULL,
    settings text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    moved_to text DEFAULT ''::text NOT NULL,
    CONSTRAINT homes_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT homes_state_check CHECK ((state = ANY (ARRAY['open'::text, 'frozen'::text, 'moved'::text])))
);
CREATE FUNCTION wakelog.home_named(wanted text) RETURNS SETOF wakelog.homes
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $$SELECT * FROM wakelog.homes WHERE name = wanted$$;
CREATE TABLE agent.events (
    home integer NOT NULL,
    n bigint NOT NULL,
    "row" integer NOT NULL,
    version integer NOT NULL,
    replica text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    state bytea NOT NULL
);
CREATE TABLE agent.heads (
    home integer NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    row_count bigint DEFAULT 0 NOT NULL,
    at text DEFAULT ''::text NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    replica text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    is_news boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE agent.payloads (
    home integer NOT NULL,
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL
);
CREATE TABLE journal.events (
    home integer NOT NULL,
    n bigint NOT NULL,
    "row" integer NOT NULL,
    version integer NOT NULL,
    replica text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    state bytea NOT NULL
);
CREATE TABLE journal.heads (
    home integer NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    row_count bigint DEFAULT 0 NOT NULL,
    at text DEFAULT ''::text NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    replica text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    is_news boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE journal.payloads (
    home integer NOT NULL,
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL
);
CREATE TABLE runtime.homes (
    home integer NOT NULL,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    hold_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    faults integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE runtime.leases (
    home integer NOT NULL,
    agent text NOT NULL,
    run_key text NOT NULL,
    owner text NOT NULL,
    pid integer NOT NULL,
    place text NOT NULL,
    since text NOT NULL,
    lease_until timestamp with time zone NOT NULL
);
CREATE TABLE runtime.runtimes (
    home integer NOT NULL,
    owner text NOT NULL,
    pid integer NOT NULL,
    place text NOT NULL,
    since text NOT NULL,
    beat text NOT NULL,
    is_tending boolean NOT NULL,
    lease_until timestamp with time zone NOT NULL
);
CREATE TABLE views.documents (
    home integer NOT NULL,
    view text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    shelf text NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    mark text NOT NULL COLLATE pg_catalog."C",
    due text NOT NULL COLLATE pg_catalog."C",
    tally bigint NOT NULL,
    turn text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    document bytea NOT NULL
);
CREATE TABLE views.locks (
    home integer NOT NULL,
    log text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE views.positions (
    home integer NOT NULL,
    view text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    n bigint NOT NULL,
    digest text NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE views.remembered (
    home integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);
CREATE TABLE wakelog.defaults (
    is_only boolean DEFAULT true NOT NULL,
    settings text DEFAULT ''::text NOT NULL,
    CONSTRAINT defaults_is_only_check CHECK (is_only)
);
ALTER TABLE wakelog.homes ALTER COLUMN home ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wakelog.homes_home_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE wakelog.members (
    home integer NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'owner'::text, 'operator'::text])))
);
CREATE TABLE wakelog.meta (
    format integer NOT NULL
);
CREATE TABLE wakelog.notices (
    home integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    state bytea NOT NULL
);
CREATE TABLE wakelog.tokens (
    sha256 bytea NOT NULL,
    id text NOT NULL,
    home integer NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);
INSERT INTO agent.heads VALUES (1, 0, 0, '', '', '', 'open', false);
INSERT INTO journal.events VALUES (1, 1, 0, 1, 'r1', 'log:main@r1', 'log.epoch.1', '\x7b226174223a22323032362d31312d32345431333a35393a32322e3535373530315a222c226e223a312c22726f7773223a312c2264617461223a7b226b696e64223a226c6f672e65706f63682e31222c2272756c6573223a312c227061636b616765223a22302e322e30222c22756e69636f6465223a2231342e302e30227d7d');
INSERT INTO journal.events VALUES (1, 2, 0, 1, 'r1', 'receipt:bp7456n2vxyl5meu2flppdidvlfb5mtx@r1', 'receipt.1', '\x7b226174223a22323032362d31312d32345431333a35393a32322e3535373530315a222c226e223a322c22726f7773223a332c2270726576223a2233786f776f733472786a7a776767657275693573337667366c637178326e3478222c2264617461223a7b226b696e64223a22726563656970742e31222c22636f6d6d616e64223a7b226b696e64223a22636f6d6d616e642e6372656174655f7461736b2e31222c227469746c65223a224d656e64207468652066656e6365227d2c22726573756c74223a7b22696473223a5b22346e37666737747468776b6d616f7971686c33786a6e37796f793366796e3372225d7d7d7d');
INSERT INTO journal.events VALUES (1, 2, 1, 1, 'r1', 'catalog:main@r1', 'catalog.category_added.1', '\x7b226e223a322c22726f77223a312c2264617461223a7b226b696e64223a22636174616c6f672e63617465676f72795f61646465642e31222c2263617465676f7279223a2262717867753574763775696d3361737378336b6175797174666271656d713533222c226e616d65223a22496e626f78227d7d');
INSERT INTO journal.events VALUES (1, 2, 2, 1, 'r1', 'task:4n7fg7tthwkmaoyqhl3xjn7yoy3fyn3r@r1', 'task.created.1', '\x7b226e223a322c22726f77223a322c2264617461223a7b226b696e64223a227461736b2e637265617465642e31222c226279223a22706572736f6e222c227469746c65223a224d656e64207468652066656e6365222c2263617465676f7279223a2262717867753574763775696d3361737378336b6175797174666271656d713533227d7d');
INSERT INTO journal.heads VALUES (1, 2, 4, '2026-11-24T13:59:22.557501Z', '6h54nxfehfdgmka64jnrel75wgryxyer', 'r1', 'open', true);
INSERT INTO runtime.homes VALUES (1, '2026-11-24 13:59:18.999839+00', '-infinity', 0);
INSERT INTO wakelog.homes OVERRIDING SYSTEM VALUE VALUES (1, 'anna', 'r1', 'currency = "EUR"
# Settings of this home. A line counts once the # before it is gone; shown are the defaults.
# API keys do not belong here: set GEMINI_API_KEY or OPENAI_API_KEY, or use the system''s keyring.
# timezone = "UTC"               # your time zone, like "Europe/Berlin"   (WAKELOG_TIMEZONE)
# model = "rules"                # gemini, gemini:MODEL, openai:MODEL, openai:MODEL@URL, tape:FILE
# currency = ""                  # of all prices and costs, like "EUR"; empty: not said
# [agents]
# enabled = true                 # false: no agent wakes
# mode = "hybrid"                # of new agents: autonomous, interactive, hybrid
# parallel = 3                   # how many run at once
# propagated_at = "06:00"        # when agents look at changes of linked tasks
# deadline_seconds = 600         # of one wake
# expire_after_days = 0          # when undecided proposals expire; 0: never
# throttle_seconds = 120         # how long a changed task is left alone before its agent wakes
# follow_up = "inherit"          # a follow-up task gets an agent like its source''s; "none": none
# [budget]                       # tokens, in and out, failed answers too; 0: no limit
# tokens_per_wake = 0
# tokens_per_agent_day = 0
# tokens_per_day = 0
# cost_per_day = 0               # in your currency; a model without a price is not asked then
# [prompt]
# max_bytes = 120000
# [import]
# gone = "keep"                  # tasks that left their file: keep, reject or delete  (--gone)
# write_back = false             # true: `run --watch FILE` writes into FILE what you decide here
# agents = false                 # new tasks get an agent each  (--agents)
# [policy]
# scrub_entry = false            # true: secrets of known kinds are not kept; agents never see any
# [gemini]
# base_url = ""                  # another endpoint of the same API (WAKELOG_GEMINI_BASE_URL)
# [openai]                       # a protocol that Ollama, vLLM, LM Studio and others speak
# base_url = ""                  # "http://localhost:11434/v1", say (WAKELOG_OPENAI_BASE_URL)
# allow_plain = false            # true: http to other machines, too; all on the way can read it
# key = ""                       # "env:NAME" or "keyring"; empty: OPENAI_API_KEY
# [models.NAME]                  # one more endpoint, asked as openai:NAME; as many as you like
# base_url = "https://host/v1"   # allow_plain may stand here, too
# model = "MODEL"                # as that server calls it
# key = ""                       # "env:NAME" or "keyring"; empty: it is sent none
# [otel]                         # OpenTelemetry spans of wakes (needs wakelog[otel])
# enabled = false                # true: send them to OTEL_EXPORTER_OTLP_ENDPOINT
# texts = false                  # true: with prompts, replies and names in them
# [analytics]
# memory_mb = 1024               # that `wakelog sql` and the like may use
# [notify]                       # what `wakelog run` tells you; see `wakelog notify`
# command = []                   # a program that is given JSON, as ["my-notifier", "--now"]
# webhook = ""                   # an https address that is sent ids and counts
# secret = ""                    # "env:NAME": the variable whose value signs the webhook
# quiet = ""                     # "22:00-07:00": hours in which nothing is told
# every_minutes = 15             # what comes within so many is told together
# [sync]                         # one home on several machines; see `wakelog sync`
# folder = ""                    # where they meet; any tool may carry it between them
# agents = "shared"              # "local": agents stay here, and each machine wakes its own
# hold = []                      # replicas of which nothing more is taken, as ["r4k2"]
# [prices."gemini:MODEL"]        # of a million tokens, in your currency; without it no cost is told
# input = 1.25
# output = 10                    # thoughts too
# cached = 0.31                  # of input from a cache; without it, it costs as other input
# since = "2027-01-01"           # from this day on, UTC; of several: [[prices."gemini:MODEL"]] each
', 'open', '');
INSERT INTO wakelog.members VALUES (1, 'anna', 'owner');
INSERT INTO wakelog.members VALUES (1, 'ben', 'viewer');
INSERT INTO wakelog.meta VALUES (1);
INSERT INTO wakelog.tokens VALUES ('\xfac49fd35ab924a7ad9d874f20c8b22a990338722728c589f5b761cb6e3b97c8', 'fac49fd35ab9', 1, 'anna', 'owner', '2026-11-24 13:59:24.32121+00', '2036-11-21 13:59:24.32121+00', NULL);
SELECT pg_catalog.setval('wakelog.homes_home_seq', 1, true);
ALTER TABLE ONLY agent.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (home, stream, version);
ALTER TABLE ONLY agent.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (home);
ALTER TABLE ONLY agent.payloads
    ADD CONSTRAINT payloads_pkey PRIMARY KEY (home, id);
ALTER TABLE ONLY journal.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (home, stream, version);
ALTER TABLE ONLY journal.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (home);
ALTER TABLE ONLY journal.payloads
    ADD CONSTRAINT payloads_pkey PRIMARY KEY (home, id);
ALTER TABLE ONLY runtime.homes
    ADD CONSTRAINT homes_pkey PRIMARY KEY (home);
ALTER TABLE ONLY runtime.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (home, agent);
ALTER TABLE ONLY runtime.runtimes
    ADD CONSTRAINT runtimes_pkey PRIMARY KEY (home, owner);
ALTER TABLE ONLY views.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (home, view, key);
ALTER TABLE ONLY views.locks
    ADD CONSTRAINT locks_pkey PRIMARY KEY (home, log);
ALTER TABLE ONLY views.positions
    ADD CONSTRAINT positions_pkey PRIMARY KEY (home, view);
ALTER TABLE ONLY views.remembered
    ADD CONSTRAINT remembered_pkey PRIMARY KEY (home, name);
ALTER TABLE ONLY wakelog.defaults
    ADD CONSTRAINT defaults_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY wakelog.homes
    ADD CONSTRAINT homes_name_key UNIQUE (name);
ALTER TABLE ONLY wakelog.homes
    ADD CONSTRAINT homes_pkey PRIMARY KEY (home);
ALTER TABLE ONLY wakelog.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (home, subject);
ALTER TABLE ONLY wakelog.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (home, name);
ALTER TABLE ONLY wakelog.tokens
    ADD CONSTRAINT tokens_id_key UNIQUE (id);
ALTER TABLE ONLY wakelog.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (sha256);
CREATE UNIQUE INDEX events_home_n_replica_row_idx ON agent.events USING btree (home, n, replica, "row");
CREATE INDEX heads_news ON agent.heads USING btree (home) WHERE is_news;
CREATE INDEX payloads_home_n_idx ON agent.payloads USING btree (home, n);
CREATE UNIQUE INDEX events_home_n_replica_row_idx ON journal.events USING btree (home, n, replica, "row");
CREATE INDEX heads_news ON journal.heads USING btree (home) WHERE is_news;
CREATE INDEX payloads_home_n_idx ON journal.payloads USING btree (home, n);
CREATE INDEX homes_next_at_idx ON runtime.homes USING btree (next_at);
CREATE INDEX dues ON views.documents USING btree (home, view, due, mark) WHERE (due <> ''::text);
CREATE INDEX marks ON views.documents USING btree (home, view, mark, place) WHERE (mark <> ''::text);
CREATE INDEX places ON views.documents USING btree (home, view, place);
CREATE INDEX shelves ON views.documents USING btree (home, view, shelf, place);
CREATE INDEX titles ON views.documents USING btree (home, view, md5(title)) WHERE (title <> ''::text);
CREATE INDEX turns ON views.documents USING btree (home, view, turn, key) WHERE (turn <> ''::text);
ALTER TABLE ONLY agent.heads
    ADD CONSTRAINT heads_home_fkey FOREIGN KEY (home) REFERENCES wakelog.homes(home);
ALTER TABLE ONLY journal.heads
    ADD CONSTRAINT heads_home_fkey FOREIGN KEY (home) REFERENCES wakelog.homes(home);
ALTER TABLE ONLY runtime.homes
    ADD CONSTRAINT homes_home_fkey FOREIGN KEY (home) REFERENCES wakelog.homes(home);
ALTER TABLE ONLY wakelog.members
    ADD CONSTRAINT members_home_fkey FOREIGN KEY (home) REFERENCES wakelog.homes(home);
ALTER TABLE ONLY wakelog.tokens
    ADD CONSTRAINT tokens_home_subject_fkey FOREIGN KEY (home, subject) REFERENCES wakelog.members(home, subject) ON DELETE CASCADE;
ALTER TABLE agent.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent.heads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON agent.events USING ((home = wakelog.home()));
CREATE POLICY own ON agent.heads FOR UPDATE USING ((home = wakelog.home()));
CREATE POLICY own ON agent.payloads USING ((home = wakelog.home()));
ALTER TABLE agent.payloads ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON agent.heads FOR SELECT USING (true);
ALTER TABLE journal.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal.heads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON journal.events USING ((home = wakelog.home()));
CREATE POLICY own ON journal.heads FOR UPDATE USING ((home = wakelog.home()));
CREATE POLICY own ON journal.payloads USING ((home = wakelog.home()));
ALTER TABLE journal.payloads ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON journal.heads FOR SELECT USING (true);
ALTER TABLE views.documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE views.locks ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON views.documents USING ((home = wakelog.home()));
CREATE POLICY own ON views.locks USING ((home = wakelog.home()));
CREATE POLICY own ON views.positions USING ((home = wakelog.home()));
CREATE POLICY own ON views.remembered USING ((home = wakelog.home()));
ALTER TABLE views.positions ENABLE ROW LEVEL SECURITY;
ALTER TABLE views.remembered ENABLE ROW LEVEL SECURITY;
ALTER TABLE wakelog.notices ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON wakelog.notices USING ((home = wakelog.home()));
GRANT USAGE ON SCHEMA agent TO wakelog_app;
GRANT USAGE ON SCHEMA agent TO wakelog_worker;
GRANT USAGE ON SCHEMA agent TO wakelog_eraser;
GRANT USAGE ON SCHEMA journal TO wakelog_app;
GRANT USAGE ON SCHEMA journal TO wakelog_worker;
GRANT USAGE ON SCHEMA journal TO wakelog_eraser;
GRANT USAGE ON SCHEMA runtime TO wakelog_app;
GRANT USAGE ON SCHEMA runtime TO wakelog_worker;
GRANT USAGE ON SCHEMA runtime TO wakelog_eraser;
GRANT USAGE ON SCHEMA views TO wakelog_app;
GRANT USAGE ON SCHEMA views TO wakelog_worker;
GRANT USAGE ON SCHEMA views TO wakelog_eraser;
GRANT USAGE ON SCHEMA wakelog TO wakelog_app;
GRANT USAGE ON SCHEMA wakelog TO wakelog_worker;
GRANT USAGE ON SCHEMA wakelog TO wakelog_eraser;
REVOKE ALL ON FUNCTION wakelog.entries(brought bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION wakelog.entries(brought bytea[]) TO wakelog_app;
GRANT ALL ON FUNCTION wakelog.entries(brought bytea[]) TO wakelog_worker;
GRANT ALL ON FUNCTION wakelog.entries(brought bytea[]) TO wakelog_eraser;
GRANT ALL ON FUNCTION wakelog.home() TO wakelog_app;
GRANT ALL ON FUNCTION wakelog.home() TO wakelog_worker;
GRANT ALL ON FUNCTION wakelog.home() TO wakelog_eraser;
GRANT SELECT ON TABLE wakelog.homes TO wakelog_worker;
REVOKE ALL ON FUNCTION wakelog.home_named(wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION wakelog.home_named(wanted text) TO wakelog_app;
GRANT ALL ON FUNCTION wakelog.home_named(wanted text) TO wakelog_worker;
GRANT ALL ON FUNCTION wakelog.home_named(wanted text) TO wakelog_eraser;
GRANT SELECT,INSERT ON TABLE agent.events TO wakelog_app;
GRANT SELECT,INSERT ON TABLE agent.events TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE agent.events TO wakelog_eraser;
GRANT SELECT,UPDATE ON TABLE agent.heads TO wakelog_app;
GRANT SELECT,UPDATE ON TABLE agent.heads TO wakelog_worker;
GRANT SELECT,UPDATE ON TABLE agent.heads TO wakelog_eraser;
GRANT SELECT,INSERT ON TABLE agent.payloads TO wakelog_app;
GRANT SELECT,INSERT ON TABLE agent.payloads TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE agent.payloads TO wakelog_eraser;
GRANT SELECT,INSERT ON TABLE journal.events TO wakelog_app;
GRANT SELECT,INSERT ON TABLE journal.events TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE journal.events TO wakelog_eraser;
GRANT SELECT,UPDATE ON TABLE journal.heads TO wakelog_app;
GRANT SELECT,UPDATE ON TABLE journal.heads TO wakelog_worker;
GRANT SELECT,UPDATE ON TABLE journal.heads TO wakelog_eraser;
GRANT SELECT,INSERT ON TABLE journal.payloads TO wakelog_app;
GRANT SELECT,INSERT ON TABLE journal.payloads TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE journal.payloads TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.homes TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.leases TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.leases TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.leases TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.runtimes TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.runtimes TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE runtime.runtimes TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.documents TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.documents TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.documents TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.locks TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.locks TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.locks TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.positions TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.positions TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.positions TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.remembered TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.remembered TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE views.remembered TO wakelog_eraser;
GRANT SELECT ON TABLE wakelog.defaults TO wakelog_app;
GRANT SELECT ON TABLE wakelog.defaults TO wakelog_worker;
GRANT SELECT ON TABLE wakelog.defaults TO wakelog_eraser;
GRANT SELECT ON TABLE wakelog.meta TO wakelog_app;
GRANT SELECT ON TABLE wakelog.meta TO wakelog_worker;
GRANT SELECT ON TABLE wakelog.meta TO wakelog_eraser;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wakelog.notices TO wakelog_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wakelog.notices TO wakelog_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wakelog.notices TO wakelog_eraser;
