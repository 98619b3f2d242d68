CREATE TABLE strategic_plans (
  run TEXT NOT NULL,
  round INTEGER NOT NULL,
  area TEXT NOT NULL,
  chapters TEXT NOT NULL,
  wish TEXT,
  PRIMARY KEY (run, round, area)
);

CREATE TABLE reviews (
  run TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  round INTEGER NOT NULL,
  decision TEXT,
  PRIMARY KEY (run, reviewer, round)
);

CREATE TABLE metrics (
  run TEXT NOT NULL,
  version TEXT NOT NULL REFERENCES versions (id),
  baseline REAL NOT NULL,
  current REAL NOT NULL,
  delta REAL NOT NULL
);

CREATE TABLE artifacts (
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (run, kind)
);

CREATE TABLE workflow_status (
  run TEXT PRIMARY KEY,
  status TEXT NOT NULL
);

-- Every command begins its work here and ends it here. A row that is not finished is the trace of half a step.
CREATE TABLE work (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  step TEXT NOT NULL,
  item TEXT,
  finished INTEGER NOT NULL DEFAULT 0
);
