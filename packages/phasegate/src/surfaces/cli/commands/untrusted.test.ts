import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openLocalProject } from '../../../localProject.ts';
import { type Called, makeShell, type Shell } from '../fixtures/callCli.ts';
import { testingMachine } from '../fixtures/testCommand.ts';

const PASSPHRASE = 'open sesame';
const MACHINE = testingMachine(new AbortController().signal);

/** Commands that load a workflow's definition. */
const LOADING = [
  ['start', 'x'],
  ['start', 'x', '--param', 'book=a'],
  ['validate'],
  ['validate', 'x.workflow.ts'],
  ['check', 'x'],
  ['check', 'x', '--param', 'book=a'],
  ['test', 'x'],
  ['test', 'x', '--coverage'],
  ['graph', 'x'],
  ['graph', 'x', '--coverage'],
  ['simulate', 'x'],
  ['coverage', 'x'],
  ['replay', '--all', '--workflow', 'x'],
  ['run', 'x'],
] as const;

let shell: Shell;
let ran: string;
beforeEach(async () => {
  shell = makeShell();
  ran = join(shell.root, 'ran');
  writeWorkflow('');
  await shell.callAs(PASSPHRASE, ['humans', 'add', 'maria']);
});

describe('once a human is set up', () => {
  test('no command runs a workflow in code that nobody accepted [C33 Q4]', async () => {
    for (const words of LOADING) {
      const called = await call([...words, '--json']);
      expect([words, called.code, called.stdout]).toEqual([
        words,
        1,
        expect.stringContaining('untrusted_workflow'),
      ]);
      expect([words, existsSync(ran)]).toEqual([words, false]);
    }
    expect((await call(['doctor', '--json'])).json()).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'workflow x', status: 'missing', next_step: 'phasegate trust x' }),
      ]),
    });
    expect((await call(['list'])).code).toBe(0);
    expect(existsSync(ran)).toBe(false);
  });

  test('a refusal says what could be read without running it, and the way on', async () => {
    const { unaccepted, hint } = (await call(['graph', 'x', '--json'])).json();

    expect(unaccepted).toEqual({
      workflow: 'x',
      path: 'x.workflow.ts',
      closure: expect.stringMatching(/^[0-9a-f]{64}$/),
      files: { 'x.workflow.ts': expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(hint).toContain('phasegate trust x');
    const { stderr } = await call(['validate']);
    expect(stderr).toMatch(
      /no human has accepted `x.workflow.ts`.*[0-9a-f]{64} {2}x.workflow.ts.*--as NAME/s,
    );
  });

  test('what trust shows is read, and nothing of it is run before it is accepted', async () => {
    const project = await (await openLocalProject({ projectDir: shell.root, env: shell.env })).open();

    const card = await project.trustCard('x');

    await project.close();
    expect(card).toMatchObject({ trusted: false, files: [{ path: 'x.workflow.ts', change: 'added' }] });
    expect(existsSync(ran)).toBe(false);
    await shell.callAs(PASSPHRASE, ['trust', '--yes']);
    expect((await call(['start', 'x'])).code).toBe(0);
    expect(existsSync(ran)).toBe(true);
  });

  test('with `--as` one command runs these bytes, and nothing is accepted by it', async () => {
    const looked = await shell.callAs(PASSPHRASE, ['graph', 'x', '--as', 'maria']);

    expect(looked).toMatchObject({ code: 0, stderr: expect.stringMatching(/closure [0-9a-f]{64}/) });
    expect(existsSync(ran)).toBe(true);
    rmSync(ran);
    expect((await shell.callAs(PASSPHRASE, ['start', 'x', '--as', 'maria', '--json'])).stdout).toContain(
      'untrusted_workflow',
    );
    expect((await call(['graph', 'x'])).code).toBe(1);
    expect((await shell.callAs('wrong', ['graph', 'x', '--as', 'maria'])).code).toBe(1);
    expect(existsSync(ran)).toBe(false);
  });
});

async function call(words: readonly string[]): Promise<Called> {
  return shell.callWith(MACHINE, words);
}

function writeWorkflow(before: string): void {
  mkdirSync(shell.root, { recursive: true });
  shell.write(
    'x.workflow.ts',
    `import { writeFileSync } from 'node:fs';
import { defineWorkflow } from '@phasegate/sdk';
${before}
writeFileSync(${JSON.stringify(ran)}, '');
export default defineWorkflow({
  type: 'x',
  params: { book: {} },
  steps: [{ name: 'a', postconditions: [{ name: 'c', check: () => true }] }],
});
`,
  );
}
