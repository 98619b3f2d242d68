import type { Decision, Json, JsonObject, Phase, Run } from '@phasegate/core';
import { anyAsked, anyFacts, anyStart } from '../differential/commands.ts';
import { kindsOf } from '../differential/coverage.ts';
import { KNOWN } from '../differential/drafts.ts';
import type { Asked } from '../differential/interpreter.ts';
import { declared } from '../differential/names.ts';
import { type Random, randomOf } from '../differential/random.ts';
import { chainDraft } from './chainDraft.ts';
import { cardTells, itemsInAnyOrder, noStaysNo } from './decisions.ts';
import { happen, type Parts, standingOf, storyOf } from './engineParts.ts';
import { isApprovedEverywhere, isNamed, phaseIn } from './namedKeys.ts';

/** Counts what was tried, by its name. */
export type Count = (name: string) => void;

/**
 * Walks a run of a generated workflow and tries, on the way, what must make no difference. Gives what made one, null
 * where nothing did, undefined where the workflow is not valid.
 */
export function tryOwnership(parts: Parts, seed: number, count: Count): string | null | undefined {
  const random = randomOf(seed);
  const defined = parts.defineWorkflow(chainDraft(random), KNOWN);
  if (!defined.ok) return undefined;
  const { workflow } = defined;
  for (const kind of kindsOf(workflow)) count(`workflow with ${kind}`);
  const { by, given, queued } = anyStart(random, workflow);
  const starting = {
    id: 'run',
    workflow,
    workflowHash: 'hash',
    target: null,
    ring: 'served',
    trusted: true,
  } as const;
  const facts = anyFacts(random, workflow, null);
  const now = '2026-01-01T00:00:00.000Z';
  let { run } = parts.decideStart({ ...starting, params: given, queued }, { principal: by, now, facts });
  let twin: Run | null = null;
  for (let step = 1; run !== null && run.phase !== null && step <= 12; step++) {
    const standing = standingOf(run);
    const made = anyAsked(random, standing, step * 10);
    const asked: Asked = { ...made, shown: 'card', facts: anyFacts(random, workflow, standing) };
    const at = { parts, random, run, asked, count };
    const found = undeclared(at) ?? itemsInAnyOrder(at) ?? cardTells(at);
    if (found !== null) return `seed ${seed}, step ${step}: ${found}`;
    const decision = happen(parts, run, asked);
    const other: Asked | null = twin === null ? varied(at) : asked;
    const instead: Decision | null = other === null ? null : happen(parts, twin ?? run, other);
    if (instead !== null && storyOf(instead) !== storyOf(decision))
      return `seed ${seed}, step ${step}: ${JSON.stringify(other?.command)} made\n${storyOf(instead)} of\n${storyOf(decision)}`;
    const merged = noStaysNo(at, decision);
    if (merged !== null) return `seed ${seed}, step ${step}: ${merged}`;
    run = decision.run;
    twin = instead?.run ?? null;
  }
  return null;
}

/** A command that is about to happen to a run. */
export interface At {
  readonly parts: Parts;
  readonly random: Random;
  readonly run: Run;
  readonly asked: Asked;
  readonly count: Count;
}

/** Refused before anything handed in is looked at. */
const EARLIER =
  /^(not_an_agent|run_not_active|not_your_run|run_waiting|run_escalated|run_ended|item_held|phase_sequence_violation)$/;

/** Keys that the phase does not declare are refused, or in permissive mode dropped, and nothing else changes. */
function undeclared({ parts, random, run, asked, count }: At): string | null {
  const { command } = asked;
  const phase = phaseIn(run.workflow, run.phase);
  if (command.kind !== 'complete' || phase === undefined || declared(phase).length === 0) return null;
  const known = [...declared(phase), 'notes', 'commands_executed'];
  const clean = Object.fromEntries(Object.entries(command.evidence).filter(([key]) => known.includes(key)));
  const extra = pick(
    random,
    Object.keys(VALUES).filter((key) => !known.includes(key)),
  );
  const without: Asked = { ...asked, command: { ...command, evidence: clean } };
  const dirty = { ...clean, ...Object.fromEntries(extra.map((key) => [key, VALUES[key] as Json])) };
  const expected = happen(parts, run, without);
  const decision = happen(parts, run, { ...asked, command: { ...command, evidence: dirty } });
  const json = (value: unknown) => parts.canonicalJson(value as Json);
  const codes = (verdict: typeof decision.verdict) =>
    verdict.allowed ? [] : verdict.blockers.map(({ code }) => code);
  if (codes(expected.verdict).some((code) => EARLIER.test(code))) {
    return json(decision.verdict) === json(expected.verdict)
      ? null
      : 'undeclared keys changed who may do this';
  }
  if (run.workflow.enforcement.mode === 'permissive') {
    count('undeclared keys dropped in permissive mode');
    const dropped = undeclaredIn(decision) - undeclaredIn(expected);
    // Where only the join is left nothing that is handed in is looked at.
    const isJoin = phase.parallel !== null && command.item === undefined;
    if (decision.verdict.allowed && !isJoin && dropped !== extra.length)
      return `${dropped} of ${extra} are in would_refuse`;
    const bare = (one: typeof decision) => {
      const { verdict, run: after } = one;
      return json([verdict.allowed, codes(verdict), withoutWould(after)]);
    };
    return bare(decision) === bare(expected) ? null : `${extra} made a difference in permissive mode`;
  }
  count('undeclared keys refused');
  const all = codes(decision.verdict);
  if (all.length !== extra.length || all.some((code) => code !== 'undeclared_evidence'))
    return `${extra} gave ${all}`;
  if (json(decision.run) !== json(run) || decision.events.length > 0)
    return `${extra} left a trace in the run`;
  const after = happen(parts, decision.run, without);
  const views = (one: Run) => [
    parts.viewFor(one, asked.by),
    parts.viewFor(one, { kind: 'human', name: 'ada' }),
  ];
  const whole = ({ verdict, run: one }: typeof after) => json([verdict, one, views(one)]);
  return whole(after) === whole(expected) ? null : `${extra} changed what the submission without them gets`;
}

