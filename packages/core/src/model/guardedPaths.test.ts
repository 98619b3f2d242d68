import { expect, test } from 'vitest';
import { guardOf, isGuardedFolder } from './guardedPaths.ts';

// An expression that went back and tried again would take minutes over each.
const LONG = 1_000_000;

test.each([
  ['dots', `${'.'.repeat(LONG)}x`],
  ['dots and blanks', `a${'. '.repeat(LONG / 2)}x/y`],
  ['colons', `${':'.repeat(LONG)}\nx`],
  ['dots of another width', `${'．'.repeat(LONG)}x`],
])('a path that somebody made long is judged in time that grows with it alone: %s [adv.O3]', (_, path) => {
  expect(guardOf(path)).toBeNull();
  expect(isGuardedFolder(path)).toBe(false);
});

test.each([
  'phasegate.config.yaml',
  'phasegate.config.yaml. .',
  'Phasegate.Config.yaml::$DATA',
  'phasegate.config.yaml:x\ny',
])('a guarded file is known by every name that leads to it: %j', (path) => {
  expect(guardOf(path)).not.toBeNull();
});

test('what makes a workflow of folders is guarded in every folder, and nothing else there [adv.Q3]', () => {
  for (const path of ['docs/n/workflows/x/metadata.json', 'docs/n/Workflows/x/phases/1/phase.md'])
    expect(guardOf(path), path).toBe('named');
  expect(guardOf('src/workflows/order.ts')).toBeNull();
});

test.each([
  '.github/copilot/settings.json',
  '.github/mcp.json',
  '.github/agents/x.md',
  '.gemini/.env',
  '.gemini/extensions/x/gemini-extension.json',
  '.gemini/policies/x.toml',
  '.agents/skills/x/SKILL.md',
  '.claude/plugins/x/hooks.json',
])('what a client of an agent is led by is guarded: %s [adv.C3]', (path) => {
  expect(guardOf(path)).toBe('own');
  expect(guardOf(`docs/${path}`)).toBe('named');
  expect(guardOf('.github/workflows/ci.yaml')).toBeNull();
});
