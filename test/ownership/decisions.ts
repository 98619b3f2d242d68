import type { Decision, Facts, Json, JsonObject, Phase, Run } from '@phasegate/core';
import { anyFacts } from '../differential/commands.ts';
import { meaning } from '../differential/names.ts';
import { happen, standingOf } from './engineParts.ts';
import { phaseIn } from './namedKeys.ts';
import type { At } from './tryOwnership.ts';

/** Whichever item is completed first, the phase is left by the same way. */
export function itemsInAnyOrder({ parts, random, run, asked, count }: At): string | null {
  const open = Object.entries(run.work.items ?? {}).filter(([, { status }]) => status === 'pending');
  if (run.status !== 'active' || run.holder === null || open.length < 2 || !random.chance(0.5)) return null;
  if (open.some(([, { holder }]) => holder !== undefined)) return null;
  const by = { kind: 'agent', name: run.holder } as const;
  const { command } = asked;
  const evidence = command.kind === 'complete' && command.phase === run.phase ? command.evidence : {};
  const phase = phaseIn(run.workflow, run.phase) as Phase;
  const said = phase.next.kind === 'outcomes' ? Object.keys(phase.next.map) : [];
  const outcomes = SAYABLE.filter((one) => said.includes(one) && phase.work.kind !== 'handler');
  const facts = anyFacts(random, run.workflow, standingOf(run));
  const ways = open.map(([item]) => {
    const outcome = random.pick([undefined, ...outcomes]);
    const how = outcome === undefined ? {} : { outcome, reason: 'no luck' };
    const complete = { kind: 'complete', phase: phase.id, evidence, item, ...how } as const;
    const handled = anyFacts(random, run.workflow, standingOf(run))[`${phase.id}/handler`];
    return { complete, handled: handled === undefined ? {} : { [`${phase.id}/handler`]: handled } };
  });
  const walk = (order: typeof ways): Decision | null => {
    const told: Decision[] = [];
    for (const { complete, handled } of order) {
      const now = told.at(-1)?.run ?? run;
      if (told.some(({ verdict }) => !verdict.allowed)) return null;
      // Each item has a handler's answer of its own; all else is answered alike, no matter who is last.
      told.push(
        happen(parts, now, { ...asked, command: complete, by, facts: { ...passing(facts), ...handled } }),
      );
    }
    return told.at(-1) ?? null;
  };
  const [forth, back] = [walk(ways), walk([...ways].reverse())];
  if (forth === null || back === null) return null;
  count('items completed in both orders');
  const [one, other] = [routeOf(forth), routeOf(back)];
  return one === other ? null : `the order of items changed\n${one} to\n${other}`;
}

const SAYABLE = ['iterate', 'fail'] as const;

/** The work of every item is good; what stands behind the phase may be not. */
function passing(facts: Facts): Facts {
  return Object.fromEntries(
    Object.entries(facts).map(([id, fact]) => [id, id.startsWith('leave:') ? PASSED : fact]),
  );
}

/** What came of it, but for whose item was the last. */
function routeOf({ verdict, run }: Decision): string {
  const { status, phase, visits, iterations, state } = run;
  const outcome = run.completions.at(-1)?.outcome;
  const codes = verdict.allowed ? [] : verdict.blockers.map(({ code }) => code);
  return JSON.stringify([codes, status, phase, visits, iterations, state, outcome]);
}

/** A choice that does not approve leaves every name, approved value and state as it was. */
export function noStaysNo(
  { parts, run, asked: { command }, count }: At,
  { verdict, run: after }: Decision,
): string | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate' || command.kind !== 'decide' || !verdict.allowed)
    return null;
  const phase = phaseIn(run.workflow, run.phase) as Phase;
  const option = phase.humanGate?.options.find(({ label }) => label === command.option);
  if (option === undefined || meaning(run.workflow, phase, option) !== 'no') return null;
  if (after.status === 'waiting' && after.wait.for === 'gate' && after.wait.gate === run.wait.gate)
    return null;
  count('decisions that do not approve');
  // A phase without items that is entered next is completed at once, by right.
  if (after.completions.length > run.completions.length + 1) return null;
  const named = (one: Run) => {
    const { artifacts, approved, state } = parts.scopeFor(one, { phase });
    return parts.canonicalJson({ artifacts, approved, state } as Json);
  };
  return named(run) === named(after) ? null : `a no changed\n${named(run)} to\n${named(after)}`;
}

/** Two runs whose approval would merge something else have different cards. */
export function cardTells({ parts, random, run, asked, count }: At): string | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate' || !random.chance(0.4)) return null;
  const { wait } = run;
  const others = [
    () => ({ ...run, wait: { ...wait, evidence: { ...wait.evidence, flag: 'changed' } } }),
    () => ({ ...run, wait: { ...wait, state: { ...wait.state, k: 'changed' } } }),
    () => ({ ...run, wait: { ...wait, outcome: wait.outcome === 'ok' ? 'iterate' : 'ok' } }),
    () => ({ ...run, state: { ...run.state, extra: 'changed' } }),
    () => ({
      ...run,
      completions: run.completions.map((one) => ({
        ...one,
        evidence: { ...one.evidence, extra: 9, text: 'new' },
      })),
    }),
    // Beside what the context's path leads to, in the value that is approved as a whole.
    () => ({
      ...run,
      completions: run.completions.map((one) => {
        const { plan } = one.evidence;
        return isJsonObject(plan)
          ? { ...one, evidence: { ...one.evidence, plan: { ...plan, more: 1 } } }
          : one;
      }),
    }),
  ].map((change) => change() as Run);
  const one = merged(run);
  const card = parts.canonicalJson(parts.gateCard(run));
  for (const other of others) {
    const two = merged(other);
    if (one === '' || two === '' || one === two) continue;
    count('cards of runs that a yes would change in different ways');
    if (parts.canonicalJson(parts.gateCard(other)) === card) return `one card for\n${one} and\n${two}`;
  }
  return null;

  function merged(each: Run): string {
    const phase = phaseIn(each.workflow, each.phase) as Phase;
    // What an option with a target means may hang on a condition, which a card cannot answer before it is asked.
    const yes = phase.humanGate?.options.find((option) => {
      const means = meaning(each.workflow, phase, option);
      return means === 'yes' || (means === 'way' && option.next === undefined);
    });
    if (yes === undefined) return '';
    const facts = Object.fromEntries(
      Object.entries(asked.facts).map(([id, fact]) => [id, fact.kind === 'check' ? PASSED : fact]),
    );
    let after = each;
    for (const name of ['ada', 'bob']) {
      const command = {
        kind: 'decide',
        gate: wait.gate,
        option: yes.label,
        shown: 'card',
        signature: 's',
      } as const;
      const by = { kind: 'human', name } as const;
      const at = (Date.parse(wait.since) - Date.UTC(2026, 0, 1)) / 1000 + 1;
      const choice = { ...command, input: 'so' };
      after = happen(parts, after, { command: choice, by, at, shown: 'card', facts }).run;
    }
    const left = after.completions[each.completions.length];
    if (left === undefined) return '';
    const { outcome, evidence, approved = null } = left;
    // Of the state only what this visit sets: the rest was there before.
    const set = Object.keys({ ...wait.state, k: 0 }).map((key) => [key, after.state[key] ?? null]);
    return parts.canonicalJson({ outcome, evidence, approved, set } as Json);
  }
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const PASSED = { kind: 'check', result: { status: 'passed', reason: '', class: 'verified' } } as const;
