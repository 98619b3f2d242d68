/**
 * Tool calls under way, for every process on the database to see, and how many were begun in each run. The empty item
 * is the run itself: no item has that name.
 */
export const callsMigration = `
CREATE TABLE calls (
  run TEXT NOT NULL,
  id TEXT NOT NULL,
  item TEXT NOT NULL,
  tool TEXT NOT NULL,
  process TEXT NOT NULL,
  deadline TEXT NOT NULL,
  ending INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls_begun (
  run TEXT NOT NULL,
  item TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (run, item)
) STRICT, WITHOUT ROWID;
`;
