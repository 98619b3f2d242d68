import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { hookSettings } from '../../localHooks.ts';
import { hookProgramOf } from '../../settings/installSettings.ts';
import { sumOf, writeRecord } from '../../settings/settingsRecord.ts';
import { openHookBed } from './fixtures/hookBed.ts';

const HUMAN = { kind: 'human', name: 'operator' } as const;

/** A project whose settings of Claude Code are as `init` wrote them. */
function written() {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-settings-'));
  const [root, stateDir, home] = ['project', 'state', 'home'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  const program = hookProgramOf(stateDir, 'claude');
  const [settings, own] = [join(root, '.claude/settings.json'), join(home, '.claude/settings.json')];
  for (const file of [program, settings, own]) mkdirSync(dirname(file), { recursive: true });
  writeFileSync(program, 'exit 2\n');
  chmodSync(program, 0o500);
  writeFileSync(settings, '{}\n');
  writeRecord(stateDir, {
    phasegate: '0.0.1',
    mcp: { command: 'phasegate', args: [] },
    clients: ['claude'],
    files: [
      { client: 'claude', path: '.claude/settings.json', after: sumOf('{}\n'), before: null, made: [] },
    ],
    programs: { claude: sumOf('exit 2\n') },
  });
  const { lookAtSettings } = hookSettings({ root, stateDir, env: { HOME: home } }, async () => true);
  if (lookAtSettings === undefined) throw new Error('nobody looks');
  return { lookAtSettings, settings, own, record: join(stateDir, 'clients.json'), program };
}

test.each([
  ['the settings are gone', ({ settings }: Written) => rmSync(settings), '`.claude/settings.json` is gone'],
  ['the hook program is another', ({ program }: Written) => rmSync(program), 'its hook program'],
  [
    'the user’s own switch hooks off',
    ({ own }: Written) => writeFileSync(own, '{"disableAllHooks":true}'),
    'switches all hooks off',
  ],
  ['what init kept is gone', ({ record }: Written) => rmSync(record), 'what `phasegate init` kept of them'],
])('where %s while a session works, a human gets the run, once [adv.G1] [adv.G2]', async (_, spoil, told) => {
  const files = written();
  const bed = openHookBed({ settings: { lookAtSettings: files.lookAtSettings } });
  const run = await bed.start();
  expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
  spoil(files);
  expect(await bed.call('Write', bed.write('docs/b.md'))).toContain('the run is escalated');
  const { escalation } = await bed.project.look(run, HUMAN);
  expect(escalation).toMatchObject({ reason: 'unjudged_calls', message: expect.stringContaining(told) });
  await bed.project.as(HUMAN).submit(run, { kind: 'resume', note: 'seen' });
  expect(await bed.call('Write', bed.write('docs/c.md'))).toBe('allowed');
});

test('settings that were spoilt before a session came park its run; oddities of the user’s own do not', async () => {
  const files = written();
  writeFileSync(files.own, '{"hooks":{"Stop":[{"hooks":[{"type":"new"}]}]}}');
  const bed = openHookBed({ settings: { lookAtSettings: files.lookAtSettings } });
  const run = await bed.start();
  expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
  rmSync(files.settings);
  const other = openHookBed({ settings: { lookAtSettings: files.lookAtSettings } });
  await other.start();
  await other.event('SessionStart', { source: 'startup' });
  expect(await other.call('Write', other.write('docs/a.md'))).toContain('the run is escalated');
  expect(await bed.project.look(run, HUMAN)).toMatchObject({ status: 'active' });
});

type Written = ReturnType<typeof written>;

test('the settings of opencode are watched in sessions of its subagents, too', async () => {
  const ours: string[] = [];
  const bed = openHookBed({ settings: { lookAtSettings: async () => ({ ours: [...ours], others: [] }) } });
  const run = await bed.start();
  const call = (sessionID: string, callID: string, more = {}) => {
    const args = { filePath: `${bed.root}/docs/a.md`, content: '' };
    const tool = { hook_event_name: 'tool.execute.before', tool: 'write', callID, args };
    return bed.raw('opencode', { sessionID, cwd: bed.root, ...tool, ...more });
  };
  await call('ses_1', 'c1');
  await call('ses_2', 'c2', { parentID: 'ses_1' });
  expect(await bed.project.look(run, HUMAN)).toMatchObject({ status: 'active' });
  ours.push('the plugin is gone');
  await call('ses_2', 'c3', { parentID: 'ses_1' });
  expect((await bed.project.look(run, HUMAN)).escalation?.message).toContain('the plugin is gone');
});
