import { doStep } from './step.ts';

/** Copies the newest version of the book, chapter by chapter, so that the old one stays as it is. */
await doStep(({ input, known, all, change, halfway }) => {
  const [newest] = all('SELECT id FROM versions WHERE book = ? ORDER BY rowid DESC LIMIT 1', known('book'));
  const from = String(newest?.id);
  const versionId = `v${Number(from.slice(1)) + 1}`;
  change(
    'INSERT INTO versions (id, book, made_from, run) VALUES (?, ?, ?, ?)',
    ...[versionId, known('book'), from, input.runId],
  );
  for (const { number } of all('SELECT number FROM chapters WHERE version = ?', from)) {
    change(
      'INSERT INTO chapters SELECT ?, number, title, quality FROM chapters WHERE version = ? AND number = ?',
      ...[versionId, from, Number(number)],
    );
    halfway();
  }
  return { prompt: `Work on ${versionId}; ${from} stays as it is`, result: { versionId } };
});
