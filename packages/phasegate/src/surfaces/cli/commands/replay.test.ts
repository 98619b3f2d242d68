import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { stateDirFor } from '../../../config.ts';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const TDD = fileURLToPath(new URL('../../../../../../examples/tdd/', import.meta.url));
const PASSPHRASE = 'correct horse battery staple';
const PLAN = {
  summary: 'Write `slugify` in src/slugify.js, which so far gives titles back as they are',
  scope: ['src/slugify.js', 'test/slugify.test.js'],
  acceptance_criteria: [{ id: 'AC-1', text: 'words become lower case and are joined by hyphens' }],
};

test('the same workflow flips nothing, and says how many decisions that is', async () => {
  const { shell, run } = await planned();

  const { code, stdout } = await shell.call(['replay', run, '--workflow', 'tdd']);

  expect(code).toBe(0);
  expect(stdout).toContain(`${run}: 6 decisions, 6 same`);
  expect(stdout).toContain('tdd: 1 run, 6 decisions: no verdict flips; 6 same');
});

test('nothing has changed where only the keys of a schema are written in another order than the alphabet', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': `workflow: w
phases:
  A:
    instructions: Plan.
    required_artifacts:
      - type: plan
        schema:
          required: [zeal, alms]
          properties: { zeal: { type: string }, alms: { type: integer }, mode: { const: { b: 1, a: 2 } } }
          additionalProperties: false
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  const wrong = { plan: { zeal: 1, zebra: 1, mode: 1, alms: 'x', anon: 1 } };
  await shell.call(['done', run, '--evidence', '-'], JSON.stringify(wrong));

  const { code, stdout } = await shell.call(['replay', run, '--workflow', 'w']);

  expect(code).toBe(0);
  expect(stdout).toContain('no verdict flips; 2 same');
});

test('a stricter blocker is named with the run, the record and the reason', async () => {
  const { shell, run } = await planned();
  edit(shell, 'length(plan.scope) <= params.max_files', 'length(plan.scope) <= 1');

  const text = await shell.call(['replay', run, '--workflow', 'tdd']);
  const json = (await shell.call(['replay', '--all', '--workflow', 'agent_workflow.yaml', '--json'])).json();

  expect(text.code).toBe(1);
  expect(text.stdout).toContain(`  now_refused  ${run} #6 in \`PLAN\`, agent:local: complete \`PLAN\``);
  expect(text.stdout).toContain(
    'was allowed, on to gate `plan_approved#1` behind phase `PLAN`; would be refused, then at phase `PLAN`',
  );
  expect(text.stdout).toContain('    check_failed: The plan names more paths than this run allows');
  expect(text.stdout).toContain('tdd: 1 run, 6 decisions: 1 verdict flips; 1 now_refused, 5 same');
  expect(json).toMatchObject({
    workflow: 'tdd',
    flips: 1,
    totals: { runs: 1, decisions: 6, now_refused: 1, same: 5 },
    runs: [{ run, steps: [{ kind: 'now_refused', seq: 6, phase: 'PLAN', by: 'agent:local' }] }],
  });
});

test('a tool newly forbidden flips its call, and a looser schema leaves only the other reasons', async () => {
  const { shell, run } = await planned();
  edit(
    shell,
    'forbidden_tools: [write_files, bash, away]',
    'forbidden_tools: [grep, write_files, bash, away]',
  );
  writeFileSync(join(shell.root, 'schemas/plan.json'), '{"type": "object"}');

  const { runs } = (await shell.call(['replay', run, '--workflow', 'tdd', '--json'])).json();

  const [{ steps }] = runs as [{ steps: JsonObject[] }];
  expect(steps.map(({ kind, seq }) => [seq, kind])).toEqual([
    [2, 'other_reason'],
    [3, 'now_refused'],
  ]);
});

test('what looks at the world and was not looked at then is unknown, and not the same', async () => {
  const { shell, run } = await planned();
  edit(shell, 'gates: [bounded, plan_approved]', 'gates: [green_for_real, bounded, plan_approved]');

  const { code, stdout } = await shell.call(['replay', run, '--workflow', 'tdd']);

  expect(code).toBe(1);
  expect(stdout).toContain('nobody looked then at the check `tests_really_pass` (tests)');
  expect(stdout).toContain('no verdict flips; 1 unknown, 5 same');
});

test('a workflow that is made from a source is made again from the source of the run', async () => {
  const shell = makeShell();
  for (const path of ['specs', 'workflows']) {
    cpSync(join(TDD, '../spec-execution', path), join(shell.root, path), { recursive: true });
  }
  const started = await shell.call([
    ...['start', 'spec_execution_v1', '--param', 'spec_path=specs/payments-retry', '--json'],
  ]);
  const run = String(started.json().run);
  await shell.call(['done', run, '--phase', '2', '--evidence', '-'], '{}');

  const same = await shell.call(['replay', run, '--workflow', 'spec_execution_v1']);
  rmSync(join(shell.root, 'specs/payments-retry/tasks.md'));
  const gone = await shell.call(['replay', run, '--workflow', 'spec_execution_v1']);

  expect(same.stdout).toContain('spec_execution_v1: 1 run, 2 decisions: no verdict flips; 2 same');
  expect(gone.code).toBe(2);
  expect(gone.stderr).toContain(`for run \`${run}\`: `);
});

