import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import type { Functions } from '../../runtime/ports.ts';
import { closureOf } from './closureOf.ts';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';

let root: string;
let functions: Functions;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-functions-'));
  functions = createFunctions({ root, gate: OPEN_GATE });
});
afterEach(async () => {
  await functions.close();
  await rm(root, { recursive: true, force: true });
});

describe('what a function is given', () => {
  test('params by name, the evidence, the state, and the completed steps by name [S3.66 S4.8 C10]', async () => {
    await write(`(ctx) => [
      ctx.book === 'b' && ctx.params.book === 'b' && ctx.workflow_params.book === 'b',
      ctx.analysisPath === null,
      ctx.runId === 'run-1' && ctx.step === 'a' && ctx.step_id === 'a' && ctx.attempt === 2,
      ctx.result.n === 1 && ctx.artifacts.plan.ok === true && ctx.target === 't.ts',
      ctx.state.k === 1 && ctx.step_state.k === 1 && ctx.iteration === 3 && ctx.item === 'i',
      ctx.checkpoint.completedSteps.includes('planning') && !ctx.checkpoint.completedSteps.includes('other'),
      ctx.checkpoint.completedSteps[0].step === 'planning' && ctx.checkpoint.completedSteps.length === 1,
      ctx.checkpoint.threshold === 5,
    ].every(Boolean)`);

    const answer = await call({
      params: { book: 'b' },
      result: { n: 1 },
      artifacts: { plan: { ok: true } },
      state: { k: 1 },
      checkpoint: { completedSteps: [{ step: 'planning', completedAt: 't', result: {} }], threshold: 5 },
      iteration: 3,
      item: 'i',
      runId: 'run-1',
      phase: 'a',
      target: 't.ts',
      attempt: 2,
    });

    expect(answer).toEqual({ ok: true, value: true });
  });

  test('a name that is not there is no value, but an error that tells its place', async () => {
    await write('(ctx) => ctx.bok !== null');

    expect(await call({ params: { book: 'b' } })).toMatchObject({
      ok: false,
      kind: 'threw',
      reason: expect.stringMatching(/^there is no `bok` in `ctx` \(did you mean `book`\?\); it has /),
      at: { file: expect.stringContaining('x.workflow.ts'), line: 6 },
    });
  });

  test('a name that is declared and absent is null, as the engine says which are', async () => {
    await write('(ctx) => ctx.artifacts.plan === null && ctx.approved.plan === null && ctx.plan === null');
    const { code } = await closureOf(root, 'x.workflow.ts');
    const names = { artifacts: ['plan'], approved: ['plan'], params: [], checkpoint: [], result: null };
    const request = { file: 'x.workflow.ts', code, ref: 'steps/a/postconditions/c', context: {} };

    const answer = await functions.call({
      ...request,
      known: { ...names, roots: ['plan'] },
      timeoutMs: 10_000,
    });

    expect(answer).toEqual({ ok: true, value: true });
    expect(await call({})).toMatchObject({ ok: false, reason: expect.stringContaining('ctx.artifacts') });
  });

  test('params cannot be changed, and a change of the state is lost [S4.8 S4.9]', async () => {
    await write("(ctx) => { ctx.step_state.k = 9; ctx.workflow_params.book = 'c'; return true; }");

    expect(await call({ params: { book: 'b' }, state: { k: 1 } })).toMatchObject({
      ok: false,
      kind: 'threw',
    });
    await write(
      '(ctx) => { ctx.step_state.k = (ctx.step_state.k ?? 0) + 1; return ctx.step_state.k === 2; }',
    );
    expect(await call({ state: { k: 1 } })).toEqual({ ok: true, value: true });
    expect(await call({ state: { k: 1 } })).toEqual({ ok: true, value: true });
  });

  test('no keys, no secrets and no way to the engine', async () => {
    process.env.PHASEGATE_KEY = 'secret';
    process.env.ORCHESTRATOR_JWT_SECRET = 'secret';
    process.env.SOME_TOKEN = 'secret';
    await write(`() => {
      const names = Object.keys(process.env).sort().join(' ');
      if (/PHASEGATE|ORCHESTRATOR|TOKEN|CHANNEL/.test(names) || process.send) throw new Error(names);
      return true;
    }`);

    expect(await call({})).toEqual({ ok: true, value: true });
    delete process.env.PHASEGATE_KEY;
    delete process.env.ORCHESTRATOR_JWT_SECRET;
    delete process.env.SOME_TOKEN;
  });
});

