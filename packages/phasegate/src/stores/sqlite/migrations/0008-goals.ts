/**
 * What runs are to achieve, for the list of runs; the run's own state has it too, under its seal. A table beside
 * `runs`, because a goal never changes and the queue, which every claim reads, has no use for it.
 */
export const goalsMigration = `
CREATE TABLE goals (
  run TEXT PRIMARY KEY,
  goal TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