test('among all runs one without its source is named, and the others are replayed', async () => {
  const shell = makeShell();
  for (const path of ['specs', 'workflows']) {
    cpSync(join(TDD, '../spec-execution', path), join(shell.root, path), { recursive: true });
  }
  cpSync(join(shell.root, 'specs/payments-retry'), join(shell.root, 'specs/other'), { recursive: true });
  const start = async (spec: string) => {
    const words = ['start', 'spec_execution_v1', '--param', `spec_path=specs/${spec}`, '--json'];
    return String((await shell.call(words)).json().run);
  };
  const [kept, lost] = [await start('payments-retry'), await start('other')];
  rmSync(join(shell.root, 'specs/other'), { recursive: true });
  const words = ['replay', '--all', '--workflow', 'spec_execution_v1'];

  const text = await shell.call(words);
  const json = (await shell.call([...words, '--json'])).json();

  expect(text.code).toBe(1);
  expect(text.stdout).toContain(`${kept}: 1 decision, 1 same`);
  expect(text.stdout).toContain(`${lost}: not replayed: `);
  expect(text.stdout).toContain('1 run, 1 decision: no verdict flips; 1 same; 1 run not replayed');
  expect(json).toMatchObject({
    runs: [{ run: kept }],
    not_replayed: [{ run: lost, error: 'file_unreadable' }],
  });
  rmSync(join(shell.root, 'specs/payments-retry'), { recursive: true });
  expect((await shell.call(words)).code).toBe(2);
});

test('what an agent wrote cannot look like lines of the report', async () => {
  const { shell, run } = await planned();
  await useTool(shell, run, { path: 'src\n  now_allowed  all of it\n' });
  edit(
    shell,
    'forbidden_tools: [write_files, bash, away]',
    'forbidden_tools: [grep, write_files, bash, away]',
  );

  const { stdout } = await shell.call(['replay', run, '--workflow', 'tdd']);

  expect(stdout).toContain('use `grep` on `src now_allowed all of it `');
  expect(stdout).not.toMatch(/^ {2}now_allowed/m);
});

