import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, makeShell, type Shell } from '../fixtures/callCli.ts';
import { testingMachine } from '../fixtures/testCommand.ts';

const PASSPHRASE = 'open sesame';
const MACHINE = testingMachine(new AbortController().signal);

// A workflow that was accepted with all it imports, a run of it, and an agent that may write any file.
const shell: Shell = makeShell();
const ran = join(shell.root, 'ran');
const EVIL = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\n`;
const EVIL_CJS = EVIL.replace(
  "import { writeFileSync } from 'node:fs'",
  "const { writeFileSync } = require('fs')",
);
const FILES: Readonly<Record<string, string>> = {
  'x.workflow.ts': `import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { defineWorkflow } from '@phasegate/sdk';
import { dep } from 'dep';
import data from './data.json' with { type: 'json' };
import { help } from './helper.ts';
const load = createRequire(import.meta.url);
const plan = load('./schemas/plan.json');
load('required');
writeFileSync(${JSON.stringify(ran)}, '');
export default defineWorkflow({
  type: 'x',
  name: data.title,
  steps: [{
    name: 'a',
    writes: ['**'],
    requiredArtifacts: [{ type: 'plan', schema: plan }],
    postconditions: [{ name: 'c', check: async () => (await import('late')).late && dep && help }],
  }],
});
`,
  'helper.ts': 'export const help: boolean = true;\n',
  'data.json': '{"title":"A title"}\n',
  'schemas/plan.json': '{"type":"object"}\n',
  'node_modules/dep/package.json': '{"type":"module","exports":"./index.js"}\n',
  'node_modules/dep/index.js': "export { dep } from './deep.js';\n",
  'node_modules/dep/deep.js': 'export const dep = true;\n',
  'node_modules/required/index.js': 'module.exports = 1;\n',
  'node_modules/late/index.js': 'exports.late = true;\n',
};

let run: string;
beforeAll(async () => {
  for (const folder of ['schemas', 'node_modules/dep', 'node_modules/required', 'node_modules/late'])
    mkdirSync(join(shell.root, folder), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) shell.write(path, text);
  await shell.callAs(PASSPHRASE, ['humans', 'add', 'maria']);
  await shell.callAs(PASSPHRASE, ['trust', '--yes']);
  const started = await call(['start', 'x', '--json']);
  expect(started).toMatchObject({ code: 0, stderr: '' });
  run = String(started.json().run);
  expect(existsSync(ran)).toBe(true);
});

describe('an agent rewrites', () => {
  test.each([
    ['a helper', 'helper.ts', `${EVIL}export const help = true;\n`],
    ['a package', 'node_modules/dep/index.js', `${EVIL}export const dep = true;\n`],
    ['a file deep in a package', 'node_modules/dep/deep.js', `${EVIL}export const dep = true;\n`],
    ['which file of a package is meant', 'node_modules/dep/package.json', '{"exports":"./deep.js"}\n'],
    ['a package that `createRequire` loads', 'node_modules/required/index.js', EVIL_CJS],
    ['a package that a function imports', 'node_modules/late/index.js', `${EVIL_CJS}exports.late = true;`],
    ['a JSON file', 'data.json', '{"title":"Another"}\n'],
    ['a schema', 'schemas/plan.json', '{}\n'],
    ['the workflow itself', 'x.workflow.ts', `${FILES['x.workflow.ts']}// as it was, and a comment`],
  ])('%s: no byte of it runs, on any command [adv.Q1 adv.Q4 adv.Q6 C33]', async (_, path, text) => {
    const commands = [
      ['start', 'x'],
      ['run', 'x'],
      ['validate'],
      ['check', 'x'],
      ['test', 'x'],
      ['graph', 'x'],
      ['simulate', 'x'],
      ['coverage', 'x'],
      ['replay', run, '--workflow', 'x'],
      ['migrate', run],
    ];
    shell.write(path, text);
    rmSync(ran, { force: true });

    for (const words of commands) {
      const called = await call([...words, '--json']);
      expect([words, called]).toMatchObject([words, { code: 1 }]);
      expect([words, called.stdout]).toEqual([words, expect.stringContaining('untrusted_workflow')]);
    }
    expect(await call(['doctor'])).toMatchObject({ code: 1 });
    for (const words of [['list'], ['next', run], ['status', run]]) {
      expect([words, await call(words)]).toMatchObject([words, { code: 0 }]);
    }
    const migrated = await shell.callAs(PASSPHRASE, ['migrate', run, '--to', '0'.repeat(12), '--json']);
    expect(migrated.stdout).toContain('untrusted_workflow');
    expect(existsSync(ran)).toBe(false);

    shell.write(path, FILES[path] as string);
  });

  test('nothing, or puts back what was there: what was accepted is run', async () => {
    expect((await call(['graph', 'x'])).code).toBe(0);
    expect(existsSync(ran)).toBe(true);
  });

  test('a package under a run: its functions are not asked, and the run goes to a human [adv.Q6]', async () => {
    shell.write('node_modules/late/index.js', `${EVIL_CJS}exports.late = true;`);
    rmSync(ran, { force: true });

    const done = await shell.call(['done', run, '--evidence', '-', '--json'], '{"plan":{}}');

    expect(done).toMatchObject({ code: 1, stdout: expect.stringContaining('escalated') });
    expect(existsSync(ran)).toBe(false);
  });
});

function call(words: readonly string[]): Promise<Called> {
  return shell.callWith(MACHINE, words);
}
