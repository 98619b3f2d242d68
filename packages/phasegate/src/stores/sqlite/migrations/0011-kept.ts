/** Small sealed records of the runtime: sessions of clients, their calls, pauses. */
export const keptMigration = `
CREATE TABLE kept (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  data TEXT NOT NULL,
  mac TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
`;
