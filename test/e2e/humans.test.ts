import { createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type AuditRecord, canonicalJson } from '@phasegate/core';
import type { GateDecision } from '@phasegate/core/engine';
import { beforeAll, describe, expect, test } from 'vitest';
import { complete, copyOf, makeProject, phasegate, startRun, type TestProject, withShown } from './cli.ts';
import { alter } from './rawDatabase.ts';

const EMPTY = { 'phasegate.config.json': '{}\n' };

const SECRET = { passphrase: 'open sesame' };
const PROPOSAL = { proposal: { summary: 'Paint it blue', steps: ['paint'] } };

describe('the first human', () => {
  test('is one, where two processes set one up at once [adv.P2]', async () => {
    const project = makeProject(EMPTY);
    const called = await Promise.all(
      ['maria', 'mallory', 'joe'].map((name) =>
        phasegate(project, ['humans', 'add', name, '--json'], SECRET),
      ),
    );

    expect(called.filter(({ code }) => code === 0)).toHaveLength(1);
    // One that begins when the first is there already is asked for that one's passphrase beside the new one.
    for (const { code, json } of called)
      if (code !== 0) expect(json).toMatchObject({ error: code === 1 ? 'not_permitted' : 'usage' });
    expect((await phasegate(project, ['humans', 'list', '--json'])).json.humans).toHaveLength(1);
  });

  test.each([
    ['their rows deleted', ['DELETE FROM humans'], 'state_tampered'],
    ['their rows marked as removed', ["UPDATE humans SET removed_at = '2026'"], 'state_tampered'],
    [
      'their rows and their records deleted',
      ['DELETE FROM humans', "DELETE FROM audit WHERE event = 'human_added'"],
      'state_tampered',
    ],
    [
      'their rows deleted and their records renamed',
      ['DELETE FROM humans', "UPDATE audit SET event = 'signed_in' WHERE event = 'human_added'"],
      'audit_broken',
    ],
  ])('cannot be a stranger, with %s [adv.P2]', async (_how, statements, error) => {
    const project = makeProject(EMPTY);
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    for (const sql of statements) alter(project, sql);

    const stranger = await phasegate(project, ['humans', 'add', 'mallory', '--json'], SECRET);

    expect(stranger).toMatchObject({ code: 1, json: { error } });
    expect((await phasegate(project, ['audit', 'verify', '--json'])).code).toBe(1);
  });

  test('changes a passphrase with the old one', async () => {
    const project = makeProject(EMPTY);
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    const change = (passphrase: string) =>
      phasegate(project, ['humans', 'passphrase', 'maria', '--json'], {
        passphrase,
        newPassphrase: 'another secret',
      });
    const tryOut = (passphrase: string) =>
      phasegate(project, ['agents', 'add', 'a1', '--json'], { passphrase });

    expect(await change('open barley')).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
    expect(await change(SECRET.passphrase)).toMatchObject({
      code: 0,
      json: { name: 'maria', changed: true },
    });
    expect((await tryOut(SECRET.passphrase)).code).toBe(1);
    expect((await tryOut('another secret')).code).toBe(0);
    expect((await phasegate(project, ['humans', 'passphrase', 'maria'])).code).toBe(2);
    expect((await phasegate(project, ['humans', 'passphrase', 'joe'], SECRET)).code).toBe(2);
  });
});