describe('what a check may answer', () => {
  test('true or false, at once or later, and nothing else', async () => {
    await writeChecks(['() => true', 'async () => false', '() => 1', '() => {}', "async () => 'yes'"]);

    expect(await call({}, { ref: checkRef(0) })).toEqual({ ok: true, value: true });
    expect(await call({}, { ref: checkRef(1) })).toEqual({ ok: true, value: false });
    for (const [index, returned] of [
      [2, '`1`'] as const,
      [3, '`undefined`'] as const,
      [4, '`yes`'] as const,
    ]) {
      const reason = `TypeError: returned ${returned} instead of true or false`;
      expect(await call({}, { ref: checkRef(index) })).toMatchObject({ ok: false, kind: 'threw', reason });
    }
  });

  test('one that throws, or ends its process, is a failure with its reason', async () => {
    await writeChecks([
      '(ctx) => ctx.db.exists()',
      "() => Promise.reject(new Error('no'))",
      '() => { throw 3; }',
      '() => process.exit(0)',
      "() => process.kill(process.pid, 'SIGKILL')",
    ]);
    const reasons = [
      'there is no `db` in `ctx`',
      'no',
      '3',
      'its process ended with exit code 0',
      'its process was ended by SIGKILL',
    ];

    for (const [index, reason] of reasons.entries()) {
      const answer = await call({}, { ref: checkRef(index) });
      expect(answer).toMatchObject({ ok: false, kind: 'threw', reason: expect.stringContaining(reason) });
    }
  });

  test('what it prints goes nowhere', async () => {
    await write(
      '() => { console.log(\'{"id":1,"ok":true,"value":false}\'); console.error(\'x\'.repeat(100000)); return true; }',
    );

    expect(await call({})).toEqual({ ok: true, value: true });
  });

  test('one that hangs is ended, and the call behind it finds a new process', async () => {
    await write('(ctx) => { while (ctx.state.hang) {} return true; }');

    const hung = call({ state: { hang: true } }, { timeoutMs: 500 });
    const next = call({});

    expect(await hung).toEqual({ ok: false, kind: 'timed_out', reason: 'did not answer within 500 ms' });
    expect(await next).toEqual({ ok: true, value: true });
  });
});

describe('handlers and bodies', () => {
  test('a handler gives an outcome and what is merged into the state, as JSON [S4.10 S4.60]', async () => {
    const cases: readonly (readonly [string, string | JsonObject])[] = [
      ["() => ['ok', { n: 1, gone: undefined }]", { outcome: 'ok', state: { n: 1 } }],
      ["async () => ['iterate', {}]", { outcome: 'iterate', state: {} }],
      ["() => ['_default', {}]", 'instead of [outcome, updates]'],
      ["() => 'ok'", 'instead of [outcome, updates]'],
      ["() => ['ok', null]", 'as updates'],
      ["() => ['ok', { f() {} }]", '`updates.f`'],
      ["() => ['ok', { d: new Date(0) }]", '`updates.d`'],
      ["() => ['ok', { n: NaN }]", '`updates.n`'],
      ["() => ['ok', { s: 'x'.repeat(2_000_000) }]", 'returned more than 1048576 bytes'],
    ];
    const handlers = cases.map(([handler]) => handler);
    await write('() => true', {
      steps: handlers.map((handler, index) => `{ name: 'h${index}', handler: ${handler} }`),
    });

    for (const [index, [, expected]] of cases.entries()) {
      const answer = await call({}, { ref: `steps/h${index}/handler` });
      if (typeof expected !== 'string') expect(answer).toEqual({ ok: true, value: expected });
      else
        expect(answer).toMatchObject({ ok: false, kind: 'threw', reason: expect.stringContaining(expected) });
    }
  });

  test('a body gives title and text', async () => {
    await write('() => true', {
      steps: ["{ name: 'b', body: (ctx) => ['Round ' + ctx.iteration, 'Text'] }"],
    });

    const answer = await call({ iteration: 2 }, { ref: 'steps/b/body' });

    expect(answer).toEqual({ ok: true, value: { title: 'Round 2', body: 'Text' } });
  });

  test('a function that is not there is said to be unknown', async () => {
    await write('() => true');

    for (const ref of ['steps/a/handler', 'constructor', '__proto__']) {
      expect(await call({}, { ref })).toMatchObject({ ok: false, kind: 'unknown_function' });
    }
  });
});

