import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
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
  shell.write('x.workflow.ts', textOf());
  await shell.callAs(PASSPHRASE, ['humans', 'add', 'maria']);
});

describe('once a human is set up', () => {
  test('no command runs a workflow in code that nobody accepted [C33 adv.Q4]', async () => {
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
      ok: false,
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
    const refused = await call(['graph', 'x']);
    expect(refused.stderr).toMatch(
      /^error: .*\nhint: .*\nclosure [0-9a-f]{12}: the hash of .*\n {2}[0-9a-f]{12} {2}x/,
    );
    const { stderr } = await call(['validate']);
    expect(stderr).toMatch(
      /no human has accepted `x.workflow.ts`.*--as NAME.*closure [0-9a-f]{12}: the hash of [^\n]*\n {2}[0-9a-f]{12} {2}x.workflow.ts\n/s,
    );
  });

  test('what trust shows is read, and nothing of it is run before it is accepted', async () => {
    const project = await (await openTestProject({ projectDir: shell.root, env: shell.env })).open();

    const card = await project.trust.workflows.card('x');

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

test('commands of a definition that nobody accepted are not run by its tests either [C33]', async () => {
  shell.write('y.workflow.yaml', `workflow: y\nphases: { A: { command: "touch ${ran}", next: null } }\n`);
  const check = `{ check: command, with: { argv: ["touch", ${JSON.stringify(ran)}] }, message: no }`;
  shell.write(
    'z.workflow.yaml',
    `workflow: z\nphases: { A: { gate: { blockers: [${check}] }, next: null } }\n`,
  );
  shell.write('z.contract.yaml', 'real: true\ntests:\n  - { name: honest, agent: honest }\n');

  for (const words of [
    ['test', 'y'],
    ['coverage', 'y'],
    ['test', 'z'],
    ['coverage', 'z'],
  ]) {
    const called = await call([...words, '--json']);
    expect([words, called.code, called.stdout]).toEqual([
      words,
      1,
      expect.stringContaining('untrusted_workflow'),
    ]);
  }
  expect(existsSync(ran)).toBe(false);
  await shell.callAs(PASSPHRASE, ['trust', '--yes']);
  expect((await call(['test', 'z'])).stdout).toContain('passed');
  expect(existsSync(ran)).toBe(true);
});

test('functions of a run that began before a human was set up wait for one to accept them [C33]', async () => {
  const fresh = makeShell();
  fresh.write('x.workflow.ts', textOf());
  const run = String((await fresh.call(['start', 'x', '--json'])).json().run);
  await fresh.callAs(PASSPHRASE, ['humans', 'add', 'maria']);
  rmSync(ran, { force: true });

  const refused = await fresh.call(['done', run, '--evidence', '-', '--json'], '{}');

  expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('untrusted_workflow') });
  expect(existsSync(ran)).toBe(false);
  expect((await fresh.callAs(PASSPHRASE, ['trust', '--yes'])).code).toBe(0);
  expect((await fresh.call(['done', run, '--evidence', '-'], '{}')).code).toBe(0);
});

async function call(words: readonly string[]): Promise<Called> {
  return shell.callWith(MACHINE, words);
}

function textOf(): string {
  return `import { writeFileSync } from 'node:fs';
import { defineWorkflow } from '@phasegate/sdk';
writeFileSync(${JSON.stringify(ran)}, '');
export default defineWorkflow({
  type: 'x',
  params: { book: {} },
  steps: [{ name: 'a', postconditions: [{ name: 'c', check: () => true }] }],
});
`;
}
