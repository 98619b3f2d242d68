import type { Run, RunEvent } from '@phasegate/core/engine';
import { eventOfRecord, type RecordedEvent, secondsBetween } from '@phasegate/core/engine';
import { leadsBack, type Phase, type PhaseId, phaseById } from '@phasegate/core/model';
import type { AttemptMinutes, RecordedPhase, RecordedRates } from './rates.ts';

/** A run with the records of its chain, oldest first. */
export interface RecordedWalk {
  readonly run: Run;
  readonly records: readonly RecordedEvent[];
}

/** Pass rates, times and shares as recorded runs had them. */
export function ratesFrom(walks: Iterable<RecordedWalk>): RecordedRates {
  const counter = new RateCounter();
  for (const walk of walks) counter.add(walk);
  return counter.rates();
}

/** Counts recorded runs one at a time, as they may be many. */
export class RateCounter {
  readonly #phases = new Map<string, PhaseCounts>();
  #runs = 0;

  add({ run, records }: RecordedWalk): void {
    this.#runs++;
    const walk = new Walk(run, (id) => this.#countsOf(id));
    for (const record of records) {
      const event = eventOfRecord(record);
      if (event !== null) walk.follow(event);
    }
  }

  rates(): RecordedRates {
    return { runs: this.#runs, phases: Object.fromEntries(this.#phases) };
  }

  #countsOf(id: PhaseId): PhaseCounts {
    const known = this.#phases.get(String(id));
    if (known !== undefined) return known;
    const made: PhaseCounts = {
      attempts: [
        { passed: 0, n: 0 },
        { passed: 0, n: 0 },
      ],
      minutes: [],
      blocked: 0,
      items: [],
      outcomes: {},
      condition: { yes: 0, no: 0 },
      // Labels are the author's words: none of them may be a word of JavaScript's own.
      options: Object.create(null) as Record<string, number>,
      undecided: 0,
      decideMinutes: [],
      escalations: { n: 0, resumed: 0, stopped: 0 },
      resumeMinutes: [],
    };
    this.#phases.set(String(id), made);
    return made;
  }
}

/** The same as a recorded phase, while it is counted. */
type PhaseCounts = { -readonly [Key in keyof RecordedPhase]: Writable<RecordedPhase[Key]> };
type Writable<T> = T extends readonly (infer E)[]
  ? T extends readonly [infer A, infer B]
    ? [Writable<A>, Writable<B>]
    : E[]
  : T extends object
    ? { -readonly [Key in keyof T]: T[Key] }
    : T;

/** Follows one run through its records. */
class Walk {
  readonly #run: Run;
  readonly #countsOf: (id: PhaseId) => PhaseCounts;
  #phase: PhaseId | null = null;
  #parallel = false;
  #attempt = 0;
  /** Attempts of each item of a parallel phase, and since when another agent works on it. */
  #items = new Map<string, { attempt: number; since: string | null }>();
  /** Since when someone is at work; null while nobody is. */
  #since: string | null = null;
  #spent: AttemptMinutes = { work: 0, asked: 0 };
  #askedAt: string | null = null;
  #gate: { readonly since: string; option: string | null } | null = null;
  #escalatedAt: string | null = null;

  constructor(run: Run, countsOf: (id: PhaseId) => PhaseCounts) {
    this.#run = run;
    this.#countsOf = countsOf;
  }

