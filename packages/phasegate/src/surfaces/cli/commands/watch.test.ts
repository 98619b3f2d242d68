import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import type { Command, JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { FULL } from '../../../../../../test/tier.ts';
import { openLocalProject } from '../../../localProject.ts';
import type { Machine } from '../command.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';
import { runCli } from '../runCli.ts';

const SECRET = 'open sesame';
const TWO = `
workflow: two
phases:
  PLAN:
    gate: { human: { prompt: Is this the plan?, options: [{ label: Approve }] } }
  DO: {}
`;

test('in a pipe every change is a line, and at a gate it has the command to decide with', async () => {
  const { shell, run } = await begun();
  const watched = watching(shell, ['watch']);
  await watched.sees('active  phase PLAN  agent local  goal, as given at the start: paint the door');

  await shell.call(['done', run]);
  await watched.sees(`: Is this the plan?  phasegate decide ${run}`);
  watched.stop();

  expect(await watched.code).toBe(0);
  expect(watched.text()).not.toContain('\u001b');
  expect(watched.text().trimEnd().split('\n')).toHaveLength(2);
});

test('with --json every change is a JSON value, and with a run it ends when the run does', async () => {
  const { shell, run } = await begun();
  const watched = watching(shell, ['watch', run, '--json']);
  await watched.sees('"active"');
  await shell.call(['done', run]);
  await watched.sees('"waits_for":{"for":"gate"');
  await shell.callAs(SECRET, ['stop', run, '--reason', 'enough']);

  expect(await watched.code).toBe(0);
  const values = watched
    .text()
    .trimEnd()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line) as JsonObject);
  expect(values.map(({ was, status }) => [was, status])).toEqual([
    [null, 'active'],
    ['active', 'waiting'],
    ['waiting', 'stopped'],
  ]);
  expect(values[1]).toMatchObject({ run, phase: 'PLAN', waits_for: { command: `phasegate decide ${run}` } });
});

test('a run is named by the beginning of its id, with or without `run-`', async () => {
  const { shell, run } = await begun();
  await shell.callAs(SECRET, ['stop', run, '--reason', 'enough']);

  for (const word of [run.slice(0, 10), run.slice(4, 10)]) {
    const watched = watching(shell, ['watch', word]);

    expect(await watched.code).toBe(0);
    expect(watched.text()).toContain(`${run}  two  stopped`);
  }
  const unknown = watching(shell, ['watch', 'run-zz']);

  expect(await unknown.code).toBe(1);
  expect(unknown.beside()).toContain('[run_unknown]');
});

