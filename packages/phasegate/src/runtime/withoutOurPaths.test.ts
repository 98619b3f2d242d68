import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeOf, working } from './fixtures/workingRun.ts';
import { withoutOurPaths } from './withoutOurPaths.ts';

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
  const place = join(homedir(), '.local/state/phasegate/p/state.db');
  project.toolbox.register({
    name: 'mcp:own/break',
    description: 'breaks',
    input: { type: 'object' },
    run: () => Promise.reject(new Error(`EACCES: permission denied, open '${place}'`)),
  });

  const [done] = await execute([{ tool: 'mcp:own/break', input: {} }]);

  expect(done === undefined ? null : codeOf(done)).toBe('allowed');
  expect(JSON.stringify(done?.result)).toContain('permission denied');
  expect(JSON.stringify(done?.result)).not.toContain('state.db');
});
