import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const ITEMS =
  'name: Small\nphases:\n  - { id: A, name: A, items: [{ id: a, name: a, step_type: required }] }\n';

test('import says where each key went and writes the workflow once; `--to` and `--force` say otherwise', async () => {
  const shell = makeShell({ 'old.yaml': ITEMS });
  const first = await shell.call(['import', 'old.yaml']);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain('written workflows/small.workflow.yaml');
  expect(first.stdout).toContain('next: phasegate check small');
  const file = join(shell.root, 'workflows/small.workflow.yaml');
  const text = readFileSync(file, 'utf8');

  shell.write('workflows/small.workflow.yaml', 'mine');
  const second = await shell.call(['import', 'old.yaml']);
  expect(second).toMatchObject({ code: 2 });
  expect(second.stderr).toContain('is there already');
  expect(second.stderr).toContain('`--to`');
  expect(readFileSync(file, 'utf8')).toBe('mine');

  expect(await shell.call(['import', 'old.yaml', '--force'])).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe(text);
  const to = join(shell.root, 'elsewhere/other.workflow.yaml');
  expect(await shell.call(['import', 'old.yaml', '--to', to])).toMatchObject({ code: 0 });
  expect(readFileSync(to, 'utf8')).toBe(text);
});

test('what is not known, ambiguous, broken or not there is said with the next step, and nothing is written', async () => {
  const shell = makeShell({
    'old.yaml': ITEMS,
    'strange.yaml': 'jobs: {}\n',
    'both.yaml': 'phases:\n  - { id: A, items: [], allowed_tools: [bash] }\n',
    'broken.yaml': 'phases: [\n',
    'twice.yaml': 'phases:\n  - { id: A, items: [] }\n  - { id: A, items: [] }\n',
    'loose.yaml': 'phases: [{ id: A, required_artifacts: [{ type: plan, schema: gone.json }] }]\n',
    'list.yaml': '- a\n',
    'ours.yaml': 'workflow: mine\nphases: { A: {} }\n',
    'map.yaml': 'phases:\n  - { id: A, allowed_tools: [bash], gates: { ok: { type: approval } } }\n',
    'word.yaml': 'phases:\n  - { id: A, items: [{ id: a, verification: manual_gate }] }\n',
    'same.yaml': 'phases:\n  - { id: A, items: [{ id: a, name: a }, { id: a, name: b }] }\n',
    'picture.png': '\u0000',
  });
  mkdirSync(join(shell.root, 'empty'));
  const failing = async (words: readonly string[], ...texts: readonly string[]) => {
    const { code, stderr } = await shell.call(['import', ...words]);
    expect([words, code]).toEqual([words, 2]);
    for (const text of texts) expect(stderr).toContain(text);
  };

  await failing(['strange.yaml'], 'looked for', '`items`', '--from KIND', 'phasegate init --template list');
  await failing(['list.yaml'], 'looked for');
  await failing(['ours.yaml'], 'a contract of ours already', 'phasegate validate');
  await failing(['empty'], 'looked for');
  await failing(['picture.png'], 'looked for');
  await failing(
    ['both.yaml'],
    'orchestrator-items and like orchestrator-contract',
    '--from orchestrator-items',
  );
  await failing(['broken.yaml'], 'broken.yaml:', 'not YAML');
  await failing(['twice.yaml'], 'twice.yaml:3:', 'defined twice');
  await failing(['loose.yaml'], 'loose.yaml:1:', '`gone.json`');
  await failing(['gone.yaml'], 'does not exist');
  await failing(['map.yaml'], 'map.yaml:2:', '`gates` is not a list');
  await failing(['word.yaml'], 'word.yaml:2:', '`verification` is not a map');
  await failing(['same.yaml'], 'same.yaml:2:', 'item `a` is defined twice');
  await failing(['old.yaml', '--from', 'orchestrator-item'], 'did you mean', 'formats:');
  expect(existsSync(join(shell.root, 'workflows'))).toBe(false);
});

test('nothing of the source is run, and the state of a project is not made', async () => {
  const gates = 'workflow: { name: Act, phases: [{ id: a, gates: [{ type: command, cmd: touch here }] }] }\n';
  const shell = makeShell({ 'act.yaml': gates });
  expect(await shell.call(['import', 'act.yaml'])).toMatchObject({ code: 0 });
  expect(existsSync(join(shell.root, 'here'))).toBe(false);
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
});

test('a limit on a tool that cannot be kept as it is takes the tool away', async () => {
  const shell = makeShell({
    'old.yaml': [
      'name: Tools',
      'phases:',
      '  - id: A',
      '    allowed_tools: [read_files, write_files, bash, teleport]',
      '    forbidden_tools: write_files',
      '    tool_constraints:',
      '      bash: { allowed_commands: ["npm run test*"] }',
      '      read_files: { max_bytes: 10 }',
      '',
    ].join('\n'),
  });
  expect(await shell.call(['import', 'old.yaml'])).toMatchObject({ code: 0 });
  const text = readFileSync(join(shell.root, 'workflows/tools.workflow.yaml'), 'utf8');
  expect(text).not.toMatch(/allowed_tools|writes/);
});

test('an item that says nothing about skipping could be skipped there, so a human looks, and the report says so', async () => {
  const shell = makeShell({ 'old.yaml': 'name: N\nphases: [{ id: A, items: [{ id: a, name: a }] }]\n' });
  expect((await shell.call(['import', 'old.yaml', '--json'])).json()).toMatchObject({
    human_gates: ['A'],
    human: [{ key: 'phases[A].items[a].id', text: expect.stringContaining('a human looks') }],
  });
});
