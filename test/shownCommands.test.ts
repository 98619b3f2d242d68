import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { comparedSources } from './equalLines.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Verbs that are followed by what an agent may have written: ids of workflows, names of files and of folders. */
const NAMED_BY_OTHERS =
  /phasegate (trust|validate|check|start|test|graph|isolate check --workspace|deps freeze --(?:host|file)) \$\{(?!shellWord\()([^}]*)\}/g;

/** The name is one of ours, or the id of a workflow that was loaded, which is a word. */
const ARE_WORDS: readonly string[] = [
  'packages/core/src/engine/capabilities.ts: start id',
  'packages/core/src/engine/start.ts: start workflow.id',
  'packages/dashboard/src/workflows/WorkflowPage.tsx: trust page.id',
  'packages/phasegate/src/surfaces/cli/setUp/nextSteps.ts: start words',
  'packages/phasegate/src/templates/readme.ts: check template',
  'packages/phasegate/src/templates/readme.ts: test template',
  'packages/phasegate/src/templates/readme.ts: trust template',
];

test('a command that somebody is shown to copy has names that others chose as single words [adv.G7]', () => {
  const found = Object.entries(comparedSources(root))
    .filter(([file]) => file.startsWith('packages/') && !file.includes('.test.'))
    .flatMap(([file, text]) =>
      [...text.matchAll(NAMED_BY_OTHERS)].map(([, verb, name]) => `${file}: ${verb} ${name}`),
    );

  expect(found.toSorted()).toEqual(ARE_WORDS);
});
