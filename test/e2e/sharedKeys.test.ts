import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { tokenSecretsOf } from '../../packages/phasegate/src/runtime/keys.ts';
import { asProcess, makeProject, phasegate, type TestProject } from './cli.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';
const PASSPHRASE = 'open sesame';

test('an agent with hooks reads the keys that nodes share by no name, also where its client has no word of them', async () => {
  const { project, file, env } = await makeNode();
  await phasegate(project, ['start', 'errand']);
  const measures = join(project.base, 'measures');
  mkdirSync(measures, { mode: 0o700 });
  linkSync(file, join(project.root, 'second.json'));
  symlinkSync(file, join(project.root, 'third.json'));
  let call = 0;
  const said = async (path: string, known: Readonly<Record<string, string>>) => {
    call += 1;
    const { json } = await asProcess(project, ['hook', 'claude'], {
      env: known,
      stdin: JSON.stringify({
        session_id: 's1',
        cwd: project.root,
        hook_event_name: 'PreToolUse',
        tool_name: 'Read',
        tool_input: { file_path: path },
        tool_use_id: `toolu_${call}`,
      }),
    });
    return String(own(own(json, 'hookSpecificOutput'), 'permissionDecisionReason'));
  };

  for (const known of [env, {}])
    for (const path of [file, join(project.root, 'second.json'), join(project.root, 'third.json')])
      expect(await said(path, known), path).toContain('is closed');
  expect(await said(join(measures, 'x'), { ...env, PHASEGATE_MEASURES: measures })).toContain('is closed');
  expect(await said(join(project.base, 'elsewhere.txt'), env)).not.toContain('is closed');
});

test('a second name of the keys that nodes share is in no difference of the workspace', async () => {
  const { project, file, env } = await makeNode();
  const run = String((await phasegate(project, ['start', 'errand', '--json'], { env })).json.run);
  linkSync(file, join(project.root, 'second.md'));
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows: string };

  const told = [
    await phasegate(project, ['fence', run, '--json'], { env }),
    await phasegate(project, ['fence', run, '--diff', 'second.md'], { env }),
    // The state directory remembers which file it is.
    await phasegate(project, ['fence', run, '--diff', 'second.md']),
  ];

  expect(told[0]?.stdout).toContain('second.md');
  expect(told.filter(({ stdout, stderr }) => (stdout + stderr).includes(rows))).toEqual([]);
  expect(told[2]?.stdout).toContain('by another name');
});

test('keys that nodes share are not rotated in a copy that no node goes by', async () => {
  const { project, file, env } = await makeNode();
  await phasegate(project, ['humans', 'add', 'maria'], { env, passphrase: PASSPHRASE });
  const before = readFileSync(file, 'utf8');

  const refused = await phasegate(project, ['tokens', 'rotate', '--json'], { passphrase: PASSPHRASE });

  expect(refused).toMatchObject({ code: 2, json: { message: expect.stringContaining(file) } });
  expect(readFileSync(file, 'utf8')).toBe(before);
  const rotated = await phasegate(project, ['tokens', 'rotate', '--json'], { env, passphrase: PASSPHRASE });
  expect(rotated.code).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain(String(rotated.json.kid));
});

test('keys that nodes share are not believed where others can replace them, nor in the project by another name', async () => {
  const { project, file, env } = await makeNode();
  chmodSync(join(project.base, 'keys'), 0o777);
  expect(await phasegate(project, ['runs', '--json'], { env })).toMatchObject({
    code: 1,
    json: { message: expect.stringContaining('others can replace it') },
  });
  chmodSync(join(project.base, 'keys'), 0o700);

  renameSync(file, join(project.root, 'kept.json'));
  symlinkSync(join(project.root, 'kept.json'), file);
  copyFileSync(join(project.root, 'kept.json'), join(project.root, '..keys.json'));
  for (const named of [file, join(project.root, '..keys.json')])
    expect(
      await phasegate(project, ['runs', '--json'], { env: { PHASEGATE_KEYS_FILE: named } }),
    ).toMatchObject({
      code: 2,
      json: { message: expect.stringContaining('outside of the project') },
    });
});

test('a server that has read the keys sees when others may read them as well', async () => {
  const { project, file } = await makeNode();
  const secrets = tokenSecretsOf(project.stateDir, file);
  expect(secrets()).toBe(secrets());

  chmodSync(file, 0o644);
  expect(secrets).toThrow('can be read or written by others');

  chmodSync(file, 0o600);
  expect(secrets().current.kid).toEqual(expect.any(String));
});

/** A project that was opened with the keys that nodes share. */
async function makeNode(): Promise<{
  readonly project: TestProject;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}> {
  const project = makeProject({ 'phasegate.config.json': '{}\n', 'agent_workflow.yaml': ERRAND });
  await phasegate(project, ['runs']);
  const folder = join(realpathSync(project.base), 'keys');
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, 'shared.json');
  copyFileSync(join(project.stateDir, 'keys.json'), file);
  chmodSync(file, 0o600);
  const env = { PHASEGATE_KEYS_FILE: file };
  expect((await phasegate(project, ['runs'], { env })).code).toBe(0);
  return { project, file, env };
}