describe('a gate, in ring served', () => {
  test('is opened by no word of an agent [C18 adv.H1 adv.J1]', async () => {
    const { project, run } = waiting();
    const tries: readonly (readonly [readonly string[], number])[] = [
      [['decide', run, '--option', 'Approve'], 2],
      [await withShown(project, ['decide', run, '--option', 'Approve']), 2],
      [['decide', run, '--option', 'Approve', '--as', 'maria'], 2],
      [['decide', run, '--option', 'Approve', '--force'], 2],
      [['decide', run, '--option', 'Approve', '--yes'], 2],
      [['approve', run], 2],
      [['override', run, '--reason', 'x'], 2],
      [['skip', run], 2],
      [['done', run, '--phase', 'PROPOSE', '--outcome', 'skip'], 1],
      [['done', run, '--phase', 'DO'], 1],
      [['resume', run], 2],
      [['stop', run, '--reason', 'x'], 2],
      [['answer', run, '--question', '1', '--text', 'Approve'], 2],
    ];

    for (const [words, code] of tries) {
      const called = await phasegate(project, words, {
        stdin: 'y\nyes\nApprove\n',
        env: { PHASEGATE_YES: '1', PHASEGATE_FORCE: '1', PHASEGATE_HUMAN: 'maria' },
      });
      expect({ words, code: called.code }).toEqual({ words, code });
    }
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
      status: 'waiting',
      phase: 'PROPOSE',
    });
  });

  test('stays shut to a wrong passphrase, and the audit has the try', async () => {
    const { project, run } = waiting();
    const guess = { passphrase: 'open barley' };

    const guessed = await phasegate(
      project,
      await withShown(project, ['decide', run, '--option', 'Approve', '--json']),
      guess,
    );

    expect(guessed).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
    expect(`${guessed.stdout}${guessed.stderr}`).not.toContain('barley');
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });
    expect((await recordsOf(project, null)).at(-1)).toMatchObject({
      event: 'credential_failed',
      data: { human: 'maria' },
    });
  });

  test('opens to the right one, and keeps the decision with a signature that verifies', async () => {
    const { project, run } = waiting();
    const status = await phasegate(project, ['status', run, '--json'], SECRET);
    const { shown } = status.json;

    const words = ['decide', run, '--option', 'Approve', '--shown', String(shown), '--json'];
    const decided = await phasegate(project, words, SECRET);

    expect(decided).toMatchObject({ code: 0, json: { run, status: 'active', current_phase: 'DO' } });
    const record = (await recordsOf(project, run)).find(({ event }) => event === 'gate_decided');
    expect(record?.principal).toBe('human:maria');
    const { decision } = Object(record?.data) as { decision: GateDecision };
    expect(decision).toMatchObject({ option: 'Approve', by: 'maria', shown });
    const { gate, option, input, by, signature } = decision;
    const text = canonicalJson({ run, gate, option, input, shown: decision.shown, by });
    expect(signedBy(publicKeyOf(project, 'maria'), text, signature)).toBe(true);
    expect(signedBy(publicKeyOf(project, 'maria'), text.replace('Approve', 'Reject'), signature)).toBe(false);
    // Used up: the same gate cannot be decided again.
    expect(await phasegate(project, words.slice(0, 6), SECRET)).toMatchObject({ code: 1 });
    expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  test('is decided only on what was shown', async () => {
    const { project, run } = waiting();

    const words = ['decide', run, '--option', 'Approve', '--shown', 'f'.repeat(64), '--json'];

    expect(await phasegate(project, words, SECRET)).toMatchObject({
      code: 1,
      json: { error: 'shown_changed' },
    });
  });

  test('asks for what an option needs, and the agent is told what was said', async () => {
    const { project, run } = waiting();
    const reject = await withShown(project, ['decide', run, '--option', 'Reject', '--json']);

    expect(await phasegate(project, reject, SECRET)).toMatchObject({
      code: 2,
      json: { error: 'usage', message: expect.stringContaining('--input') },
    });
    expect(await phasegate(project, reject.with(3, 'Maybe'), SECRET)).toMatchObject({
      code: 1,
      json: { error: 'option_unknown' },
    });
    expect(await phasegate(project, [...reject, '--input', 'paint it green'], SECRET)).toMatchObject({
      code: 0,
      json: { status: 'active', current_phase: 'PROPOSE' },
    });
    expect((await phasegate(project, ['next', run])).stdout).toContain('paint it green');
  });
});

describe('humans', () => {
  test('are needed for their verbs; where none is set up the way to one is named', async () => {
    const project = makeProject(EMPTY);
    await phasegate(project, ['init', '--template', 'minimal', '--yes']);
    const run = await startRun(project, 'minimal');
    await complete(project, run, { phase: 'PROPOSE', evidence: PROPOSAL });

    const approve = await withShown(project, ['decide', run, '--option', 'Approve']);
    const decided = await phasegate(project, approve, SECRET);

    expect(decided.code).toBe(2);
    expect(decided.stderr).toContain('phasegate init');
  });

  test('are added by a human once there is one [adv.J1]', async () => {
    const project = makeProject(EMPTY);
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    const add = ['humans', 'add', 'mallory', '--json'];

    const alone = await phasegate(project, add, { newPassphrase: 'let me in please' });
    const guessed = await phasegate(project, add, {
      passphrase: 'open barley',
      newPassphrase: 'let me in please',
    });
    const joined = await phasegate(project, ['humans', 'add', 'joe', '--json'], {
      ...SECRET,
      newPassphrase: 'let me in please',
    });

    expect(alone.code).toBe(2);
    expect(guessed).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
    expect(joined).toMatchObject({ code: 0, json: { name: 'joe', added: true } });
    expect((await phasegate(project, ['humans', 'list', '--json'])).json.humans).toMatchObject([
      { name: 'joe' },
      { name: 'maria' },
    ]);
    // With two of them, who acts must be said, and each has their own passphrase.
    expect(await phasegate(project, ['humans', 'remove', 'joe'], SECRET)).toMatchObject({ code: 2 });
    const asJoe = ['humans', 'remove', 'maria', '--as', 'joe', '--json'];
    expect(await phasegate(project, asJoe, SECRET)).toMatchObject({ code: 1 });
    expect(await phasegate(project, asJoe, { passphrase: 'let me in please' })).toMatchObject({ code: 0 });
    const last = ['humans', 'remove', 'joe', '--json'];
    expect(await phasegate(project, last, { passphrase: 'let me in please' })).toMatchObject({
      code: 1,
      json: { error: 'not_permitted' },
    });
  });

  test('need a passphrase worth the name', async () => {
    const project = makeProject(EMPTY);

    for (const passphrase of ['short', '', 'x'.repeat(5000)]) {
      const added = await phasegate(project, ['humans', 'add', 'maria', '--json'], { passphrase });
      expect(added).toMatchObject({ code: 2, json: { error: 'usage' } });
    }
    expect((await phasegate(project, ['humans', 'list', '--json'])).json).toEqual({ humans: [] });
  });
});

