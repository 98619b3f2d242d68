import type { Blocker, NextAction, Run } from '@phasegate/core';
import { type Dialect, encodeToolVerdict } from '@phasegate/wire';
import { expect, test } from 'vitest';
import { waitsFor } from '../packages/phasegate/src/runtime/fence/workspaceHolder.ts';
import { restoredMessage } from '../packages/phasegate/src/runtime/guard/guard.ts';
import { judgeProtected } from '../packages/phasegate/src/runtime/judgeProtected.ts';
import { createRepeatedDenials, SAME_DENIALS } from '../packages/phasegate/src/runtime/repeatedDenials.ts';
import { SHELL } from '../packages/phasegate/src/surfaces/cli/spell.ts';
import { denialText } from '../packages/phasegate/src/surfaces/hooks/texts.ts';
import { MCP } from '../packages/phasegate/src/surfaces/mcp/spell.ts';
import { HTTP } from '../packages/phasegate/src/surfaces/rest/routes/spell.ts';
import { denialFaults } from './denialFaults.ts';

const LONG = Array.from({ length: 100 }, (_, index) => `a/folder/with/a/name/file-${index}.json`);

test.each([
  ['the shell', SHELL],
  ['MCP', MCP],
  ['HTTP', HTTP.agent],
])(
  'a denial says in the words of %s what, why with its line, what next and how to ask a human',
  (_, dialect) => {
    const told = toldBy(dialect);

    expect(
      denialFaults({ message: told.reason ?? '', next: told.next_action ?? '', ...partsOf(told) }),
    ).toEqual([]);
    expect(told).toMatchObject({ rule: 'writes', rule_at: 'agent_workflow.yaml:14' });
    expect(told.ask).toMatch(/blocked/);
  },
);

test('what other rooms than the engine refuse, and what they say beside it, is held to the same [adv.G7 adv.L11]', async () => {
  const next = 'use what the phase allows';
  const isProtected = () => Promise.resolve(() => true);
  const use = { tool: 'write_files', input: { path: 'data.db' } };
  const run = { status: 'active' } as Run;
  const kept = await judgeProtected({ protection: isProtected }, ALL_ALLOWED, use);
  const denials = createRepeatedDenials();
  const heard = LONG.slice(0, SAME_DENIALS).map(() =>
    denials.heard({ ...run, id: 'r', epoch: 1 } as Run, use, no()),
  );
  const texts = [
    kept.allowed ? '' : kept.blockers[0].message,
    heard.at(-1) ?? '',
    restoredMessage(LONG),
    waitsFor({ run: 'r', workflow: 'w', status: 'active' } as Parameters<typeof waitsFor>[0]),
    // What a sandbox does not hold, as `not_held` has it beside a result.
    'new names in `docs`, names beyond the first 256 outside it',
  ];

  expect(texts.flatMap((message) => denialFaults({ message, next }))).toEqual([]);
});

test("a hook's denial is held to the same, and names the rule with its line", () => {
  const [blocker] = no().blockers;
  const message = denialText({ kind: 'deny', blocker, run: '01JRUN' } as Parameters<typeof denialText>[0]);

  expect(denialFaults({ message, next: 'in the same line' })).toEqual([]);
  expect(message).toContain('rule writes at agent_workflow.yaml:14');
});

test('the linter finds what it is there for', () => {
  const fine = { message: 'the phase may not write this', next: 'write elsewhere' };

  expect(denialFaults(fine)).toEqual([]);
  for (const wrong of [
    { ...fine, next: 'use sudo to write it' },
    { ...fine, message: `${fine.message}, run it with --no-verify` },
    { ...fine, message: `\u2713 ${fine.message}` },
    { ...fine, next: '' },
    { ...fine, message: fine.message.repeat(50) },
  ])
    expect(denialFaults(wrong)).toHaveLength(1);
});

const ALL_ALLOWED = {
  id: 'r',
  status: 'active',
  phase: 'A',
  workflow: {
    phases: [
      {
        id: 'A',
        tools: { allowed: ['write_files'], forbidden: [], constraints: {} },
        writes: ['**'],
        tasks: [],
      },
    ],
  },
} as unknown as Run;

function no() {
  const nextAction: NextAction = { act: 'use_allowed_tool', text: 'use what phase `A` allows: read_files' };
  const message = 'phase `A` may not write `src/a.ts`; it may write docs/**';
  const rule = { name: 'writes', phase: 'A', at: 'agent_workflow.yaml:14' };
  const found: Blocker = { code: 'outside_write_scope', message, nextAction, rule };
  return { allowed: false, blockers: [found] } as const;
}

function toldBy(dialect: Dialect) {
  return encodeToolVerdict(no(), '01JRUN', dialect);
}

function partsOf({ rule, rule_at, ask }: ReturnType<typeof toldBy>) {
  return { rule: `${rule}, ${rule_at}`, ask: ask ?? '' };
}
