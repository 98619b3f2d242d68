import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '@phasegate/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Functions } from '../../runtime/ports.ts';
import { closureOf } from './closureOf.ts';
import { createFunctions } from './functionHost.ts';

let root: string;
let functions: Functions;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-functions-'));
  functions = createFunctions({ root });
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
      ctx.unknown === undefined,
      ctx.runId === 'run-1' && ctx.step === 'a' && ctx.step_id === 'a' && ctx.attempt === 2,
      ctx.result.n === 1 && ctx.artifacts.plan.ok === true && ctx.target === 't.ts',
      ctx.state.k === 1 && ctx.step_state.k === 1 && ctx.iteration === 3 && ctx.item === 'i',
      ctx.checkpoint.completedSteps.includes('planning') && !ctx.checkpoint.completedSteps.includes('other'),
      ctx.checkpoint.completedSteps[0].step === 'planning' && ctx.checkpoint.completedSteps.length === 1,
      ctx.checkpoint.threshold === 5,
      ctx.db === undefined,
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
  test.each([
    ['() => true', { ok: true, value: true }],
    ['async () => false', { ok: true, value: false }],
    [
      '() => 1',
      { ok: false, kind: 'threw', reason: expect.stringContaining('returned `1` instead of true or false') },
    ],
    ['() => {}', { ok: false, kind: 'threw', reason: expect.stringContaining('returned `undefined`') }],
    ["async () => 'yes'", { ok: false, kind: 'threw', reason: expect.stringContaining('returned `yes`') }],
    ['(ctx) => ctx.db.exists()', { ok: false, kind: 'threw', reason: expect.stringContaining('undefined') }],
    ["() => Promise.reject(new Error('no'))", { ok: false, kind: 'threw', reason: 'no' }],
    ['() => { throw 3; }', { ok: false, kind: 'threw', reason: '3' }],
    ['() => process.exit(0)', { ok: false, kind: 'threw', reason: 'its process ended with exit code 0' }],
    [
      "() => process.kill(process.pid, 'SIGKILL')",
      { ok: false, kind: 'threw', reason: 'its process was ended by SIGKILL' },
    ],
  ])('%s', async (check, expected) => {
    await write(check);

    expect(await call({})).toMatchObject(expected);
  });

  test('what it prints goes nowhere', async () => {
    await write(
      '() => { console.log(\'{"id":1,"ok":true,"value":false}\'); console.error(\'x\'.repeat(100000)); return true; }',
    );

    expect(await call({})).toEqual({ ok: true, value: true });
  });

  test('one that hangs is ended, and the next call finds a new process', async () => {
    await write('(ctx) => { while (ctx.hang) {} return true; }');

    const hung = call({ hang: true }, 500);
    const next = call({});

    expect(await hung).toEqual({ ok: false, kind: 'timed_out', reason: 'did not answer within 500 ms' });
    expect(await next).toMatchObject({ ok: false, kind: 'threw' });
    expect(await call({})).toEqual({ ok: true, value: true });
  });
});

describe('handlers and bodies', () => {
  test.each([
    ["() => ['ok', { n: 1, gone: undefined }]", { ok: true, value: { outcome: 'ok', state: { n: 1 } } }],
    ["async () => ['iterate', {}]", { ok: true, value: { outcome: 'iterate', state: {} } }],
    [
      "() => ['_default', {}]",
      { ok: false, reason: expect.stringContaining('instead of [outcome, updates]') },
    ],
    ["() => 'ok'", { ok: false, reason: expect.stringContaining('instead of [outcome, updates]') }],
    ["() => ['ok', null]", { ok: false, reason: expect.stringContaining('as updates') }],
    ["() => ['ok', { f() {} }]", { ok: false, reason: expect.stringContaining('`updates.f`') }],
    ["() => ['ok', { d: new Date(0) }]", { ok: false, reason: expect.stringContaining('`updates.d`') }],
    ["() => ['ok', { n: NaN }]", { ok: false, reason: expect.stringContaining('`updates.n`') }],
    ["() => ['ok', { s: 'x'.repeat(2_000_000) }]", { ok: false, reason: 'returned more than 1048576 bytes' }],
  ])('a handler that is %s', async (handler, expected) => {
    await write('() => true', { handler });

    expect(await call({}, 10_000, 'steps/a/handler')).toMatchObject(expected as JsonObject);
  });

  test('a body gives title and text', async () => {
    await write('() => true', { body: '(ctx) => [`Round ${ctx.iteration}`, `Text`]' });

    const answer = await call({ iteration: 2 }, 10_000, 'steps/a/body');

    expect(answer).toEqual({ ok: true, value: { title: 'Round 2', body: 'Text' } });
  });

  test('a function that is not there is said to be unknown', async () => {
    await write('() => true');

    for (const ref of ['steps/a/handler', 'constructor', '__proto__']) {
      expect(await call({}, 10_000, ref)).toMatchObject({ ok: false, kind: 'unknown_function' });
    }
  });
});

describe('the code a run was started with', () => {
  test('is the only code that runs, in the module and in what it imports', async () => {
    await writeFile(join(root, 'answer.ts'), 'export const answer = true;');
    await write('() => answer', { before: "import { answer } from './answer.ts';" });
    const { code } = await closureOf(root, 'x.workflow.ts');
    expect(await call({}, 10_000, undefined, code)).toEqual({ ok: true, value: true });

    await writeFile(join(root, 'answer.ts'), 'export const answer = !true;');

    expect(await call({}, 10_000, undefined, code)).toMatchObject({ ok: false, kind: 'code_changed' });
    expect(await call({}, 10_000, undefined, code)).toMatchObject({ ok: false, kind: 'code_changed' });
    await rm(join(root, 'x.workflow.ts'));
    expect(await call({}, 10_000, undefined, code)).toMatchObject({ ok: false, kind: 'code_changed' });
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

test('an open process does not keep the command line alive', async () => {
  await write('() => true');
  const { code } = await closureOf(root, 'x.workflow.ts');
  const host = fileURLToPath(new URL('./functionHost.ts', import.meta.url));
  const script = `
    import { createFunctions } from ${JSON.stringify(host)};
    const functions = createFunctions({ root: ${JSON.stringify(root)} });
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
  readonly handler?: string;
  readonly body?: string;
}

async function write(check: string, { before = '', handler, body }: Parts = {}): Promise<void> {
  const more = `${handler === undefined ? '' : `handler: ${handler},`}${body === undefined ? '' : `body: ${body},`}`;
  await mkdir(root, { recursive: true });
  await writeFile(
    join(root, 'x.workflow.ts'),
    `import { defineWorkflow } from '@phasegate/sdk';\n${before}
export default defineWorkflow({
  type: 'x',
  params: { book: {}, analysisPath: {} },
  steps: [{ name: 'a', postconditions: [{ name: 'c', check: ${check} }], ${more} next: null }],
});`,
  );
}

async function call(
  context: Readonly<Record<string, Json>>,
  timeoutMs = 10_000,
  ref = 'steps/a/postconditions/c',
  code?: string,
) {
  const known = code ?? (await closureOf(root, 'x.workflow.ts')).code;
  return functions.call({ file: 'x.workflow.ts', code: known, ref, context, timeoutMs });
}