describe('trust', () => {
  test('an edited workflow starts only after a human accepted it', async () => {
    const { project } = waiting();
    const edited = 'workflow: minimal\nphases:\n  ONLY: { writes: [] }\n';
    project.write('agent_workflow.yaml', edited);

    const refused = await phasegate(project, ['start', 'minimal', '--json']);
    expect(refused).toMatchObject({ code: 1, json: { error: 'untrusted_workflow' } });
    expect(await phasegate(project, ['trust', 'minimal', '--yes'])).toMatchObject({ code: 2 });
    expect(await phasegate(project, ['trust', 'minimal'], SECRET)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    const accepted = await phasegate(project, ['trust', 'minimal', '--yes'], SECRET);

    expect(accepted.code).toBe(0);
    expect(accepted.stderr).toMatch(/changed +agent_workflow\.yaml/);
    const started = await phasegate(project, ['start', 'minimal', '--json']);
    expect(started).toMatchObject({ code: 0, json: { phase: 'ONLY', trusted: true } });
  });

  test('covers the schema files a workflow is made of', async () => {
    const project = makeProject({
      'with.workflow.yaml':
        'workflow: with\nschemas: { plan: plan.json }\n' +
        'phases:\n  ONLY: { writes: [], required_artifacts: [{ type: plan, schema: plan }] }\n',
      'plan.json': '{ "type": "object", "required": ["steps"] }',
    });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    expect(await phasegate(project, ['start', 'with'])).toMatchObject({ code: 0 });

    project.write('plan.json', '{ "type": "object" }');

    const started = await phasegate(project, ['start', 'with', '--json']);
    expect(started).toMatchObject({ code: 1, json: { error: 'untrusted_workflow' } });
    const shown = await phasegate(project, ['trust', '--yes'], SECRET);
    expect(shown.stderr).toMatch(/changed +plan\.json/);
    expect(shown.stderr).toMatch(/same +with\.workflow\.yaml/);
  });
});

let original: { readonly project: TestProject; readonly run: string };

beforeAll(async () => {
  const project = makeProject();
  await phasegate(project, ['init', '--template', 'minimal'], SECRET);
  const run = await startRun(project, 'minimal');
  const done = await complete(project, run, { phase: 'PROPOSE', evidence: PROPOSAL });
  expect(done.json).toMatchObject({ checkpoint_passed: true, status: 'waiting' });
  original = { project, run };
});

/** A run of the smallest template that waits at its gate, in a project with a human. */
function waiting() {
  return { ...original, project: copyOf(original.project) };
}

async function recordsOf(project: TestProject, run: string | null): Promise<readonly AuditRecord[]> {
  const { json } = await phasegate(project, ['audit', 'export', '--json'], SECRET);
  return (json.records as unknown as readonly AuditRecord[]).filter((record) => record.run === run);
}

function publicKeyOf(project: TestProject, name: string): string {
  const database = new DatabaseSync(join(project.stateDir, 'state.db'), { readOnly: true });
  const row = database.prepare('SELECT public_key FROM humans WHERE name = ?').get(name);
  database.close();
  return String(row?.public_key);
}

/** Written out here, so that what the project says of its own signatures is not what they are judged by. */
function signedBy(publicKey: string, text: string, signature: string): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), type: 'spki', format: 'der' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

test('a viewer is added with a role, looks, and is refused what changes something', async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'workflow: errand\nphases: { GO: {} }\n' });
  const [maria, ann] = ['open sesame', 'another sesame'];
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: maria });
  const add = (role: string) =>
    phasegate(project, ['humans', 'add', 'ann', '--role', role, '--as', 'maria'], {
      passphrase: maria,
      newPassphrase: ann,
    });

  expect(await add('king')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`king` is not a role'),
  });
  expect(await add('viewer')).toMatchObject({ code: 0, stdout: 'ann may now look, and decides nothing\n' });
  const listed = (await phasegate(project, ['humans', 'list', '--json'])).json;
  expect(listed).toMatchObject({
    humans: [
      { name: 'ann', role: 'viewer' },
      { name: 'maria', role: 'admin' },
    ],
  });
  for (const words of [
    ['trust', 'errand', '--yes', '--as', 'ann'],
    ['agents', 'add', 'eve', '--as', 'ann'],
    ['humans', 'remove', 'maria', '--as', 'ann'],
    ['tokens', 'rotate', '--as', 'ann'],
  ]) {
    const refused = await phasegate(project, words, { passphrase: ann });
    expect(refused.code, words.join(' ')).not.toBe(0);
    expect(refused.stderr).toContain('needs an admin, and `ann` is a viewer');
  }
  const last = await phasegate(project, ['humans', 'remove', 'maria', '--as', 'maria'], {
    passphrase: maria,
  });
  expect(last.stderr).toContain('the last admin');
});
