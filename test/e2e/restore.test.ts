import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, phasegate, startRun, type TestProject } from './cli.ts';
import { alter, alterIn, usingFile } from './rawDatabase.ts';

const LONG = 120_000;
const SECRET = { passphrase: 'open sesame' };
const WORKFLOW = 'workflow: errand\nphases: { GO: {}, REST: {} }\n';

const DOCTORED: readonly (readonly [string, string])[] = [
  ['a run that was moved', "UPDATE runs SET state = replace(state, 'GO', 'REST')"],
  ['a record that was rewritten', "UPDATE audit SET principal = 'human:maria' WHERE run <> '' AND seq = 1"],
  ['a head that was removed with what it covers', "DELETE FROM audit WHERE run = '' AND seq > 1"],
];

test.each(DOCTORED)(
  'a doctored backup, with %s, is refused before anything is replaced; a genuine one restores [adv.P9]',
  async (_, sql) => {
    const { project, run, genuine } = await backedUp();
    const doctored = join(project.base, 'doctored.db');
    copyFileSync(genuine, doctored);
    change(doctored, sql);

    const refused = await phasegate(project, ['restore', doctored, '--json'], SECRET);

    expect(refused).toMatchObject({
      code: 1,
      json: { error: 'audit_broken', hint: 'nothing was changed; restore another backup' },
    });
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'REST' });
    expect(leftBehind(project)).toEqual([]);
    expect(await phasegate(project, ['restore', genuine], SECRET)).toMatchObject({ code: 0 });
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'GO' });
    expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
  },
  LONG,
);

test(
  'a backup of another project, without its signed head, is refused, and the project goes on [adv.P9]',
  async () => {
    const { project, run, genuine } = await backedUp();
    const other = await backedUp();
    const foreign = join(project.base, 'foreign.db');
    copyFileSync(other.genuine, foreign);
    change(foreign, 'DELETE FROM heads');

    const refused = await phasegate(project, ['restore', foreign, '--json'], SECRET);

    expect(refused.code).toBe(1);
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'REST' });
    expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(await phasegate(project, ['restore', genuine], SECRET)).toMatchObject({ code: 0 });
  },
  LONG,
);

test.each([
  ['a run', "UPDATE runs SET state = replace(state, 'REST', 'GO')"],
  ['a human', "UPDATE humans SET public_key = 'AAAA'"],
  ['every human', 'DELETE FROM humans'],
])(
  'what was done to %s of the present state keeps no genuine backup from being restored [adv.P9]',
  async (_, sql) => {
    const { project, run, genuine } = await backedUp();
    alter(project, sql);

    expect(
      await phasegate(project, ['restore', genuine, '--json'], { passphrase: 'open barley' }),
    ).toMatchObject({
      code: 1,
      json: { error: 'credential_invalid' },
    });
    expect(await phasegate(project, ['restore', genuine, '--json'], SECRET)).toMatchObject({ code: 0 });

    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'GO' });
    expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(readdirSync(project.stateDir)).toContain('state.db.before-restore-1');
  },
  LONG,
);

/** A project with a human and a run, backed up in its first phase and gone on since. */
async function backedUp() {
  const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
  await phasegate(project, ['humans', 'add', 'maria'], SECRET);
  await phasegate(project, ['trust', '--yes'], SECRET);
  const run = await startRun(project, 'errand');
  const genuine = join(project.base, 'genuine.db');
  expect(await phasegate(project, ['backup', genuine])).toMatchObject({ code: 0 });
  expect(await phasegate(project, ['done', run])).toMatchObject({ code: 0 });
  return { project, run, genuine };
}

function change(file: string, sql: string): void {
  usingFile(file, (database) => alterIn(database, sql));
}

function leftBehind(project: TestProject): readonly string[] {
  return readdirSync(project.stateDir).filter((name) => name.includes('restor'));
}