describe('the code a run was started with', () => {
  test('is the only code that runs, in the module and in what it imports', async () => {
    await writeFile(join(root, 'answer.ts'), 'export const answer = true;');
    await write('() => answer', { before: "import { answer } from './answer.ts';" });
    const { code } = await closureOf(root, 'x.workflow.ts');
    expect(await call({}, { code })).toEqual({ ok: true, value: true });

    await writeFile(join(root, 'answer.ts'), 'export const answer = !true;');

    expect(await call({}, { code })).toMatchObject({ ok: false, kind: 'code_changed' });
    expect(await call({}, { code })).toMatchObject({ ok: false, kind: 'code_changed' });
    await rm(join(root, 'x.workflow.ts'));
    expect(await call({}, { code })).toMatchObject({ ok: false, kind: 'code_changed' });
  });

  test('a file it loads by a name nobody could read is refused', async () => {
    await writeFile(join(root, 'hidden.cjs'), 'module.exports = true;');
    await write("() => createRequire(import.meta.url)('./hid' + 'den.cjs')", {
      before: "import { createRequire } from 'node:module';",
    });

    expect(await call({})).toMatchObject({
      ok: false,
      kind: 'code_changed',
      reason: expect.stringContaining('hidden.cjs'),
    });
  });

  test('its path may be given whole', async () => {
    await write('() => true');
    const { code } = await closureOf(root, 'x.workflow.ts');

    const answer = await functions.call({
      file: join(root, 'x.workflow.ts'),
      code,
      ref: 'steps/a/postconditions/c',
      context: {},
      timeoutMs: 10_000,
    });

    expect(answer).toEqual({ ok: true, value: true });
  });
});

test('many calls at once share one process and each get their own answer', async () => {
  await write('(ctx) => ctx.n % 2 === 0');

  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call({ n })));

  expect(answers.map((answer) => answer.ok && answer.value)).toEqual(
    Array.from({ length: 50 }, (_, n) => n % 2 === 0),
  );
});

test.runIf(FULL)('an open process does not keep the command line alive', async () => {
  await write('() => true');
  const { code } = await closureOf(root, 'x.workflow.ts');
  const host = fileURLToPath(new URL('./functionHost.ts', import.meta.url));
  const script = `
    import { createFunctions } from ${JSON.stringify(host)};
    const functions = createFunctions({ root: ${JSON.stringify(root)}, gate: { refusal: async () => null } });
    const answer = await functions.call({ file: 'x.workflow.ts', code: '${code}', ref: 'steps/a/postconditions/c', context: {}, timeoutMs: 10000 });
    console.log(JSON.stringify(answer));
  `;

  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 30_000,
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' },
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });

  expect(JSON.parse(printed.toString())).toEqual({ ok: true, value: true });
});

interface Parts {
  readonly before?: string;
  /** Further steps, as source. */
  readonly steps?: readonly string[];
}

function checkRef(index: number): string {
  return `steps/c${index}/postconditions/c`;
}

function writeChecks(checks: readonly string[]): Promise<void> {
  return write('() => true', {
    steps: checks.map(
      (check, index) => `{ name: 'c${index}', postconditions: [{ name: 'c', check: ${check} }] }`,
    ),
  });
}

async function write(check: string, { before = '', steps = [] }: Parts = {}): Promise<void> {
  const all = [`{ name: 'a', postconditions: [{ name: 'c', check: ${check} }] }`, ...steps];
  await writeFile(
    join(root, 'x.workflow.ts'),
    `import { defineWorkflow } from '@phasegate/sdk';\n${before}
export default defineWorkflow({
  type: 'x',
  params: { book: {}, analysisPath: {} },
  steps: [${all.join(',\n')}],
});`,
  );
}

interface Asking {
  readonly ref?: string;
  readonly timeoutMs?: number;
  readonly code?: string;
}

async function call(
  context: JsonObject,
  { ref = 'steps/a/postconditions/c', timeoutMs = 10_000, code }: Asking = {},
) {
  const known = code ?? (await closureOf(root, 'x.workflow.ts')).code;
  return functions.call({ file: 'x.workflow.ts', code: known, ref, context, timeoutMs });
}
