/**
 * Texts are compared byte by byte, as everywhere else in Phasegate, whatever the language of the database. Records and
 * texts of runs are partitioned by the month their run was started in, so that a chain is never cut in two; the
 * project's own chain is in a partition of its own.
 */
export const firstMigration = `
CREATE TABLE heads (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  place bigint NOT NULL,
  project_seq bigint NOT NULL,
  project_hash text NOT NULL,
  sum text NOT NULL,
  weighted text NOT NULL,
  runs bigint NOT NULL,
  time text NOT NULL,
  signature text
) WITH (fillfactor = 20);
INSERT INTO heads (place, project_seq, project_hash, sum, weighted, runs, time)
  VALUES (0, 0, '', repeat('0', 64), repeat('0', 64), 0, '');

CREATE TABLE workflows (hash text COLLATE "C" PRIMARY KEY, data text NOT NULL);

CREATE TABLE runs (
  key bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  era integer NOT NULL,
  workflow_hash text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  target text COLLATE "C",
  goal text,
  overridden integer,
  status text COLLATE "C" NOT NULL,
  phase text NOT NULL,
  holder text COLLATE "C",
  epoch bigint NOT NULL,
  priority double precision NOT NULL,
  capabilities text COLLATE "C" NOT NULL,
  started_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  claim_place text COLLATE "C",
  gate_due text COLLATE "C",
  target_key text COLLATE "C",
  workspace text COLLATE "C",
  quiet_since text COLLATE "C",
  last_text integer NOT NULL,
  state text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX runs_by_status ON runs (status, started_at, key);
CREATE INDEX runs_by_workflow ON runs (workflow_id, status, started_at, key);
CREATE INDEX runs_held ON runs (holder, status, started_at) WHERE holder IS NOT NULL;
CREATE INDEX runs_claimable ON runs (capabilities, claim_place, key) WHERE claim_place IS NOT NULL;
CREATE INDEX runs_gate_due ON runs (gate_due) WHERE gate_due IS NOT NULL;
CREATE INDEX runs_not_over ON runs (workflow_id, target_key) WHERE status NOT IN ('completed', 'stopped');
CREATE INDEX runs_stopped ON runs (target_key) WHERE status = 'stopped' AND target_key IS NOT NULL;
CREATE INDEX runs_quiet ON runs (quiet_since, key) WHERE quiet_since IS NOT NULL;
CREATE INDEX runs_by_place ON runs (workspace) WHERE workspace IS NOT NULL;

CREATE TABLE run_heads (
  run bigint PRIMARY KEY,
  version bigint NOT NULL,
  seq bigint NOT NULL,
  hash text NOT NULL,
  mac text NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE audit (
  era integer NOT NULL,
  place bigint NOT NULL,
  run bigint NOT NULL,
  seq bigint NOT NULL,
  time text COLLATE "C" NOT NULL,
  principal text NOT NULL,
  event text COLLATE "C" NOT NULL,
  data text NOT NULL,
  prev bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (era, run, seq)
) PARTITION BY RANGE (era);
CREATE UNIQUE INDEX audit_by_place ON audit (era, place);
CREATE INDEX audit_in_order ON audit (place);
CREATE INDEX audit_stuck ON audit (run, seq) WHERE event = 'run_stuck';
CREATE TABLE audit_project PARTITION OF audit FOR VALUES FROM (0) TO (1);

CREATE TABLE texts (
  era integer NOT NULL,
  run bigint NOT NULL,
  n integer NOT NULL,
  kind smallint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (era, run, n)
) PARTITION BY RANGE (era);

CREATE TABLE leases (
  run text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  expires_at text COLLATE "C" NOT NULL,
  jti text,
  previous_jti text,
  mac text NOT NULL,
  PRIMARY KEY (run, item)
) WITH (fillfactor = 70);
CREATE INDEX leases_by_end ON leases (expires_at, run, item);
CREATE INDEX leases_of ON leases (agent, run, item);

CREATE TABLE calls (
  run text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL,
  tool text NOT NULL,
  process text NOT NULL,
  deadline text NOT NULL,
  ending boolean NOT NULL,
  PRIMARY KEY (run, id)
);
CREATE TABLE calls_begun (
  run text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (run, item)
) WITH (fillfactor = 70);

CREATE TABLE kept (
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  data text NOT NULL,
  mac text NOT NULL,
  PRIMARY KEY (kind, key)
);

CREATE TABLE humans (
  name text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  data text NOT NULL,
  removed_at text,
  mac text NOT NULL,
  PRIMARY KEY (name, public_key)
);
CREATE TABLE trusted (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  data text NOT NULL,
  mac text NOT NULL
);
CREATE INDEX trusted_by_hash ON trusted (hash, number);
CREATE INDEX trusted_by_workflow ON trusted (workflow, number);
CREATE TABLE agents (
  name text COLLATE "C" NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  data text NOT NULL,
  removed_at text,
  mac text NOT NULL,
  PRIMARY KEY (name, key_hash)
);
CREATE TABLE webhooks (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  data text NOT NULL,
  mac text NOT NULL,
  cursor bigint NOT NULL,
  failures integer NOT NULL,
  retry_at text
);
CREATE TABLE database_backups (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  created_at text COLLATE "C" NOT NULL,
  path text NOT NULL,
  run text,
  size_bytes bigint
);
-- Raised with every change of what stands beside the runs, so that a node knows whether what it keeps still stands.
CREATE TABLE touched (what text PRIMARY KEY, number bigint NOT NULL);
INSERT INTO touched (what, number) VALUES ('agents', 0), ('people', 0);

-- There while another store is being copied into these tables: until it is whole, it is not a store.
CREATE TABLE copying (one boolean PRIMARY KEY, mac text NOT NULL);

CREATE TABLE archived (
  key bigint PRIMARY KEY,
  run text COLLATE "C" NOT NULL UNIQUE,
  seq bigint NOT NULL,
  hash text NOT NULL,
  first_place bigint NOT NULL,
  last_place bigint NOT NULL,
  file text NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  archived_at text NOT NULL,
  mac text NOT NULL
);
`;
