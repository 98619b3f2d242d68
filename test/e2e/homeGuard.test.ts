import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject, withListed } from './cli.ts';

const PASSPHRASE = 'correct horse battery';
const SETTINGS = '{"hooks":{"PreToolUse":[{"command":"phasegate hook"}]}}';
const WORKFLOW = `
workflow: lab
phases:
  ANY: { writes: ["**"], gate: { human: { prompt: Good?, options: [{ label: Yes }] } } }
`;

test.each([
  ['a hook is deleted', '.claude/settings.json', '{}'],
  ['a switch is set', '.claude/settings.json', SETTINGS.replace('{', '{"env":{"GUARD_OFF":"1"},')],
  ['a hook is planted', '.gitconfig', '[core]\n\thooksPath = /tmp/hooks\n'],
])(
  'in the home folder %s: the phase is refused until a human accepts it [adv.G1 adv.G2 adv.G6]',
  async (_, file, text) => {
    const project = makeProject({ 'agent_workflow.yaml': WORKFLOW });
    put(project, '.claude/settings.json', SETTINGS);
    await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE });
    await phasegate(project, ['trust', 'lab', '--yes'], { passphrase: PASSPHRASE });
    const run = await begun(project);

    put(project, file, text);
    const refused = await done(project, run);
    const status = (await phasegate(project, ['status', run, '--json'])).json;
    const act = async (words: readonly string[]) =>
      phasegate(project, await withListed(project, ['fence', run, ...words, '--json']), {
        passphrase: PASSPHRASE,
      });
    const offered = (await phasegate(project, ['fence', run])).stdout;
    const restored = await act(['restore', `~/${file}`]);
    const accepted = await act(['accept', `~/${file}`, '--reason', 'I did that']);
    const passed = await done(project, run);

    expect(refused).toMatchObject({ error: 'scope_violation' });
    expect(status.violations).toMatchObject([{ path: `~/${file}` }]);
    expect(offered).toContain('settle it with accept, or put it right by hand');
    expect(offered).not.toMatch(/restore|quarantine|--diff/);
    expect(restored.json).toMatchObject({ error: 'fence_failed' });
    expect(accepted.json).toMatchObject({ settled: true, paths: [{ path: `~/${file}`, what: 'accepted' }] });
    expect(passed).toMatchObject({ checkpoint_passed: true, status: 'waiting' });
    const card = await phasegate(project, ['status', run, '--json', '--as', 'maria'], {
      passphrase: PASSPHRASE,
    });
    expect(JSON.stringify(card.json.gate_card)).toContain(`~/${file}`);
  },
);

test('without a human it is told and on record, and refuses nothing', async () => {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW.replace(/, gate.*\} \}\]? \} \}/, ' }') });
  put(project, '.claude/settings.json', SETTINGS);
  const run = await begun(project);

  put(project, '.claude/settings.json', '{}');
  const listed = await phasegate(project, ['fence', run, '--json']);
  const passed = await done(project, run);
  const { stdout } = await phasegate(project, ['audit', 'export', '--run', run]);

  expect(listed.json).toMatchObject({ outside: [], noticed: [{ path: '~/.claude/settings.json' }] });
  expect(passed.error).toBe(undefined);
  expect(JSON.stringify(passed.warnings)).toContain('~/.claude/settings.json');
  expect(stdout).toContain('~/.claude/settings.json');
});

function put(project: TestProject, file: string, text: string): void {
  const path = join(String(project.env.HOME), file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function begun(project: TestProject): Promise<string> {
  const { json, stderr } = await phasegate(project, ['start', 'lab', '--json']);
  expect(stderr).toBe('');
  return String(json.run);
}

async function done(project: TestProject, run: string): Promise<JsonObject> {
  return (await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' })).json;
}
