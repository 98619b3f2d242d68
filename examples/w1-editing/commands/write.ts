import { parseArgs } from 'node:util';
import { doStep } from './step.ts';

const { area = '', run } = parseArgs({
  options: { area: { type: 'string' }, run: { type: 'string' } },
}).values;

/** Improves the chapters of one area. */
await doStep(({ input, known, scenario, all, change, halfway }) => {
  if (area !== input.item || run !== input.runId) throw new Error('the words are about something else');
  const version = known('versionId');
  const [plan] = all(
    'SELECT chapters FROM strategic_plans WHERE run = ? AND area = ? ORDER BY round DESC LIMIT 1',
    ...[input.runId, area],
  );
  const chapters: readonly number[] = JSON.parse(String(plan?.chapters));
  for (const chapter of chapters) {
    change(
      'UPDATE chapters SET quality = quality + ? WHERE version = ? AND number = ?',
      ...[scenario.has('little') ? 1 : 15, version, chapter],
    );
    halfway();
  }
  return {
    prompt: `Rewrite the ${area} of ${version}: chapters ${chapters.join(' and ')}`,
    result: { modifiedChapters: chapters },
  };
});
