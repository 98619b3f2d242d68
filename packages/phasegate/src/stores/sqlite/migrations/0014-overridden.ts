/**
 * How many phases humans led a run past, for the list of runs; the run's own state has them too, under its seal. A table
 * beside `runs`, because hardly any run has one.
 */
export const overriddenMigration = `
CREATE TABLE overridden (
  run TEXT PRIMARY KEY,
  phases INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
