import {
  type Command,
  checksForStart,
  decideStart,
  type Fact,
  type JsonObject,
  type Look,
  type Principal,
  type Run,
  type Starting,
  type Workflow,
} from '@phasegate/core';
import { type CheckResult, checkpointOf } from '@phasegate/core/engine';
import { ADA, AGENT, NOW, submit } from '../../packages/core/src/engine/fixtures/walks.ts';
import { contextOf } from '../../packages/phasegate/src/loaders/typescript/contextOf.ts';
import w1 from './w1.workflow.ts';

/** What a refusal says: code and message of each blocker; empty when nothing was refused. */
export type Refusal = readonly (readonly [code: string, message: string])[];

/** The project's own questions to its database, answered by the test. */
export type Database = Readonly<Record<string, (id: string) => unknown>>;

/** What is so in the world a run is walked in. */
export interface Facts {
  readonly params?: JsonObject;
  readonly db?: Database;
  readonly evidence?: JsonObject;
  /** Answers given to checks by name, instead of asking the workflow's own functions. */
  readonly checks?: Readonly<Record<string, boolean>>;
}

/** The steps, in the order the design has them. */
export const STEPS: readonly string[] = [
  'strategic-planning',
  'create-version',
  'writer',
  'editor-review',
  'domain-expert-review',
  'chapter-review',
  'human-gate',
  'finalize',
];

/** A result of each step that lets it pass. */
export const GOOD: Readonly<Record<string, JsonObject>> = {
  'strategic-planning': { improvementAreas: ['opening', 'ending'] },
  'create-version': { versionId: 'v2' },
  writer: { modifiedChapters: [1, 3] },
  'editor-review': { decision: 'approved' },
  'domain-expert-review': { decision: 'approved' },
  'chapter-review': { metrics: { baseline: 1, current: 1.25, delta: 0.25 }, modifiedChapters: [1, 3] },
  'human-gate': {},
  finalize: {},
};

const PARAMS: JsonObject = { book: 'moby-dick', analysisPath: 'analysis.json', previousVersionId: 'v1' };

const SAVED: Database = {
  strategicPlanExists: () => true,
  versionExists: (version) => ['v1', 'v2'].includes(version),
  artifactsExist: () => true,
  workflowStatus: () => 'completed',
  workFinished: () => true,
};

/** A run of a book that can be edited, at its first step. */
export function startEditing(workflow: Workflow, facts: Facts = {}): Editing {
  const started = Editing.start(workflow, { ...facts, params: { ...PARAMS, ...facts.params } });
  if ('refused' in started) throw new Error(JSON.stringify(started.refused));
  return started;
}

/**
 * Walks a run through the engine. Checks are answered by the workflow's own functions, given the context the
 * engine asks about and a database that says what the test wants it to.
 */
export class Editing {
  run: Run;
  db: Database;
  readonly #checks: Readonly<Record<string, boolean>>;

  private constructor(run: Run, { db = SAVED, checks = {} }: Facts) {
    this.run = run;
    this.db = db;
    this.#checks = checks;
  }

  static start(workflow: Workflow, facts: Facts): Editing | { readonly refused: Refusal } {
    const starting: Starting = {
      id: 'w1',
      workflow,
      workflowHash: 'h',
      target: null,
      params: facts.params ?? {},
      ring: 'served',
      trusted: true,
      queued: false,
    };
    const asked = { principal: AGENT, now: NOW, facts: {} };
    const looks = checksForStart(starting, asked);
    const answers = looks.map((look): [string, Fact] => [
      look.id,
      { kind: 'check', result: answerTo(look, facts.db ?? SAVED, facts.checks ?? {}) },
    ]);
    const { run, verdict } = decideStart(starting, { ...asked, facts: Object.fromEntries(answers) });
    return run === null ? { refused: refusalOf(verdict) } : new Editing(run, facts);
  }

  /** Completes the current step, or an item of it. */
  complete(evidence: JsonObject = {}, item?: string): Refusal {
    const phase = this.run.phase as string;
    return this.#submit(
      { kind: 'complete', phase, evidence, ...(item === undefined ? {} : { item }) },
      AGENT,
    );
  }

  /** Chooses an option of the open gate. */
  decide(option: string, input?: string, principal: Principal = ADA): Refusal {
    const gate = this.run.status === 'waiting' && this.run.wait.for === 'gate' ? this.run.wait.gate : '';
    const command: Command = {
      kind: 'decide',
      gate,
      option,
      shown: 'card',
      signature: 's',
      ...(input === undefined ? {} : { input }),
    };
    return this.#submit(command, principal);
  }

  /** A human gives an escalated run another try. */
  resume(note: string): Refusal {
    return this.#submit({ kind: 'resume', note }, ADA);
  }

  /** Completes steps with good results until the run is at this one. */
  goTo(step: string, plan: JsonObject = {}): this {
    for (let count = 0; this.run.phase !== step; count++) {
      const here = String(this.run.phase);
      if (count > 40 || this.run.status === 'escalated') throw new Error(`the run is stuck in ${here}`);
      const evidence = { ...GOOD[here], ...(here === 'strategic-planning' ? plan : {}) };
      if (this.run.status === 'waiting') this.decide('Approve and finalize');
      else if (this.run.work.items === null) this.complete(evidence);
      else for (const item of Object.keys(this.run.work.items)) this.complete(evidence, item);
    }
    return this;
  }

  visited(): readonly unknown[] {
    return this.run.completions.map((completion) => completion.phase);
  }

  checkpoint(): JsonObject {
    return checkpointOf(this.run);
  }

  #submit(command: Command, principal: Principal): Refusal {
    const answer = (look: Look) => answerTo(look, this.db, this.#checks);
    const decision = submit(this.run, command, { principal, answer, shown: 'card' });
    this.run = decision.run;
    return refusalOf(decision.verdict);
  }
}

function answerTo(look: Look, db: Database, checks: Readonly<Record<string, boolean>>): CheckResult {
  if (look.kind !== 'check') throw new TypeError('W1 has no handlers and no functions as conditions');
  const { check, subject } = look;
  const ask = w1.functions[String(check.with.ref)];
  if (ask === undefined) throw new TypeError(`there is no function for ${check.id}`);
  const { runId, phase, target, attempt } = subject;
  const given = { ...subject.scope, runId, phase, target, attempt };
  const context = contextOf(given, { known: subject.known ?? {}, db: () => db });
  try {
    const holds = checks[check.label] ?? ask(context as never);
    return { status: holds === true ? 'passed' : 'failed', reason: '', class: 'claimed' };
  } catch (error) {
    return { status: 'errored', reason: String(error), class: 'claimed' };
  }
}

function refusalOf(verdict: ReturnType<typeof decideStart>['verdict']): Refusal {
  return verdict.allowed ? [] : verdict.blockers.map(({ code, message }) => [code, message] as const);
}
