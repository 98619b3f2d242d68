import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { FIXTURE, type Made, makePlace, type Place } from './fixture.ts';
import { command } from './stage.ts';
import { PASSPHRASES, playStory } from './story.ts';

// Makes the fixture from nothing, by the built command and its server. Run once for a version, and never over an
// old one: the worth of a fixture is that the code that made it is gone. `renew.ts` asks for the answers.
if (existsSync(join(FIXTURE, 'made.json'))) {
  throw new Error(
    `${FIXTURE} is there: a fixture is made once; make one for another version in another folder`,
  );
}
const place = makePlace(fileURLToPath(new URL('project', import.meta.url)));
const played = await playStory(place);
await command(
  place,
  ['webhooks', 'add', 'http://127.0.0.1:9/hook', '--event', 'run_migrated', '--as', 'maria'],
  {
    passphrase: PASSPHRASES.maria,
  },
);
const exported = await command(place, ['audit', 'export', '--as', 'maria'], {
  passphrase: PASSPHRASES.maria,
});
const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
  cwd: import.meta.dirname,
  encoding: 'utf8',
}).trim();
keep(place, { commit, at: new Date().toISOString(), ...played }, exported.records as readonly unknown[]);
rmSync(place.base, { recursive: true });

function keep({ root, stateDir }: Place, made: Made, records: readonly unknown[]): void {
  mkdirSync(FIXTURE, { recursive: true });
  cpSync(root, join(FIXTURE, 'project'), { recursive: true });
  const database = new DatabaseSync(join(stateDir, 'state.db'));
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  cpSync(stateDir, join(FIXTURE, 'state'), {
    recursive: true,
    // What belongs to a process that is gone, and the index of documents, which is made anew when it is asked.
    filter: (path) => !/(?:server\.json|server\.lock|-wal|-shm|standards\.db)$/.test(path),
  });
  writeFileSync(
    join(FIXTURE, 'audit.jsonl'),
    records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  );
  writeFileSync(join(FIXTURE, 'made.json'), `${JSON.stringify(made, null, 2)}\n`);
}
