import { readFileSync } from 'node:fs';
import { decide, decideStart, defineWorkflow } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { cases, FULL } from '../tier.ts';
import { agree } from './agree.ts';
import { agreeInChild } from './agreeInChild.ts';
import { Coverage } from './coverage.ts';

const ENGINE = { decide, decideStart, defineWorkflow };
/** How many workflows, each with a command sequence of its own. */
const CASES = cases({ quick: 300, full: 100_000, long: 1_000_000 });
const TIMEOUT_MS = cases({ quick: 900_000, full: 900_000, long: 10_800_000 });
const CORE = new URL('../../packages/core/src/', import.meta.url);

describe('the engine and a second interpreter of the model', () => {
  // In processes of their own: plain Node is faster than a test runner's modules, and there are two cores.
  test(
    `agree on every verdict and every state of ${CASES} workflows`,
    async () => {
      const each = Math.ceil(CASES / 2);
      const halves = await Promise.all(
        [1, 2].map((half) => agreeInChild(CORE, { first: half * 2 ** 28, cases: each })),
      );

      for (const half of halves) expect(half).toEqual({ agreed: each, disagreement: null });
    },
    TIMEOUT_MS,
  );

  test.runIf(FULL)(
    'meet every command, refusal, state and way on the way, and a skipped phase still waits at its gate [adv.H4 adv.J10]',
    () => {
      const coverage = new Coverage();
      const { disagreement } = agree(ENGINE, {
        first: 1,
        cases: 20_000,
        hear: coverage.hear,
      });

      expect(disagreement).toBeNull();
      console.log(countsIn(coverage));
      const rare = EXPECTED.filter((name) => (coverage.counts.get(name) ?? 0) < 5);
      expect(rare).toEqual([]);
      const allowed = [...coverage.counts].filter(([name]) => name.endsWith(' allowed'));
      const refused = [...coverage.counts].filter(([name]) => name.endsWith(' refused'));
      const sum = (counts: readonly (readonly [string, number])[]) =>
        counts.reduce((total, [, count]) => total + count, 0);
      expect(sum(allowed) / (sum(allowed) + sum(refused))).toBeGreaterThan(0.5);
    },
  );

  test('share no code: the interpreter imports types only and stays small', () => {
    const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
    const sources = ['interpreter.ts', 'ways.ts', 'names.ts', 'state.ts', 'values.ts'].map(read);
    const imports = sources.flatMap((source) =>
      [...source.matchAll(/^(import[^;]*|.*\bimport\(.*)/gm)].map(([text]) => text),
    );
    const atRunTime = imports.filter((text) => !text.startsWith('import type'));

    expect(imports.length).toBeGreaterThan(3);
    for (const text of atRunTime) expect(text).toMatch(/from '\.\/(?:names|state|values|ways)\.ts'$/);
    expect(sources.join('\n')).not.toMatch(/\brequire\b|packages\/core/);
    expect((sources[0] as string).split('\n').length).toBeLessThan(300);
    // With what it stands on, so that it cannot grow by moving to another file. It was half of that before names had
    // owners, choices a meaning and items outcomes of their own, gates a way that somebody can go, and overrides.
    expect(sources.join('').match(/\n/g)?.length).toBeLessThan(1240);
  });
});

/** How often each kind of workflow, and each thing that became of a value, was met. */
function countsIn({ counts }: Coverage): string {
  const told = [...counts].filter(([name]) => NOTICED.includes(name) || name.startsWith('workflow with'));
  return told.map(([name, count]) => `${name}: ${count}`).join('\n');
}

const NOTICED = [
  'join reopened',
  'refusals that take turns',
  'attempts owed',
  'decision dropped on entering again',
  'empty phase left',
  'outcome rejected',
  'outcome overridden',
  'word beside the evidence',
  'let through',
  'approved',
  'context approved',
  'join of different outcomes',
  ...['ok', 'fail', 'iterate', 'skip', 'rejected'].map((outcome) => `join ${outcome}`),
];
const KINDS = [
  'complete',
  'fetch_task',
  'ask',
  'report_blocked',
  'decide',
  'answer',
  'resume',
  'stop',
  'override',
  'claim',
  'release',
];
const EXPECTED: readonly string[] = [
  ...KINDS.flatMap((kind) => [`${kind} allowed`, `${kind} refused`]),
  ...[
    'start allowed',
    'start refused',
    'report_failure refused',
    'expire allowed',
    'expire refused',
    'escalate refused',
  ],
  ...['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped'].map((status) => `status ${status}`),
  ...['attempts', 'refusals', 'iterations', 'blocked', 'gate_timed_out', 'code_changed', 'crashes'].map(
    (why) => `escalated ${why}`,
  ),
  ...['to', 'when', 'outcomes'].map((kind) => `route ${kind}`),
  ...['ok', 'fail', 'iterate', 'skip'].map((outcome) => `outcome ${outcome}`),
  ...['ok', 'iterate', 'skip'].map((outcome) => `gate opened by ${outcome}`),
  ...['the route', 'a stop', 'a phase of its own'].map((way) => `decided for ${way}`),
  ...NOTICED,
  ...[
    'a gate',
    'a gate with context',
    'written `approves`',
    'a loop',
    'a parallel phase',
    'a way for no items',
    'a handler',
    'a free result',
    'declared evidence',
    'a way for `fail`',
    'permissive mode',
  ].map((kind) => `workflow with ${kind}`),
  ...['voted', 'human held by a precondition', 'join left', 'join at a gate'],
  ...[
    'undeclared_evidence',
    'incomplete_checkpoint',
    'tasks_not_fetched',
    'check_failed',
    'precondition_failed',
  ].map((code) => `would ${code}`),
  ...[
    'phase_sequence_violation',
    'incomplete_checkpoint',
    'tasks_not_fetched',
    'check_failed',
    'check_errored',
    'check_timed_out',
    'evidence_class_too_low',
    'handler_failed',
    'work_failed',
    'precondition_failed',
    'condition_unanswerable',
    'outcome_not_allowed',
    'reason_required',
    'not_the_next_phase',
    'not_your_run',
    'run_not_queued',
    'item_held',
    'not_a_human',
    'not_an_agent',
    'not_an_approver',
    'run_waiting',
    'run_escalated',
    'run_not_active',
    'run_not_waiting',
    'run_not_escalated',
    'run_ended',
    'gate_unknown',
    'gate_timed_out',
    'option_unknown',
    'input_required',
    'shown_changed',
    'already_voted',
    'question_invalid',
    'question_unknown',
    'task_unknown',
    'item_unknown',
    'item_required',
    'item_done',
    'items_invalid',
    'undeclared_evidence',
    'context_unclear',
    'param_invalid',
    'escalated',
    'iterations_exhausted',
  ].map((code) => `code ${code}`),
];