function undeclaredIn({ verdict }: Decision): number {
  const would = verdict.allowed ? (verdict.wouldRefuse ?? []) : [];
  return would.filter(({ code }) => code === 'undeclared_evidence').length;
}

function withoutWould(run: Run): Json {
  return JSON.parse(JSON.stringify(run, (key, value) => (key === 'wouldRefuse' ? undefined : value)));
}

/** The same command with something else in it that nobody may read, or null where there is nothing to vary. */
function varied({ random, run, asked, count }: At): Asked | null {
  const { command } = asked;
  const phase = phaseIn(run.workflow, run.phase);
  if (command.kind !== 'complete' || phase === undefined || phase.id !== command.phase) return null;
  if (run.status !== 'active' || !random.chance(0.6)) return null;
  const evidence =
    command.outcome === 'fail' && phase.work.kind !== 'handler'
      ? { name: 'evidence of a visit that failed', of: failed(random, phase, command.evidence) }
      : declared(phase).length === 0
        ? {
            name: 'keys that nobody names in a free result',
            of: spare({ random, run }, phase, command.evidence),
          }
        : { name: 'values that nobody approved', of: unapproved({ random, run }, phase, command.evidence) };
  if (evidence.of === null) return null;
  count(evidence.name);
  return { ...asked, command: { ...command, evidence: evidence.of } };
}

function failed(random: Random, phase: Phase, evidence: JsonObject): JsonObject {
  const names = declared(phase).length > 0 ? declared(phase) : pick(random, Object.keys(VALUES));
  return { ...evidence, ...Object.fromEntries(names.map((name) => [name, VALUES[name] ?? 'other'])) };
}

function spare({ random, run }: Walking, phase: Phase, evidence: JsonObject): JsonObject | null {
  const unnamed = Object.keys(VALUES).filter(
    (key) => !(key in evidence) && !isNamed(run.workflow, phase, key),
  );
  const keys = pick(random, unnamed);
  return keys.length === 0
    ? null
    : { ...evidence, ...Object.fromEntries(keys.map((key) => [key, VALUES[key] as Json])) };
}

type Walking = Pick<At, 'random' | 'run'>;

function unapproved({ random, run }: Walking, phase: Phase, evidence: JsonObject): JsonObject | null {
  if (phase.humanGate !== null || run.workflow.enforcement.mode === 'permissive') return null;
  const names = declared(phase).filter(
    (name) =>
      OTHERS[name]?.includes(evidence[name] as never) &&
      isFree(phase, name) &&
      isApprovedEverywhere(run.workflow, phase, name),
  );
  if (names.length === 0) return null;
  const name = random.pick(names);
  const other = OTHERS[name]?.find((value) => value !== evidence[name]) as Json;
  return { ...evidence, [name]: other };
}

/** A boolean that must be true has no other value to be varied to. */
const isFree = ({ evidence }: Phase, field: string) =>
  !evidence.fields.some(({ name, rule }) => name === field && rule === 'is_true');

const OTHERS: Readonly<Record<string, readonly Json[]>> = {
  flag: [true, false],
  text: ['good', 'bad'],
  share: [0.5, 0.25],
};

/** Names of others, each with a value that would make a difference if it were read. */
const VALUES: Readonly<Record<string, Json>> = {
  flag: true,
  text: 'good',
  list: ['planted'],
  data: { parts: ['planted'] },
  plan: { parts: ['planted'] },
  share: 0.5,
  extra: 1,
  k: 1,
  areas: ['planted'],
  mode: 'quick',
  gateDecision: { gate: 'ship', option: 'yes' },
  decisions: { ship: { option: 'yes' } },
  results: { PLAN: { flag: true, extra: 1 } },
  spare: 'nothing',
};

function pick(random: Random, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  return [...new Set([random.pick(keys), random.pick(keys), random.pick(keys)])];
}
