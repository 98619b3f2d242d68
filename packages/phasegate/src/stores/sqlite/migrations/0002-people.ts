/** Humans and what they accepted. A removed human stays: past decisions are checked against the key. */
export const peopleMigration = `
CREATE TABLE humans (
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  data TEXT NOT NULL,
  removed_at TEXT,
  mac TEXT NOT NULL,
  PRIMARY KEY (name, public_key)
) STRICT;

CREATE TABLE trusted (
  number INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  workflow TEXT NOT NULL,
  data TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT;

CREATE INDEX trusted_by_hash ON trusted(hash);
CREATE INDEX trusted_by_workflow ON trusted(workflow);
`;
