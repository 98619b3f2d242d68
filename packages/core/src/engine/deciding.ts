import { refused } from './blockers.ts';
import type { Circumstance, Fact, Look } from './command.ts';
import type { RunEvent } from './events.ts';
import { itemOf } from './holding.ts';
import { filesIn, measuredIn, stateIn } from './measuredIn.ts';
import { repeatedRefusal } from './repeatedRefusal.ts';
import type { CheckResult, FilesChanged, Run, TreeChange } from './run.ts';
import type { Blocker, Verdict } from './verdict.ts';

/** What considering a command leads to: more to look at, or an answer. */
export type Considered =
  | { readonly looks: readonly Look[] }
  | {
      readonly verdict: Verdict;
      readonly events: readonly RunEvent[];
      /** The run after the events, where it was made to tell. */
      readonly after?: Run;
    };

/** The same refusal this many times running is handed to a human. */
const SAME_REFUSALS = 5;

/** So many refusals in one visit are, whatever they say: words of the agent's own make each look like another. */
const ALL_REFUSALS = 30;

/** Facts by look, so that what was not looked at is asked for once and never assumed. */
export class Asking {
  readonly missing: Look[] = [];
  readonly #circumstance: Circumstance;

  constructor(circumstance: Circumstance) {
    this.#circumstance = circumstance;
  }

  /** The measure of the workspace that was taken with this command, if any was. */
  tree(): { readonly tree?: string } {
    return measuredIn(this.#circumstance);
  }

  /** Hash of what the workspace holds, where it was asked. */
  state(): { readonly made?: string } {
    return stateIn(this.#circumstance);
  }

  /** What the fence found changed within the scope, where it was asked. */
  files(): { readonly files?: FilesChanged } {
    return filesIn(this.#circumstance);
  }

  /** What a check answered, if it was asked; nothing is noted as missing. */
  known(id: string): CheckResult | undefined {
    const facts = this.#circumstance.facts;
    const fact = Object.hasOwn(facts, id) ? facts[id] : undefined;
    return fact?.kind === 'check' ? fact.result : undefined;
  }

  /** The fact, or undefined and the look is noted as missing. */
  fact<K extends Fact['kind']>(look: Look & { readonly kind: K }): Extract<Fact, { kind: K }> | undefined {
    const facts = this.#circumstance.facts;
    const fact = Object.hasOwn(facts, look.id) ? facts[look.id] : undefined;
    if (fact?.kind === look.kind) return fact as Extract<Fact, { kind: K }>;
    if (!this.missing.some(({ id }) => id === look.id)) this.missing.push(look);
    return undefined;
  }
}

/** The answer of a check nobody looked at: an error, never a pass. */
export const NOT_LOOKED_AT: CheckResult = { status: 'errored', reason: 'nobody looked', class: 'claimed' };

/** A refusal that changes nothing but the audit: of someone who may not act here at all. */
export function turnAway(blockers: readonly Blocker[]): Considered {
  return { verdict: refused(blockers), events: [] };
}

/**
 * A refusal of the agent at work: counted, and handed to a human when the same one comes five times running. What
 * concerns an item counts there, and sets only that item aside.
 */
export function refuseWork(
  run: Run,
  now: string,
  refusal: {
    readonly blockers: readonly Blocker[];
    readonly counted: boolean;
    /** As the agent named it. */
    readonly item?: string | undefined;
    /** What was changed outside the scope, where that is the reason. */
    readonly outside?: readonly TreeChange[];
  },
): Considered {
  const { blockers, counted, outside = [] } = refusal;
  const item = openItem(run, refusal.item);
  const { count: same, all = 1 } = repeatedRefusal(run, blockers, item);
  const tooMany = counted ? null : tooManyRefusals(same, all);
  const refusing: RunEvent = {
    at: now,
    type: 'phase_refused',
    phase: run.phase as string | number,
    item: item ?? null,
    blockers,
    counted,
    ...(item === undefined ? {} : { ofItem: true as const }),
    ...(item === undefined || tooMany === null ? {} : { setAside: tooMany }),
    ...(outside.length === 0 ? {} : { outside }),
  };
  const attempts = counted && item === undefined ? run.work.attempts + 1 : 0;
  const events: RunEvent[] = [refusing];
  if (attempts >= 2) {
    events.push(escalation(now, 'attempts', `phase \`${run.phase}\` failed twice`, blockers));
  } else if (item === undefined && tooMany !== null) {
    events.push(escalation(now, 'refusals', tooMany, blockers));
  }
  return { verdict: refused(blockers), events };
}

/** The item that is worked on by that name, if there is one. */
function openItem(run: Run, key: string | undefined): string | undefined {
  return key !== undefined && itemOf(run, key)?.status === 'pending' ? key : undefined;
}

function tooManyRefusals(same: number, all: number): string | null {
  if (same >= SAME_REFUSALS) return `the same refusal came ${same} times running`;
  if (all < ALL_REFUSALS) return null;
  return `${all} submissions were refused in this visit, each for another reason`;
}

/** The event that hands a run to a human. */
export function escalation(
  now: string,
  reason: Extract<RunEvent, { type: 'run_escalated' }>['escalation']['reason'],
  message: string,
  blockers: readonly Blocker[],
): RunEvent {
  return { at: now, type: 'run_escalated', escalation: { reason, message, since: now, blockers } };
}