test('the choices of a human are decided again, also one that changed nothing', async () => {
  const { shell, run } = await planned(['init', '--name', 'maria', '--yes']);
  const shown = ['--shown', await shell.shown(run)];
  await shell.callAs(PASSPHRASE, ['decide', run, '--option', 'Go', ...shown]);
  await shell.callAs(PASSPHRASE, ['decide', run, '--option', 'Approve', ...shown]);
  edit(shell, '{ label: Approve, next: TDD }', '{ label: Go, next: TDD }');

  const { stdout } = await shell.callAs(PASSPHRASE, ['replay', run, '--workflow', 'tdd']);

  expect(stdout).toMatch(/now_refused {2}\S+ #\d+ in `PLAN`, human:maria: choose `Approve` at gate/);
  expect(stdout).toMatch(/now_allowed {2}\S+ #\d+ in `PLAN`, human:maria: choose `Go` at gate/);
  expect(stdout).toContain('was refused: option_unknown');
});

test('a recording from another version is refused with the version and what to do', async () => {
  const { shell, run } = await planned();
  rewrite(shell, ({ recorded, ...data }) =>
    recorded === undefined ? data : { ...data, recorded: { version: 9 } },
  );

  const named = await shell.call(['replay', run, '--workflow', 'tdd']);
  const all = await shell.call(['replay', '--all', '--workflow', 'tdd']);

  expect(named.code).toBe(2);
  expect(named.stderr).toContain('is recorded in form 9, and this version of Phasegate reads form 1');
  expect(named.stderr).toContain('replay it with the version that recorded it, or leave it out');
  expect(all.code).toBe(1);
  expect(all.stdout).toContain('(recorded in form 9, which this version does not read)');
});

test('a run from before recordings were kept is told how much of it cannot be decided again', async () => {
  const { shell, run } = await planned();
  rewrite(shell, ({ recorded: _, input: __, ...data }) => data);

  const named = await shell.call(['replay', run, '--workflow', 'tdd']);
  const all = await shell.call(['replay', '--all', '--workflow', 'tdd']);

  expect(named.code).toBe(2);
  expect(named.stderr).toContain(`none of the 6 decisions of run \`${run}\` can be made again`);
  expect(named.stderr).toContain('leave out the older ones');
  expect(all.code).toBe(1);
  expect(all.stdout).toContain('  unrecorded  #1, #2, #3, #4, #5, #6: what it was made from was not kept');
  expect(all.stdout).toContain('no verdict flips; 6 unrecorded');
});

test('a run that was recorded from some point on is replayed from there, and says what is missing', async () => {
  const { shell, run } = await planned();
  rewrite(shell, ({ recorded, ...data }, seq) =>
    seq > 2 && recorded !== undefined ? { ...data, recorded } : data,
  );

  const { code, stdout } = await shell.call(['replay', run, '--workflow', 'tdd']);

  expect(code).toBe(1);
  expect(stdout).toContain('  unrecorded  #1, #2: what it was made from was not kept');
  expect(stdout).toContain('no verdict flips; 2 unrecorded, 4 same');
});

test.each([
  [['replay', '--workflow', 'tdd'], 'name the runs, or say `--all`'],
  [['replay', 'r', '--all', '--workflow', 'tdd'], 'not both'],
  [['replay', 'r'], '`--workflow` must say under which workflow'],
  [['replay', 'r', '--workflow', 'tdd', '--limit', '3'], '`--limit` goes with `--all`'],
  [['replay', '--all', '--workflow', 'tdd', '--limit', '0'], '`--limit` needs a number from 1'],
  [['replay', '--all', '--workflow', 'tdd'], 'there is no run of `tdd` to replay'],
  [['replay', 'run-nothing', '--workflow', 'tdd'], 'there is no run `run-nothing`'],
  [['replay', 'run-nothing', '--workflow', 'tddd'], 'there is no workflow `tddd`'],
  [['replay', 'r', '--workflow', 'tdd', '--url', 'http://127.0.0.1:1'], '--url'],
])('%j is wrong usage', async (words, message) => {
  const shell = project();
  await shell.call(['init', '--yes']);

  const { code, stderr } = await shell.call(words);

  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('an agent replays no run of another, a human every run', async () => {
  const { shell, run } = await planned(['init', '--name', 'maria', '--yes']);
  const added = await shell.callAs(PASSPHRASE, ['agents', 'add', 'eve', '--json']);
  const eve = { PHASEGATE_KEY: String(added.json().key) };

  const named = await shell.call(['replay', run, '--workflow', 'tdd'], '', eve);
  const all = await shell.call(['replay', '--all', '--workflow', 'tdd'], '', eve);
  const human = await shell.callAs(PASSPHRASE, ['replay', run, '--workflow', 'tdd']);

  expect(named.stderr).toContain('is held by another agent');
  expect(named.code).toBe(1);
  expect(all.stderr).toContain('there is no run of `tdd` to replay');
  expect(human.code).toBe(0);
});

/** The example with a run: a plan refused, a tool called, two tasks read, a plan that waits for a human. */
async function planned(
  init: readonly string[] = ['init', '--yes'],
): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = project();
  const withHuman = init.includes('--name');
  await (withHuman ? shell.callAs(PASSPHRASE, init) : shell.call(init));
  if (withHuman) await shell.callAs(PASSPHRASE, ['trust', 'tdd', '--yes']);
  const run = String((await shell.call(['start', 'tdd', '--json'])).json().run);
  await shell.call(['done', run, '--evidence', '-'], JSON.stringify({ plan: { summary: 'short' } }));
  await useTool(shell, run);
  await shell.call(['task', run, 'PLAN', '1']);
  await shell.call(['task', run, 'PLAN', '2']);
  await shell.call(['done', run, '--evidence', '-'], JSON.stringify({ plan: PLAN }));
  return { shell, run };
}

async function useTool(shell: Shell, run: string, input: JsonObject = { path: 'src' }): Promise<void> {
  const opened = await (await openTestProject({ projectDir: shell.root, env: shell.env })).open();
  await opened.as({ kind: 'agent', name: 'local' }).judgeTool(run, { tool: 'grep', input });
  await opened.close();
}

function project(): Shell {
  const shell = makeShell();
  for (const path of ['agent_workflow.yaml', 'package.json', 'schemas', 'src']) {
    cpSync(join(TDD, path), join(shell.root, path), { recursive: true });
  }
  return shell;
}

function edit(shell: Shell, from: string, to: string): void {
  const file = join(shell.root, 'agent_workflow.yaml');
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`\`${from}\` is not there`);
  writeFileSync(file, text.replace(from, to));
}

/** Changes what is on disk, as another version would have written it. */
function rewrite(shell: Shell, change: (data: JsonObject, seq: number) => JsonObject): void {
  const database = new DatabaseSync(join(stateDirFor(shell.root, shell.env), 'state.db'));
  const rows = database.prepare('SELECT id, seq, data FROM audit WHERE run <> 0').all();
  const update = database.prepare('UPDATE audit SET data = ? WHERE id = ?');
  for (const { id, seq, data } of rows) {
    update.run(JSON.stringify(change(JSON.parse(String(data)) as JsonObject, Number(seq))), Number(id));
  }
  database.close();
}
