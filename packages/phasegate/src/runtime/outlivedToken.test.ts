import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claim, events, openWith, queue, TWO } from './fixtures/agentsAtWork.ts';
import { ADA, codeOf, working } from './fixtures/workingRun.ts';
import { rotateTokenSecret } from './keys.ts';
import { createOpenProject } from './openProject.ts';
import type { Admitted, CheckImplementation, OpenProject, Store, ToolImplementation } from './ports.ts';

const PHASE = { allowedTools: ['write_files', 'bash', 'mcp:own/*'], writes: ['docs/**'] };

type Working = Awaited<ReturnType<typeof working>>;
const ENDINGS: readonly (readonly [how: string, code: string, end: (at: Working) => Promise<unknown>])[] = [
  ['was replaced twice', 'token_invalid', replaceTwice],
  ['was signed two secrets ago', 'token_invalid', async (at) => rotateTwice(at)],
  ['has run out', 'token_expired', async (at) => at.pass(7_200)],
];

test.each(ENDINGS)('a batch ends with its token: nothing begins once that %s', async (_, code, end) => {
  const ending = own('end', () => end(at));
  const at = await working(PHASE, [ending]);

  const done = await at.execute([
    { tool: 'write_files', input: { path: 'docs/before', content: '' } },
    { tool: 'mcp:own/end', input: {} },
    { tool: 'write_files', input: { path: 'docs/after', content: '' } },
    { tool: 'bash', input: { command: 'touch docs/program' } },
  ]);

  expect(done.map(codeOf)).toEqual(['allowed', 'allowed', 'not_your_run', 'not_your_run']);
  expect(existsSync(join(at.workspace, 'docs/after'))).toBe(false);
  expect(existsSync(join(at.workspace, 'docs/program'))).toBe(false);
  expect((await at.history()).slice(-2)).toMatchObject([
    { event: 'token_refused', data: { code, tool: 'write_files' } },
    { event: 'token_refused', data: { code, tool: 'bash' } },
  ]);
});

test('a call that waited for its turn does not begin once its token was replaced', async () => {
  const [begun, finish] = [
    Array.from({ length: 8 }, () => Promise.withResolvers<void>()),
    Promise.withResolvers<void>(),
  ];
  let count = 0;
  const slow = own('slow', async () => {
    begun[count++]?.resolve();
    await finish.promise;
  });
  const at = await working(PHASE, [slow]);
  const before = begun.map(() => at.execute([{ tool: 'mcp:own/slow', input: {} }]));
  await Promise.all(begun.map(({ promise }) => promise));

  const late = at.execute([{ tool: 'write_files', input: { path: 'docs/late', content: '' } }]);
  await replaceTwice(at);
  finish.resolve();

  await expect(late).rejects.toMatchObject({ code: 'token_invalid' });
  expect((await Promise.all(before)).flat().map(codeOf)).toEqual(Array(8).fill('allowed'));
  expect(existsSync(join(at.workspace, 'docs/late'))).toBe(false);
  const refused = (await at.history()).filter(({ event }) => event === 'token_refused');
  expect(refused).toMatchObject([{ data: { code: 'token_invalid', tool: 'write_files' } }]);
});

/** What is written with a token, and by which question to the store. */
const WRITES: readonly (readonly [what: string, by: 'note' | 'beginCall' | 'save', act: Act])[] = [
  ['a verdict', 'note', ({ toolbox }, admitted) => toolbox.check(admitted, READ)],
  ['a refusal', 'note', ({ toolbox }, admitted) => toolbox.check(admitted, { ...READ, tool: 'bash' })],
  ['a call', 'beginCall', ({ toolbox }, admitted) => toolbox.execute(admitted, [READ])],
  ['a transition', 'save', ({ claims }, admitted) => claims.transition(admitted, { artifacts: {} })],
  [
    'a word that it is blocked',
    'save',
    (node, admitted) =>
      node
        .as(ADA, { admitted })
        .submit(admitted.runId, { kind: 'report_blocked', reason: 'the words do not say enough' }),
  ],
];