test('on a terminal it takes the screen, redraws it, rings when a gate opens, and gives the screen back', async () => {
  const { shell, run } = await begun();
  const watched = watching(shell, ['watch', '--notify'], { columns: 40, rows: 20 });
  await watched.sees('1 run: 1 active');
  expect(watched.text().startsWith('\u001b[?1049h\u001b[?25l')).toBe(true);
  expect(watched.beside()).toBe('');

  await shell.call(['done', run]);
  await watched.sees('1 run: 1 waiting for a human');
  await watched.sees(`phasegate decide ${run}`);
  watched.stop();

  expect(await watched.code).toBe(0);
  expect(watched.text().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  expect(watched.beside()).toBe(
    `\u0007\u001b]9;Phasegate: run ${run} waits for a human\u0007\u001b]777;notify;Phasegate;run ${run} waits for a human\u0007`,
  );
});

test('a terminal that cannot redraw gets lines', async () => {
  const { shell } = await begun();
  const watched = watching(shell, ['watch'], { columns: 80, rows: 24 }, { TERM: 'dumb' });
  await watched.sees('phase PLAN');
  watched.stop();

  expect(await watched.code).toBe(0);
  expect(watched.text()).not.toContain('\u001b');
});

test('it changes nothing: no record, and no state where there is none', async () => {
  const { shell, run } = await begun();
  const before = await records(shell);
  const watched = watching(shell, ['watch', run]);
  await watched.sees('phase PLAN');
  watched.stop();
  await watched.code;
  expect(await records(shell)).toBe(before);

  const fresh = makeShell({ 'two.workflow.yaml': TWO });
  const waiting = watching(fresh, ['watch']);
  await waiting.saysBeside('no run was ever started here');
  expect(existsSync(String(fresh.env.XDG_STATE_HOME))).toBe(false);
  await fresh.call(['start', 'two']);
  await waiting.sees('phase PLAN');
  waiting.stop();
  expect(await waiting.code).toBe(0);
});

test('an agent sees no run of another agent, and a human sees them all', async () => {
  const { shell } = await begun();
  const key = String((await shell.callAs(SECRET, ['agents', 'add', 'ada', '--json'])).json().key);
  const { run } = (
    await shell.call(['start', 'two', 'a secret plan', '--json'], '', { PHASEGATE_KEY: key })
  ).json();

  const refused = watching(shell, ['watch', String(run)]);
  expect(await refused.code).toBe(1);
  expect(refused.beside()).toContain('is held by another agent');

  const own = (await shell.call(['runs', '--limit', '1', '--json'])).json().runs;
  expect(own).toMatchObject([{ goal: 'paint the door' }]);

  const local = watching(shell, ['watch']);
  await local.sees('paint the door');
  local.stop();
  await local.code;
  expect(local.text()).not.toContain('secret');

  const human = watching(shell, ['watch', '--passphrase-fd', String(shell.descriptor(`${SECRET}\n`))]);
  await human.sees('a secret plan');
  human.stop();
  expect(await human.code).toBe(0);
});

test.runIf(FULL)(
  'a run that waits is not hidden by any number of newer ones, and is shown first',
  async () => {
    const { shell, run } = await begun();
    await shell.call(['done', run]);
    const project = await openLocalProject({ projectDir: shell.root, env: shell.env });
    const open = await project.open();
    const gate = open.as({ kind: 'agent', name: 'local' });
    for (let count = 0; count < 101; count++) {
      const { view } = await gate.start({ workflow: 'two', params: {} });
      await gate.submit(String(view?.run), { kind: 'complete', phase: 'PLAN', evidence: {} } as Command);
    }
    await open.close();

    const watched = watching(shell, ['watch'], { columns: 80, rows: 12 });
    await watched.sees('102 runs: 102 waiting for a human');
    await watched.sees(`phasegate decide ${run}`);
    await watched.sees('more: phasegate runs');
    watched.stop();

    expect(await watched.code).toBe(0);
  },
);

async function begun(): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = makeShell({ 'two.workflow.yaml': TWO });
  await shell.callAs(SECRET, ['humans', 'add', 'maria']);
  await shell.callAs(SECRET, ['trust', 'two', '--yes']);
  const { run } = (await shell.call(['start', 'two', 'paint the door', '--json'])).json();
  return { shell, run: String(run) };
}

async function records(shell: Shell): Promise<string> {
  return (await shell.callAs(SECRET, ['audit', 'export'])).stdout;
}

/** The command until it is stopped, on a terminal where one is given. */
function watching(
  shell: Shell,
  words: readonly string[],
  terminal?: { readonly columns: number; readonly rows: number },
  env: Readonly<Record<string, string>> = {},
) {
  const stopping = new AbortController();
  const stdout = Object.assign(new Written(), terminal === undefined ? {} : { ...terminal, isTTY: true });
  const stderr = Object.assign(new Written(), terminal === undefined ? {} : { isTTY: true });
  const code = runCli({
    argv: [...words, '--project', shell.root],
    env: { ...shell.env, ...env },
    stdin: Readable.from([]),
    stdout,
    stderr,
    isTty: false,
    openProject: openLocalProject,
    machine: { stopping: () => stopping.signal } as Machine,
  });
  return {
    code,
    sees: (text: string) => stdout.until(text),
    saysBeside: (text: string) => stderr.until(text),
    text: (): string => stdout.text,
    beside: (): string => stderr.text,
    stop: () => stopping.abort(),
  };
}

class Written extends Writable {
  text = '';
  #look = () => {};

  /** Waits until the text stands there. */
  until(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (this.text.includes(text)) resolve();
      };
      this.#look();
    });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    this.#look();
    done();
  }
}
