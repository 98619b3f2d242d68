import type { Decision, Escalation, Run } from '@phasegate/core/engine';
import { type PhaseId, phaseById } from '@phasegate/core/model';
import { EventQueue } from './eventQueue.ts';
import { attempt, choose, expire, intervene, type Playing } from './play.ts';
import { byShare, oneOf, type Random, seededRandom } from './random.ts';
import type { SettledPhase } from './rates.ts';
import type { StuckWhy } from './simulation.ts';
import type { Starts } from './startsOf.ts';
import type { Tally } from './tally.ts';

/** What a floor is made from. */
export interface FloorPlan {
  readonly runs: number;
  readonly agents: number;
  readonly steps: number;
  readonly seed: string;
  readonly starts: Starts;
  readonly tally: Tally;
  readonly rates: ReadonlyMap<string, SettledPhase>;
  progress?(ended: number): void;
}

/** A simulated run, and where it stands. */
interface Walk {
  run: Run;
  readonly random: Random;
  steps: number;
  /** Raised whenever a phase is left or the run waits: what was begun before counts for nothing. */
  stint: number;
  /** Items of the current phase that nobody works on yet. */
  open: string[];
}

type Happening = {
  readonly walk: Walk;
} /** An agent is done with its work on the run, or on one item of it. */ & (
  | { readonly what: 'worked'; readonly item: string | null; readonly stint: number }
  | { readonly what: 'acted'; act(): Decision }
);

/**
 * The agents, what they could work on, and the clock, in minutes. An agent stays with its run until that goes no further,
 * also while a human is waited for: a run that waits keeps its holder.
 */
export class Floor {
  readonly #plan: FloorPlan;
  readonly #tally: Tally;
  readonly #happenings = new EventQueue<Happening>();
  /** Runs with items that nobody works on yet; they come before new runs. */
  readonly #helpWanted: Walk[] = [];
  #free: number;
  #begun = 0;
  #now = 0;

  constructor(plan: FloorPlan) {
    this.#plan = plan;
    this.#tally = plan.tally;
    this.#free = plan.agents;
  }

  /** Simulates all of it, and says when the last thing happened. */
  work(): number {
    this.#handOut();
    for (let next = this.#happenings.take(); next !== undefined; next = this.#happenings.take()) {
      this.#now = next.at;
      this.#happen(next.event);
      this.#handOut();
    }
    return this.#now;
  }

  /** Gives free agents items to help with, and then new runs. */
  #handOut(): void {
    while (this.#free > 0) {
      const helped = this.#helpWanted.shift();
      if (helped === undefined) {
        if (this.#begun >= this.#plan.runs) return;
        this.#beginRun();
      } else if (helped.open.length > 0) {
        this.#free--;
        this.#goOn(helped, false);
      }
    }
  }

  #beginRun(): void {
    // Each run draws from numbers of its own, so that it goes the same way however many agents there are.
    const random = seededRandom(`${this.#plan.seed}/${this.#begun++}`);
    const walk: Walk = { run: this.#plan.starts.start(random), random, steps: 0, stint: 0, open: [] };
    this.#free--;
    this.#tally.started(walk, here(walk), this.#now);
    this.#goOn(walk, true);
  }

  #happen(event: Happening): void {
    const { walk } = event;
    if (event.what === 'acted') {
      this.#take(walk, event.act());
      if (walk.run.status === 'active' && !this.#givenUp(walk)) this.#goOn(walk, true);
      else if (walk.run.status !== 'active') this.#pause(walk);
    } else if (walk.stint === event.stint) {
      this.#submit(walk, event.item);
    } else {
      this.#free++;
    }
  }

