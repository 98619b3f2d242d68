import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { askCli } from './askCli.ts';
import { FIXTURE, placeFixture, readMade } from './fixture.ts';

test.runIf(FULL)(
  'what 0.1.0 left behind is moved to PostgreSQL, and is whole there, record by record',
  async () => {
    const [place, made] = [placeFixture(), readMade()];
    const ask = (name: string, words: readonly string[]) => askCli(place, made, { name, words, as: 'maria' });
    try {
      const moved = await ask('move', ['migrate-store', '--from', 'sqlite:', '--to', await freshSchema()]);
      const verified = await ask('verify', ['audit', 'verify']);
      const exported = await ask('export', ['audit', 'export']);

      expect(moved).toMatchObject({ code: 0 });
      expect(verified).toMatchObject({
        code: 0,
        json: [{ ok: true, runs: Object.keys(made.runs).length, findings: [] }],
      });
      expect(readFileSync(join(place.stateDir, 'database-url'), 'utf8')).toMatch(/^postgres:/);
      const then = readFileSync(join(FIXTURE, 'audit.jsonl'), 'utf8').trim().split('\n');
      const [{ records }] = exported.json as [{ records: readonly unknown[] }];
      expect(records.slice(0, then.length)).toEqual(then.map((line) => JSON.parse(line)));
    } finally {
      rmSync(place.base, { recursive: true, force: true });
    }
  },
);
