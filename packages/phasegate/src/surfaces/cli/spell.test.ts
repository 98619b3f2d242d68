import type { NextAction } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { spellAction } from '@phasegate/wire';
import { expect, test } from 'vitest';
import { SHELL } from './spell.ts';

test.each<[string, NextAction, string]>([
  [
    'completing a phase',
    { act: 'complete_phase', phase: 'PLAN', text: 'complete it' },
    'phasegate done r1 --phase PLAN --evidence -',
  ],
  [
    'completing phase 0 [C2]',
    { act: 'complete_phase', phase: 0, text: 'complete it' },
    'phasegate done r1 --phase 0 --evidence -',
  ],
  [
    'a phase whose name has blanks and quotes',
    { act: 'complete_phase', phase: "Bob's plan", text: 'complete it' },
    "phasegate done r1 --phase 'Bob'\\''s plan' --evidence -",
  ],
  [
    'a phase whose name begins with a dash',
    { act: 'complete_phase', phase: '-x', text: 'complete it' },
    'phasegate done r1 --phase=-x --evidence -',
  ],
  ['fetching a task', { act: 'get_task', phase: 0, task: 2, text: 'fetch it' }, 'phasegate task r1 0 2'],
  [
    'waiting for a human',
    { act: 'wait_for_human', text: 'wait: a human decides' },
    'wait: a human decides; look again with `phasegate status r1`',
  ],
  [
    'nothing left to do',
    { act: 'none', text: 'nothing: the run is completed' },
    'nothing: the run is completed',
  ],
])('%s is spelled as a shell reads it', (_, action, spelled) => {
  expect(spellAction(action, { run: 'r1' }, SHELL)).toBe(spelled);
});

test('a word that could mean something to a shell is quoted', () => {
  expect(shellWord('Send back')).toBe("'Send back'");
  expect(shellWord('$(rm -rf .)')).toBe("'$(rm -rf .)'");
  expect(shellWord('')).toBe("''");
  expect(shellWord('src/a-b.ts')).toBe('src/a-b.ts');
});