  follow(event: RunEvent): void {
    if (event.type === 'run_started') {
      this.#enter(event.phase, event, event.queued);
      return;
    }
    if (this.#phase === null) return;
    const counts = this.#countsOf(this.#phase);
    switch (event.type) {
      case 'run_claimed':
        this.#since ??= event.at;
        return;
      case 'run_released':
        this.#pause(event.at);
        return;
      case 'item_claimed':
        this.#item(event.item).since = event.at;
        return;
      case 'phase_refused':
        if (event.counted) this.#judged(event.item, false, event.at);
        return;
      case 'item_completed':
        this.#judged(event.item, true, event.at);
        return;
      case 'gate_opened':
        this.#passed(event.at);
        countIn(counts.outcomes, event.wait.outcome);
        this.#gate = { since: event.at, option: null };
        return;
      case 'gate_decided':
        if (!event.final || this.#gate === null) return;
        countIn(counts.options, event.decision.option);
        counts.decideMinutes.push(minutesBetween(this.#gate.since, event.at));
        this.#gate.option = event.decision.option;
        return;
      case 'gate_timed_out':
        counts.undecided++;
        this.#gate = null;
        return;
      case 'gate_closed':
        this.#gate = null;
        this.#since = event.at;
        return;
      case 'phase_completed':
        this.#leave(event, counts);
        return;
      case 'question_asked':
        this.#pause(event.at);
        this.#askedAt = event.at;
        return;
      case 'question_answered':
        if (!event.final || this.#askedAt === null) return;
        this.#spent = { ...this.#spent, asked: this.#spent.asked + minutesBetween(this.#askedAt, event.at) };
        this.#askedAt = null;
        this.#since = event.at;
        return;
      case 'run_escalated':
        this.#escalate(event, counts);
        return;
      case 'run_resumed':
        if (this.#escalatedAt === null) return;
        counts.escalations.resumed++;
        counts.resumeMinutes.push(minutesBetween(this.#escalatedAt, event.at));
        this.#escalatedAt = null;
        this.#attempt = 0;
        this.#items.clear();
        this.#since = event.at;
        return;
      case 'run_stopped':
        if (this.#escalatedAt !== null) {
          counts.escalations.stopped++;
          counts.resumeMinutes.push(minutesBetween(this.#escalatedAt, event.at));
        }
        this.#phase = null;
        return;
    }
  }

  #enter(
    phase: PhaseId,
    { at, items }: { readonly at: string; readonly items: object | null },
    queued = false,
  ): void {
    this.#phase = phase;
    this.#parallel = items !== null;
    this.#attempt = 0;
    this.#items.clear();
    this.#since = queued ? null : at;
    this.#spent = { work: 0, asked: 0 };
    this.#gate = null;
    if (items !== null) this.#countsOf(phase).items.push(Object.keys(items).length);
  }

  #leave(event: Extract<RunEvent, { type: 'phase_completed' }>, counts: PhaseCounts): void {
    if (this.#gate === null) {
      this.#passed(event.at);
      countIn(counts.outcomes, event.outcome);
    }
    const phase = phaseById(this.#run.workflow, event.phase);
    const option = phase?.humanGate?.options.find(({ label }) => label === this.#gate?.option);
    // A human who names a phase has gone by the condition.
    if (phase?.next.kind === 'when' && option?.next === undefined) {
      const { onTrue, onFalse } = phase.next;
      if (onTrue !== onFalse && event.next === onTrue) counts.condition.yes++;
      else if (onTrue !== onFalse && event.next === onFalse) counts.condition.no++;
    }
    if (event.next === null) this.#phase = null;
    else this.#enter(event.next, event);
  }

  #escalate(event: Extract<RunEvent, { type: 'run_escalated' }>, counts: PhaseCounts): void {
    const { reason } = event.escalation;
    if (reason === 'iterations') {
      if (this.#gate === null) this.#passed(event.at);
      this.#countWayBack(counts);
    } else if (reason !== 'attempts' && reason !== 'gate_timed_out') {
      counts.blocked++;
      this.#sample(event.at, counts);
    }
    this.#gate = null;
    this.#since = null;
    this.#spent = { work: 0, asked: 0 };
    counts.escalations.n++;
    this.#escalatedAt = event.at;
  }

  /** An exhausted loop was about to go back once more. */
  #countWayBack(counts: PhaseCounts): void {
    const phase = phaseById(this.#run.workflow, this.#phase);
    if (phase?.next.kind !== 'when') return;
    const back = (target: Phase['id'] | null) => leadsBack(this.#run.workflow, phase.id, target);
    const [yes, no] = [back(phase.next.onTrue), back(phase.next.onFalse)];
    if (yes && !no) counts.condition.yes++;
    if (no && !yes) counts.condition.no++;
  }

  /** The phase as a whole passed; where it has items only a join that failed before is an attempt of its own. */
  #passed(at: string): void {
    if (this.#parallel && this.#attempt === 0) return;
    this.#judged(null, true, at);
  }

  #judged(item: string | null, passed: boolean, at: string): void {
    if (this.#phase === null) return;
    const counts = this.#countsOf(this.#phase);
    const open = item === null ? null : this.#item(item);
    const attempt = open === null ? this.#attempt++ : open.attempt++;
    const counted = counts.attempts[attempt === 0 ? 0 : 1];
    counted.n++;
    if (passed) counted.passed++;
    if (open === null || open.since === null) {
      this.#sample(at, counts);
      return;
    }
    counts.minutes.push({ work: minutesBetween(open.since, at), asked: 0 });
    open.since = at;
  }

  #sample(at: string, counts: PhaseCounts): void {
    this.#pause(at);
    counts.minutes.push(this.#spent);
    this.#spent = { work: 0, asked: 0 };
    this.#since = at;
  }

  #pause(at: string): void {
    if (this.#since === null) return;
    this.#spent = { ...this.#spent, work: this.#spent.work + minutesBetween(this.#since, at) };
    this.#since = null;
  }

  #item(key: string): { attempt: number; since: string | null } {
    const known = this.#items.get(key) ?? { attempt: 0, since: null };
    this.#items.set(key, known);
    return known;
  }
}

function countIn(counts: Record<string, number | undefined>, name: string): void {
  counts[name] = (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + 1;
}

function minutesBetween(from: string, to: string): number {
  return Math.max(0, secondsBetween(from, to) / 60);
}