test.each(WRITES)(
  'by a token that is replaced while %s is on its way to the store, nothing is written',
  async (_, by, act) => {
    const reading = { name: 'read_files', description: 'reads', input: { type: 'object' } };
    const tools = async () => [{ ...reading, run: async () => ({ ok: true, output: 'read' }) }];
    const it = openWith(TWO, { parts: { tools } });
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const { peek: _near, ...rest } = it.store;
    let replaced = 0;
    const late = async () => {
      if (replaced === 0) for (; replaced < 2; replaced += 1) await it.project.claims.token(run, ADA);
    };
    const store: Store = {
      ...rest,
      note: (...words) => (by === 'note' ? late() : Promise.resolve()).then(() => rest.note(...words)),
      beginCall: (...words) => late().then(() => rest.beginCall(...words)),
      save: (...words) => late().then(() => rest.save(...words)),
    };
    const node = createOpenProject({ ...it.parts, store });

    const acting = act(node, await node.claims.admit(token));

    await expect(acting).rejects.toMatchObject({ code: 'token_invalid' });
    expect(replaced).toBe(2);
    const issued = Array(3).fill('token_issued');
    expect(await events(it, run)).toEqual(['run_started', 'run_claimed', ...issued, 'token_refused']);
    expect((await it.store.load(run))?.run).toMatchObject({ phase: 'PLAN', status: 'active' });
  },
);

test('a failed attempt counts, whatever became of its token while it was judged', async () => {
  const it = openWith([{ id: 'PLAN', postconditions: [FAILS] }, { id: 'BUILD' }], {
    parts: { checks: async () => [failing(() => replace())] },
  });
  const run = await queue(it);
  const { token } = await claim(it, ADA);
  const replace = async () => {
    for (let time = 0; time < 2; time++) await it.project.claims.token(run, ADA);
  };

  const { verdict } = await it.project.claims.transition(await it.project.claims.admit(token), {
    artifacts: {},
  });

  expect(verdict).toMatchObject({ allowed: false });
  expect((await it.store.load(run))?.run.work.attempts).toBe(1);
});

test('a run is given back once what its agent has handed in is judged', async () => {
  const [judging, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const it = openWith([{ id: 'PLAN', postconditions: [FAILS] }, { id: 'BUILD' }], {
    parts: {
      checks: async () => [
        failing(() => {
          judging.resolve();
          return letGo.promise;
        }),
      ],
    },
  });
  const run = await queue(it);
  const { token } = await claim(it, ADA);
  const handed = it.project.claims.transition(await it.project.claims.admit(token), { artifacts: {} });
  await judging.promise;

  const released = it.project.claims.release(run, ADA, 'given_back');
  await new Promise(setImmediate);
  letGo.resolve();
  await released;

  expect((await handed).verdict).toMatchObject({ allowed: false });
  expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', work: { attempts: 1 } });
});

const FAILS = { name: 'holds', check: 'throwing' };

function failing(before: () => Promise<unknown>): CheckImplementation {
  return {
    name: 'throwing',
    summary: 'never',
    parameters: { type: 'object' },
    class: 'observed',
    async run() {
      await before();
      return { passed: false, reason: 'it does not hold' };
    },
  };
}

type Act = (node: OpenProject, admitted: Admitted) => Promise<unknown>;
const READ = { tool: 'read_files', input: { paths: ['a'] } };

function own(name: string, act: () => Promise<unknown>): ToolImplementation {
  const run = async () => {
    await act();
    return { ok: true, output: null };
  };
  return { name: `mcp:own/${name}`, description: name, input: { type: 'object' }, run };
}

async function replaceTwice({ project, run }: Working): Promise<void> {
  for (let time = 0; time < 2; time++) await project.claims.token(run, ADA);
}

function rotateTwice({ folder, pass }: Working): void {
  for (let time = 0; time < 2; time++) rotateTokenSecret(folder);
  // A rotation by another process is looked for every second.
  pass(1);
}
