import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, copyOf, makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { alter, rechain } from '../e2e/rawDatabase.ts';
import { PASSPHRASE } from './siege.ts';

const SHARED = 'enforcement: { workspace: shared }';
const LOOSE = `workflow: w\n${SHARED}\nphases:\n  A: { allowed_tools: [write_files, bash], writes: ["**"] }\n`;
const STRICT = `workflow: w\n${SHARED}\nphases:\n  A: { allowed_tools: [read_files], writes: [] }\n`;
const STEP = `sh -c 'echo {\\"success\\":true,\\"result\\":{}}'`;
const OTHER = `workflow: other\n${SHARED}\nphases:\n  A:\n    writes: []\n    command: ${STEP}\n`;
const [LOOSE_TOOLS, STRICT_TOOLS] = ['{"mcpServers":{"loose":{}}}\n', '{"mcpServers":{}}\n'];

const NEWEST = '(SELECT max(number) FROM trusted WHERE workflow = ?)';
const OLDEST = '(SELECT min(number) FROM trusted WHERE workflow = ?)';
const ONE_ROW = 'SELECT hash, workflow, data, mac FROM trusted WHERE number =';

/** What can be done to the rows without the keys. Each brings the older acceptance of the subject back. */
const ROWS = [
  ['was taken away', `DELETE FROM trusted WHERE number = ${NEWEST}`],
  ['was given another number', `UPDATE trusted SET number = -1 WHERE number = ${NEWEST}`],
  ['was given another name', `UPDATE trusted SET workflow = 'x' || workflow WHERE number = ${NEWEST}`],
  ['was given another hash', `UPDATE trusted SET hash = 'x' WHERE number = ${NEWEST}`],
  ['was changed', `UPDATE trusted SET data = json_set(data, '$.workflow', 'x') WHERE number = ${NEWEST}`],
  ['lost its seal', `UPDATE trusted SET mac = '' WHERE number = ${NEWEST}`],
  [
    'was overwritten with the older one',
    `UPDATE trusted SET (hash, workflow, data, mac) = (${ONE_ROW} ${OLDEST}) WHERE number = ${NEWEST}`,
  ],
  [
    'has the older one behind it again',
    `INSERT INTO trusted (hash, workflow, data, mac) ${ONE_ROW} ${OLDEST}`,
  ],
] as const;

/** A human accepted the loose ones first, and the strict ones of both since. An anchor outside says that it is so. */
let accepted: TestProject;
let anchors: string;

beforeAll(async () => {
  accepted = makeProject({ 'w.workflow.yaml': LOOSE, 'other.workflow.yaml': OTHER });
  expect(await byMaria(['humans', 'add', 'maria'], [])).toMatchObject({ code: 0 });
  expect(await byMaria(['trust', '--yes'])).toMatchObject({ code: 0 });
  accepted.write('w.workflow.yaml', STRICT);
  expect(await byMaria(['trust', 'w', '--yes'])).toMatchObject({ code: 0 });
  expect((await run(accepted)).code).toBe(0);
  for (const tools of [LOOSE_TOOLS, STRICT_TOOLS]) {
    accepted.write('.mcp.json', tools);
    expect(await byMaria(['trust', '--guarded', '--yes'])).toMatchObject({ code: 0 });
  }
  expect((await run(accepted)).code).toBe(0);
  anchors = join(accepted.base, 'anchors');
  expect((await phasegate(accepted, ['audit', 'anchor', '--to', anchors])).code).toBe(0);
  expect(await verify(accepted)).toMatchObject({ code: 0 });
});

