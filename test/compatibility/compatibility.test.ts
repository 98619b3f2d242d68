import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../packages/phasegate/src/stores/sqlite/migrations/index.ts';
import { type Answers, askAll } from './askAll.ts';
import { askCli } from './askCli.ts';
import { askLate } from './askServer.ts';
import { stopClock } from './clock.ts';
import { FIXTURE, type Place, placeFixture, readMade } from './fixture.ts';

const LONG = 180_000;
const RENEW = 'npm run build && npx node test/compatibility/renew.ts';
const STATUSES: Readonly<Record<string, readonly [status: string, phase: string | number | null]>> = {
  queued: ['queued', 'PLAN'],
  planning: ['active', 'PLAN'],
  approved: ['active', 'BUILD'],
  sentBack: ['active', 'PLAN'],
  items: ['active', 'WRITE'],
  halfVoted: ['waiting', 'PLAN'],
  questions: ['waiting', 'PLAN'],
  escalated: ['escalated', 'PLAN'],
  completed: ['completed', null],
  stopped: ['stopped', null],
  books: ['active', 'review'],
  booksGate: ['waiting', 'publish'],
  markdown: ['active', 2],
  loose: ['active', 'TELL'],
};
const made = readMade();
let answers: Answers = new Map();

beforeAll(async () => {
  answers = await askAll();
}, LONG);

describe('what 0.1.0 left behind', () => {
  test('is whole, before and after the present code went on with it', () => {
    expect(answers.get('cli/audit-verify')).toMatchObject({ code: 0, json: [{ ok: true }] });
    expect(answers.get('rest/audit-verify-after')).toMatchObject({ status: 200, body: { ok: true } });
  });

  test('is brought to the present format by the one who opens it first, and verifies then', async () => {
    const place = placeFixture();
    try {
      expect(formatOf(place)).toBeLessThan(MIGRATIONS.length);
      const question = { name: 'audit-verify', words: ['audit', 'verify'], as: 'maria' };
      expect(await askCli(place, made, question)).toMatchObject({
        code: 0,
        json: [{ ok: true, runs: Object.keys(made.runs).length, findings: [] }],
      });
      expect(formatOf(place)).toBe(MIGRATIONS.length);
    } finally {
      rmSync(place.base, { recursive: true, force: true });
    }
  });

  test('gives the audit that was exported then, record by record', async () => {
    const place = placeFixture();
    try {
      const question = { name: 'audit-export', words: ['audit', 'export'], as: 'maria' };
      const [{ records }] = (await askCli(place, made, question)).json as [{ records: readonly unknown[] }];
      const then = readFileSync(join(FIXTURE, 'audit.jsonl'), 'utf8').trim().split('\n');
      expect(records).toEqual(then.map((line) => JSON.parse(line)));
    } finally {
      rmSync(place.base, { recursive: true, force: true });
    }
  });

  test('has a run in every status, and each loads', () => {
    expect(Object.keys(STATUSES).sort()).toEqual(Object.keys(made.runs).sort());
    for (const [name, [status, phase]] of Object.entries(STATUSES)) {
      expect(answers.get(`rest/run-${name}`), name).toMatchObject({ status: 200, body: { status, phase } });
    }
  });

  test('a gate with one of two votes is finished when both humans have voted on the card as it is now', () => {
    expect(answers.get('rest/gate')).toMatchObject({ status: 200 });
    // The card says more than it did when maria voted, and only votes on the same card count together.
    expect(answers.get('rest/decide')).toMatchObject({ status: 200, body: { status: 'waiting' } });
    expect(answers.get('rest/decide-again')).toMatchObject({
      status: 200,
      body: { status: 'active', phase: 'BUILD' },
    });
  });

  test('the item that was open is completed, and its phase with it', () => {
    expect(answers.get('rest/transition-item')).toMatchObject({ status: 200, body: { phase: 'READ' } });
  });

  test('tokens that were alive are taken', () => {
    for (const name of Object.keys(made.tokens)) {
      expect(answers.get(`rest/snapshot-${name}`), name).toMatchObject({ status: 200 });
    }
    expect(answers.get('rest/transition-to-end')).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    });
  });

  test(
    'a token whose day is over is refused, and the key of its agent has the way on',
    async () => {
      const place = placeFixture();
      const goOn = stopClock(new Date(Date.parse(made.at) + 2 * 86_400_000).toISOString());
      try {
        const [late, claimed] = await askLate(place, made);
        expect(late).toMatchObject({ status: 401, body: { error: 'token_expired' } });
        expect(claimed).toMatchObject({ status: 200, body: { phase_token: expect.any(String) } });
      } finally {
        goOn();
        rmSync(place.base, { recursive: true, force: true });
      }
    },
    LONG,
  );
});

function formatOf({ stateDir }: Place): number {
  const database = new DatabaseSync(join(stateDir, 'state.db'));
  const { user_version: format } = database.prepare('PRAGMA user_version').get() ?? {};
  database.close();
  return Number(format);
}

describe('every answer about it is the one that is kept', () => {
  const folder = join(FIXTURE, 'answers');
  const kept = globSync('*/*.json', { cwd: folder }).map((file) => file.replace(/\.json$/, ''));

  test.each(kept.sort())('%s', (name) => {
    const file = `${name}.json`;
    const before: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    expect(
      JSON.parse(JSON.stringify(answers.get(name) ?? null)),
      `0.1.0/answers/${file} is another now: say in CHANGELOG.md why this answer changed, then renew it with \`${RENEW}\``,
    ).toEqual(before);
  });

  test('and none is asked for that is not kept', () => {
    const unkept = [...answers.keys()].filter((name) => !kept.includes(name));
    expect(unkept, `keep them with \`${RENEW}\``).toEqual([]);
  });
});