  /** An agent with this run takes what there is to do in it. */
  #goOn(walk: Walk, fresh: boolean): void {
    const { items } = walk.run.work;
    if (items === null) {
      this.#begin(walk, null);
      return;
    }
    if (fresh) {
      walk.open = Object.entries(items).flatMap(([key, { status }]) => (status === 'pending' ? [key] : []));
      // The others may be worked on by anyone who is free.
      for (let other = 1; other < walk.open.length; other++) this.#helpWanted.push(walk);
    }
    const next = walk.open.shift();
    const joins = Object.values(items).every(({ status }) => status === 'completed');
    if (next !== undefined || joins) this.#begin(walk, next ?? null);
    else this.#free++;
  }

  #begin(walk: Walk, item: string | null): void {
    const { work, asked } = oneOf(this.#ratesOf(here(walk)).minutes, walk.random);
    this.#tally.spent(here(walk), 'work', work);
    this.#tally.spent(here(walk), 'questions', asked);
    this.#happenings.put(this.#now + work + asked, { what: 'worked', walk, item, stint: walk.stint });
  }

  /** Work was done: the engine judges it, and the one who did it goes on with what comes next. */
  #submit(walk: Walk, item: string | null): void {
    const { run } = walk;
    if (run.status !== 'active') throw new TypeError('only an active run is worked on');
    this.#tally.tried(run.phase);
    this.#take(walk, attempt(run, item, this.#playing(walk, run.phase)));
    const left = walk.run.epoch !== run.epoch || walk.run.status !== 'active';
    // Items are worked off: only what can come again and again is bounded.
    if (item !== null && !left) walk.steps--;
    if (left) endStint(walk);
    if (walk.run.status !== 'active') {
      this.#pause(walk);
    } else if (this.#givenUp(walk)) {
      return;
    } else if (!left && item !== null && walk.run.work.items?.[item]?.status === 'pending') {
      this.#begin(walk, item);
    } else {
      this.#goOn(walk, left);
    }
  }

  /** The run has ended, or a human must act. */
  #pause(walk: Walk): void {
    const { run } = walk;
    if (run.status === 'completed' || run.status === 'stopped') {
      this.#tally.finished(walk, run.status, this.#now);
      this.#over();
    } else if (!this.#givenUp(walk)) {
      if (run.status === 'escalated') this.#escalated(walk);
      else this.#atGate(walk);
    }
  }

  #atGate(walk: Walk): void {
    const { run } = walk;
    const gate = phaseById(run.workflow, run.phase)?.humanGate;
    if (run.status !== 'waiting' || run.wait.for !== 'gate' || gate == null)
      throw new TypeError('only at a gate can be decided');
    const { wait, phase } = run;
    const rates = this.#ratesOf(phase);
    const option = byShare(rates.options, walk.random);
    const takes = oneOf(rates.decideMinutes, walk.random);
    const limit = gate.timeout === null ? null : gate.timeout.afterSeconds / 60;
    if (limit !== null && (option === null || takes >= limit)) {
      this.#act(walk, { kind: 'gate', takes: limit, act: () => expire(run) });
    } else if (option !== null) {
      const act = () => choose(run, { gate, wait, option }, this.#playing(walk, phase));
      this.#act(walk, { kind: 'gate', takes, act });
    } else {
      this.#strand(walk, 'gate');
    }
  }

  #escalated(walk: Walk): void {
    const { run } = walk;
    const { resume, stop, resumeMinutes } = this.#ratesOf(here(walk));
    const what = byShare({ resume, stop }, walk.random);
    if (what !== null) {
      const takes = oneOf(resumeMinutes, walk.random);
      this.#act(walk, { kind: 'escalation', takes, act: () => intervene(run, what) });
      return;
    }
    this.#strand(
      walk,
      run.status === 'escalated' ? (STUCK_BY[run.escalation.reason] ?? 'escalated') : 'escalated',
    );
  }

  #act(
    walk: Walk,
    { kind, takes, act }: { readonly kind: 'gate' | 'escalation'; readonly takes: number; act(): Decision },
  ): void {
    this.#tally.spent(here(walk), kind, takes);
    this.#happenings.put(this.#now + takes, { what: 'acted', walk, act });
  }

  #take(walk: Walk, { run, events }: Decision): void {
    walk.steps++;
    for (const event of events) {
      if (event.type === 'phase_completed') this.#tally.left(walk, event, this.#now);
    }
    // What was completed and decided weighs more with every step, and nothing ahead asks for it.
    walk.run = { ...run, completions: [], decisions: [] };
  }

  /** No run goes on for ever: after so many steps it is stuck, and that is said. */
  #givenUp(walk: Walk): boolean {
    if (walk.steps < this.#plan.steps) return false;
    endStint(walk);
    this.#strand(walk, 'bound');
    return true;
  }

  #strand(walk: Walk, why: StuckWhy): void {
    this.#tally.stranded(walk, here(walk), why);
    this.#over();
  }

  /** A run goes no further: its agent is free for the next. */
  #over(): void {
    this.#free++;
    const every = Math.max(1, Math.floor(this.#plan.runs / 50));
    if (this.#tally.ended % every === 0) this.#plan.progress?.(this.#tally.ended);
  }

  #playing({ random }: Walk, phase: PhaseId): Playing {
    return { abstraction: this.#plan.starts.abstraction, rates: this.#ratesOf(phase), random };
  }

  #ratesOf(phase: PhaseId): SettledPhase {
    const rates = this.#plan.rates.get(String(phase));
    if (rates === undefined) throw new TypeError(`there are no rates of \`${phase}\``);
    return rates;
  }
}

/** Where it is not the work that made an escalation. */
const STUCK_BY: Readonly<Partial<Record<Escalation['reason'], StuckWhy>>> = {
  iterations: 'loop',
  gate_timed_out: 'gate',
};

function here({ run }: Walk): PhaseId {
  if (run.phase === null) throw new TypeError('an ended run is in no phase');
  return run.phase;
}

function endStint(walk: Walk): void {
  walk.stint++;
  walk.open = [];
}
