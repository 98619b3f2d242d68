import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { canonicalJson } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, complete, copyOf, makeProject, phasegate, startRun, type TestProject } from './cli.ts';
import { alter, alterRecord, append, newestSeq, rechain, using } from './rawDatabase.ts';

const SECRET = { passphrase: 'open sesame' };
const PROPOSAL = { proposal: { summary: 'Paint it blue', steps: ['paint'] } };

// All of this holds in ring `served` against anyone who can write the database and does not have the keys.
describe('in ring served, `audit verify` names', () => {
  test('a record that was edited [adv.M2 adv.H2]', async () => {
    const { project, first } = twoRuns();

    alter(project, `UPDATE audit SET data = replace(data, 'blue', 'pink') WHERE run = ? AND seq = 2`, first);

    expectFinding(await verify(project), { kind: 'record_edited', run: first, seq: 2 });
  });

  test('a record that was edited and hashed anew [adv.M2]', async () => {
    const { project, first } = twoRuns();

    alterRecord(project, { run: first, seq: 2 }, (record) => ({ ...record, principal: 'human:maria' }));

    expectFinding(await verify(project), { kind: 'record_edited', run: first, seq: 2 });
  });

  test('a chain that was recomputed whole, with the head of its run [adv.M2]', async () => {
    const { project, first } = twoRuns();
    const last = newestSeq(project, first);

    const head = rechain(project, first, (record) =>
      record.seq === 2 ? { ...record, principal: 'human:maria' } : record,
    );
    alter(project, 'UPDATE runs SET hash = ? WHERE id = ?', head, first);

    expectFinding(await verify(project), { kind: 'state_edited', run: first, seq: last });
  });

  test('a record that was removed [adv.M2]', async () => {
    const { project, first } = twoRuns();

    alter(project, 'DELETE FROM audit WHERE run = ? AND seq = 1', first);

    expectFinding(await verify(project), { kind: 'record_missing', run: first, seq: 1 });
  });

  test('a tail that was cut [adv.M1]', async () => {
    const { project, first } = twoRuns();
    const last = newestSeq(project, first);

    alter(project, 'DELETE FROM audit WHERE run = ? AND seq = ?', first, last);

    expectFinding(await verify(project), { kind: 'tail_cut', run: first, seq: last });
  });

  test('a run put back whole to where it was before, with a seal that was once right [adv.M1]', async () => {
    const { project, second } = twoRuns();
    const before = using(project, (database) =>
      database.prepare('SELECT * FROM raw_runs WHERE id = ?').get(second),
    ) as Record<string, SQLInputValue>;
    expect(await complete(project, second, { phase: 'PROPOSE', evidence: PROPOSAL })).toMatchObject({
      code: 0,
    });
    expect((await verify(project)).code).toBe(0);

    alter(project, 'DELETE FROM audit WHERE run = ? AND seq > ?', second, before.seq ?? 0);
    const columns = Object.keys(before);
    alter(
      project,
      `INSERT OR REPLACE INTO runs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...Object.values(before),
    );

    expectFinding(await verify(project), { kind: 'run_rolled_back', run: second });
  });

  test("a cut tail of the project's own chain [adv.M1]", async () => {
    const { project } = twoRuns();
    const last = newestSeq(project, '');

    alter(project, `DELETE FROM audit WHERE run = '' AND seq = ?`, last);

    expectFinding(await verify(project), { kind: 'tail_cut', run: null, seq: last });
  });

  test('a run that was dropped with all its records [adv.M1]', async () => {
    const { project, first, second } = twoRuns();

    alter(project, 'DELETE FROM runs WHERE id = ?', first);
    alter(project, 'DELETE FROM audit WHERE run = ?', first);

    const report = await verify(project);
    expectFinding(report, { kind: 'run_dropped', run: first });
    expect(report.stdout).not.toContain(second);
  });

  test('a state that was edited, and every command refuses to go on from it [adv.H2]', async () => {
    const { project, first } = twoRuns();

    alter(
      project,
      `UPDATE runs SET state = json_set(state, '$.status', 'active', '$.phase', 'DO'), status = 'active',
         phase = '"DO"' WHERE id = ?`,
      first,
    );

    expectFinding(await verify(project), { kind: 'state_edited', run: first });
    const report = { report: { done: ['painted'], checked: 'looked at it twice' } };
    for (const result of [
      await complete(project, first, { phase: 'DO', evidence: report }),
      await phasegate(project, ['status', first, '--json']),
      await phasegate(project, ['next', first, '--json']),
    ]) {
      expect(result.code).toBe(1);
      expect(result.json).toMatchObject({ error: 'state_tampered' });
    }
  });

  test('what is listed otherwise than it is', async () => {
    const { project, first } = twoRuns();

    alter(project, `UPDATE runs SET status = 'completed', phase = 'null' WHERE id = ?`, first);

    expectFinding(await verify(project), { kind: 'state_edited', run: first });
  });

  test('a head that was signed by someone else, and nothing is written on top of it [adv.M2]', async () => {
    const { project, first } = twoRuns();

    alter(project, `UPDATE heads SET signature = ?`, Buffer.alloc(64, 7).toString('base64url'));

    expectFinding(await verify(project), { kind: 'head_invalid' });
    const started = await phasegate(project, ['start', 'minimal', '--json']);
    expect(started.code).toBe(1);
    expect(started.json).toMatchObject({ error: 'audit_broken' });
    expect((await phasegate(project, ['status', first, '--json'])).json).toMatchObject({ status: 'waiting' });
  });
});

describe("in ring served, a row that pretends to be a human's", () => {
  test('approval decides nothing [adv.H2 adv.J1]', async () => {
    const { project, first } = twoRuns();
    const seq = newestSeq(project, first) + 1;

    append(project, {
      run: first,
      seq,
      event: 'gate_decided',
      data: { decision: { ...DECISION, signature: forged(first) }, final: true },
    });

    expect((await phasegate(project, ['status', first, '--json'])).json).toMatchObject({
      status: 'waiting',
      phase: 'PROPOSE',
    });
    const done = await complete(project, first, { phase: 'PROPOSE', evidence: PROPOSAL });
    expect(done.code).toBe(1);
    expectFinding(await verify(project), { kind: 'record_edited', run: first, seq });
  });

  test('approval decides nothing, also where the state says it was given [adv.H2 adv.J1]', async () => {
    const { project, first } = twoRuns();
    const decision = JSON.stringify({ ...DECISION, signature: forged(first) });

    alter(
      project,
      `UPDATE runs SET state = json_set(state, '$.decisions[0]', json(?), '$.wait.votes[0]', json(?)) WHERE id = ?`,
      decision,
      decision,
      first,
    );

    const done = await complete(project, first, { phase: 'DO' });
    expect(done.code).toBe(1);
    expect(done.json).toMatchObject({ error: 'state_tampered' });
    expectFinding(await verify(project), { kind: 'state_edited', run: first });
  });

  test('override leads past nothing, and one that is hidden from the list is found [adv.H2 adv.H3]', async () => {
    const { project, first, second } = twoRuns();
    const override = JSON.stringify({
      phase: 'PROPOSE',
      to: 'DO',
      reason: 'x',
      by: 'maria',
      signature: forged(first),
    });

    alter(
      project,
      `UPDATE runs SET state = json_set(state, '$.overrides[0]', json(?)) WHERE id = ?`,
      override,
      first,
    );

    expect((await complete(project, first, { phase: 'DO' })).json).toMatchObject({ error: 'state_tampered' });
    expectFinding(await verify(project), { kind: 'state_edited', run: first });
    const words = ['override', second, '--reason', 'the registry is down', '--json'];
    expect((await phasegate(project, words, SECRET)).code).toBe(0);
    alter(project, 'DELETE FROM overridden WHERE run = ?', second);
    expectFinding(await verify(project), { kind: 'state_edited', run: second, message: /listed otherwise/ });
  });

  test("session, or a client's, opens nothing: a human's is in no table, and others are sealed [adv.H2 adv.J1]", async () => {
    const { project, first } = twoRuns();
    const session = JSON.stringify({ name: 'maria', kind: 'human', run: first });
    const tables = using(project, (database) =>
      database.prepare(`SELECT name FROM sqlite_schema WHERE name LIKE '%session%'`).all(),
    );
    expect(tables).toEqual([]);

    alter(
      project,
      `INSERT INTO kept (kind, key, data, mac) VALUES ('session', 'mine', ?, ?)`,
      session,
      'f'.repeat(64),
    );

    const shown = ['--shown', 'f'.repeat(64)];
    const words = ['decide', first, '--option', 'Approve', ...shown, '--as', 'maria', '--json'];
    expect((await phasegate(project, words, { env: { PHASEGATE_SESSION: 'mine' } })).code).toBe(2);
    expect((await phasegate(project, ['status', first, '--json'])).json).toMatchObject({
      error: 'state_tampered',
      message: expect.stringContaining('session `mine`'),
    });
    expectFinding(await verify(project), { kind: 'state_edited', run: null, message: /session/ });
  });

  test('key makes nobody a human [adv.J1]', async () => {
    const { project, first } = twoRuns();
    const { name, data } = using(project, (database) =>
      database.prepare('SELECT * FROM humans').get(),
    ) as Record<string, string>;
    const mine = { ...JSON.parse(data as string), name: 'mallory' };

    alter(
      project,
      'INSERT INTO humans (name, public_key, data, removed_at, mac) VALUES (?, ?, ?, NULL, ?)',
      'mallory',
      mine.publicKey,
      JSON.stringify(mine),
      'f'.repeat(64),
    );

    expect(name).toBe('maria');
    // Mallory knows the passphrase of the key in the row, as it is their own.
    const shown = ['--shown', 'f'.repeat(64)];
    const words = ['decide', first, '--option', 'Approve', ...shown, '--as', 'mallory', '--json'];
    const decided = await phasegate(project, words, SECRET);
    expect(decided.code).toBe(1);
    expect(decided.json).toMatchObject({ error: 'state_tampered' });
    expectFinding(await verify(project), { kind: 'state_edited', run: null, message: /mallory/ });
  });

  test('acceptance starts no workflow', async () => {
    const { project } = twoRuns();
    project.write('agent_workflow.yaml', 'workflow: minimal\nphases:\n  ONLY: { writes: [] }\n');
    const refused = await phasegate(project, ['start', 'minimal', '--json']);
    expect(refused.json).toMatchObject({ error: 'untrusted_workflow' });
    const { data: note } = using(project, (database) =>
      database.prepare(`SELECT data FROM raw_audit WHERE event = 'start_refused'`).get(),
    ) as { data: string };
    const { closure } = JSON.parse(note) as { closure: string };

    alter(
      project,
      `INSERT INTO trusted (hash, workflow, data, mac)
         SELECT ?, workflow, json_set(data, '$.hash', ?), mac FROM trusted LIMIT 1`,
      closure,
      closure,
    );

    const started = await phasegate(project, ['start', 'minimal', '--json']);
    expect(started.code).toBe(1);
    expect(started.json).toMatchObject({ error: 'state_tampered' });
  });
});

const DECISION = {
  gate: 'proposal#1',
  option: 'Approve',
  input: null,
  shown: 'a'.repeat(64),
  by: 'maria',
  at: '2030-01-01T00:00:00.000Z',
};

interface TwoRuns {
  readonly project: TestProject;
  /** Waits at its gate. */
  readonly first: string;
  /** Is in its first phase. */
  readonly second: string;
}

/** Made once, as it takes a while; every test alters a copy of its own. */
let original: TwoRuns;

beforeAll(async () => {
  const project = makeProject();
  const made = await phasegate(project, ['init', '--template', 'minimal'], SECRET);
  expect(made).toMatchObject({ code: 0 });
  const alone = readFileSync(join(project.root, 'agent_workflow.yaml'), 'utf8');
  const shared = alone.replace('\nphases:', '\nenforcement: { workspace: shared }\nphases:');
  project.write('agent_workflow.yaml', shared);
  expect(await phasegate(project, ['trust', '--yes'], SECRET)).toMatchObject({ code: 0 });
  const [first, second] = [await startRun(project, 'minimal'), await startRun(project, 'minimal')];
  const done = await complete(project, first, { phase: 'PROPOSE', evidence: PROPOSAL });
  expect(done.json).toMatchObject({ status: 'waiting' });
  expect((await verify(copyOf(project))).code).toBe(0);
  original = { project, first, second };
});

function twoRuns(): TwoRuns {
  return { ...original, project: copyOf(original.project) };
}

function verify(project: TestProject): Promise<Called> {
  return phasegate(project, ['audit', 'verify', '--json']);
}

function expectFinding(
  called: Called,
  expected: {
    readonly kind: string;
    readonly run?: string | null;
    readonly seq?: number;
    readonly message?: RegExp;
  },
): void {
  const { message, ...finding } = expected;
  expect(called.code).toBe(1);
  expect(called.json.ok).toBe(false);
  const words = message === undefined ? {} : { message: expect.stringMatching(message) };
  expect(called.json.findings).toEqual(
    expect.arrayContaining([expect.objectContaining({ ...finding, ...words })]),
  );
}

/** A signature that is well-formed and by nobody the project knows. */
function forged(run: string): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { gate, option, input, shown, by } = DECISION;
  const text = canonicalJson({ run, gate, option, input, shown, by });
  return sign(null, Buffer.from(text), privateKey).toString('base64url');
}
