import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemoryProject, THROWING } from './fixtures/openMemoryProject.ts';
import { ADA, codeOf, working } from './fixtures/workingRun.ts';
import { withoutOurPaths } from './withoutOurPaths.ts';

const PLACE = join(homedir(), '.local/state/phasegate/p/state.db');

test.each([
  [join(homedir(), '.local/state/phasegate/p/keys.json'), 'a path of ours'],
  [join(tmpdir(), 'phasegate-x/y'), 'a path of ours'],
  [process.execPath, 'a path of ours'],
  [`file://${import.meta.filename}`, 'a path of ours'],
  ['/work space/project/src/a.ts', 'src/a.ts'],
  ['GET https://example.com/home/x', 'GET https://example.com/home/x'],
  ['/api/v1/runs', '/api/v1/runs'],
])('of `%s` an agent is told `%s`', (text, expected) => {
  expect(withoutOurPaths(`open '${text}' failed`, '/work space/project')).toBe(`open '${expected}' failed`);
});

test('a tool that breaks names no path of ours', async () => {
  const { project, execute } = await working({ allowedTools: ['mcp:own/*'] });
  project.toolbox.register({
    name: 'mcp:own/break',
    description: 'breaks',
    input: { type: 'object' },
    run: () => Promise.reject(new Error(`EACCES: permission denied, open '${PLACE}'`)),
  });

  const [done] = await execute([{ tool: 'mcp:own/break', input: {} }]);

  expect(done === undefined ? null : codeOf(done)).toBe('allowed');
  expect(JSON.stringify(done?.result)).toContain('permission denied');
  expect(JSON.stringify(done?.result)).not.toContain('state.db');
});

test.each([
  ['check', { check: 'throwing' }],
  ['function', { ref: 'steps/ONE/postconditions/done', label: 'done' }],
])('a %s that breaks names no path of ours', async (_, condition) => {
  const broken = `EACCES: permission denied, open '${PLACE}'`;
  const throwing = { ...THROWING, run: () => Promise.reject(new Error(broken)) };
  const phases = [{ id: 'ONE', postconditions: [{ ...condition, message: 'not done' }] }];
  const { project, answer } = openMemoryProject(
    { id: 'work', phases, code: 'c', module: 'w.ts' },
    { parts: { checks: async () => [throwing] } },
  );
  answer({ ok: false, kind: 'threw', reason: broken });
  const { view } = await project.as(ADA).start({ workflow: 'work' });

  const done = await project
    .as(ADA)
    .submit(view?.run ?? '', { kind: 'complete', phase: 'ONE', evidence: {} });

  expect(JSON.stringify(done.verdict)).toContain('permission denied');
  expect(JSON.stringify(done)).not.toContain('state.db');
});
