import { doStep } from './step.ts';

/** Measures how much better the version is than the one the run started from. */
await doStep(({ input, known, all, change, halfway }) => {
  const version = known('versionId');
  const before = known('previousVersionId');
  const qualityOf = (id: string) =>
    Number(all('SELECT avg(quality) AS quality FROM chapters WHERE version = ?', id)[0]?.quality) / 100;
  const [baseline, current] = [qualityOf(before), qualityOf(version)];
  const delta = Number((current - baseline).toFixed(4));
  const changed = all(
    `SELECT new.number FROM chapters AS new JOIN chapters AS old ON old.number = new.number AND old.version = ?
      WHERE new.version = ? AND new.quality <> old.quality ORDER BY new.number`,
    ...[before, version],
  );
  change(
    'INSERT INTO metrics (run, version, baseline, current, delta) VALUES (?, ?, ?, ?, 0)',
    ...[input.runId, version, baseline, current],
  );
  halfway();
  change('UPDATE metrics SET delta = ? WHERE run = ? AND version = ?', ...[delta, input.runId, version]);
  return {
    prompt: `Review the chapters of ${version}: ${changed.length} changed, a gain of ${delta}`,
    result: {
      metrics: { baseline, current, delta },
      modifiedChapters: changed.map(({ number }) => Number(number)),
    },
  };
});