describe('an older acceptance of a workflow does not come back where the newest', () => {
  test.each(ROWS)('%s: nothing starts, and `audit verify` tells [adv.J1 adv.M1]', async (_, sql) => {
    const project = copyOf(accepted);
    project.write('w.workflow.yaml', LOOSE);
    expect((await start(project)).json).toMatchObject({ error: 'untrusted_workflow' });

    alter(project, sql, ...subjectsOf(sql, 'w'));

    expect(await start(project)).toMatchObject({ code: 1, json: { error: 'state_tampered' } });
    expectTold(await verify(project), /acceptance of `x?w`/);
  });

  test('was taken away with its record, and the chain written anew [adv.J1 adv.M2]', async () => {
    const project = copyOf(accepted);
    project.write('w.workflow.yaml', LOOSE);

    alter(project, `DELETE FROM trusted WHERE number = ${NEWEST}`, 'w');
    alter(
      project,
      `UPDATE audit SET event = 'run_tagged' WHERE run = '' AND seq =
         (SELECT max(seq) FROM raw_audit WHERE run = '' AND event = 'workflow_trusted' AND data LIKE '%"workflow":"w"%')`,
    );
    // A chain has no key: but for its signed end it fits together again.
    rechain(project, '', (record) => record);

    expect(await start(project)).toMatchObject({ code: 1, json: { error: 'state_tampered' } });
    expect((await verify(project)).code).toBe(1);
  });

  test('was taken away with all others: nothing is accepted, and `audit verify` tells [adv.J1]', async () => {
    const project = copyOf(accepted);
    project.write('w.workflow.yaml', LOOSE);

    alter(project, 'DELETE FROM trusted');

    expect(await start(project)).toMatchObject({ code: 1, json: { error: 'untrusted_workflow' } });
    expectTold(await verify(project), /acceptance of `other` was given .* and is gone/);
  });
});

describe('an older acceptance of a guarded file does not come back where the newest', () => {
  test.each(ROWS)('%s: no program is run, and `audit verify` tells [adv.Q2 adv.M1]', async (_, sql) => {
    const project = copyOf(accepted);
    // In another place nothing was looked at yet.
    expect((await run(project)).code).toBe(0);
    project.write('.mcp.json', LOOSE_TOOLS);
    expect((await run(project)).json).toMatchObject({ error: 'guarded_changed' });

    alter(project, sql, ...subjectsOf(sql, 'guarded:.mcp.json'));

    expect(await run(project)).toMatchObject({ code: 1, json: { error: 'state_tampered' } });
    expectTold(await verify(project), /acceptance of `x?guarded:\.mcp\.json`/);
  });
});

test('what a human accepts again and again, and a backup that is put back, is what verifies and starts', async () => {
  const project = copyOf(accepted);
  for (const text of [LOOSE, STRICT, LOOSE]) {
    project.write('w.workflow.yaml', text);
    expect(await byMaria(['trust', 'w', '--yes'], ['--as', 'maria'], project)).toMatchObject({ code: 0 });
    expect((await start(project)).code).toBe(0);
  }
  const backup = join(project.base, 'backup.db');
  expect((await phasegate(project, ['backup', backup])).code).toBe(0);
  project.write('w.workflow.yaml', STRICT);
  expect(await byMaria(['trust', 'w', '--yes'], ['--as', 'maria'], project)).toMatchObject({ code: 0 });
  expect((await start(project)).code).toBe(0);

  expect((await byMaria(['restore', backup, '--json'], [], project)).code).toBe(0);

  expect((await start(project)).json).toMatchObject({ error: 'untrusted_workflow' });
  project.write('w.workflow.yaml', LOOSE);
  expect((await start(project)).code).toBe(0);
  expect((await verify(project)).json).toMatchObject({ ok: true });
});

function byMaria(
  words: readonly string[],
  as: readonly string[] = ['--as', 'maria'],
  project = accepted,
): Promise<Called> {
  return phasegate(project, [...words, ...as], { passphrase: PASSPHRASE });
}

/** As many as the statement asks for. */
function subjectsOf(sql: string, subject: string): readonly string[] {
  return [...sql.matchAll(/\?/g)].map(() => subject);
}

function start(project: TestProject): Promise<Called> {
  return phasegate(project, ['start', 'w', '--json']);
}

function run(project: TestProject): Promise<Called> {
  return phasegate(project, ['run', 'other', '--json']);
}

function verify(project: TestProject): Promise<Called> {
  return phasegate(project, ['audit', 'verify', '--anchor', anchors, '--json']);
}

function expectTold({ code, json }: Called, message: RegExp): void {
  expect([code, json.ok]).toEqual([1, false]);
  expect(json.findings).toContainEqual(
    expect.objectContaining({ kind: 'state_edited', run: null, message: expect.stringMatching(message) }),
  );
}
