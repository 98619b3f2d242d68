import type { Answer, Called, McpProject } from './mcpProject.ts';
import { distinctForms, type SkipForm, skipForms } from './skipForms.ts';

/** One phase of a walk: what an agent hands in, first wrong and then right. */
export interface Stop {
  readonly phase: number;
  readonly name: string;
  readonly wrong: object;
  readonly right: object;
}

/** A walk through a workflow, from the first phase to the last. */
export interface Plan {
  readonly workflow: string;
  readonly start: object;
  readonly stops: readonly Stop[];
  /** Sentences by the phase they belong to: nothing may hold one before its phase is reached. */
  readonly sentences: ReadonlyMap<number, readonly string[]>;
  /** Server processes are ended after this many calls. */
  readonly callsPerProcess: number;
  /** Something that happens while a phase is worked on. */
  readonly meanwhile?: (phase: number, project: McpProject) => void;
}

/** What was answered while one phase was worked on. */
export interface Visit {
  readonly phase: number;
  readonly entered: Answer;
  /** The phase before it, read again, and then handed in again. Null at the first. */
  readonly before: { readonly review: Answer; readonly again: Answer } | null;
  readonly skips: readonly { readonly tool: string; readonly form: SkipForm; readonly answer: Answer }[];
  /** Right evidence, handed in before any task and then before the last task was fetched. */
  readonly untouched: readonly Answer[];
  readonly tasks: readonly Answer[];
  readonly wrong: Answer;
  readonly right: Answer;
}

/** All that was answered on a walk. */
export interface Walked {
  readonly session: string;
  readonly started: Answer;
  readonly resumed: readonly Answer[];
  readonly visits: readonly Visit[];
  readonly final: Answer;
  /** Sentences that were answered before their phase was reached. */
  readonly leaks: readonly string[];
  /** How many sentences were answered once their phase was reached. */
  readonly heard: number;
  /** Answers whose text is not their JSON. */
  readonly uneven: readonly string[];
  readonly calls: number;
}

/** Walks to the end, and tries at every phase to skip, to hand in too little and to leave tasks unread. */
export async function walk(project: McpProject, plan: Plan): Promise<Walked> {
  const watch = new Watch(project, plan);
  const started = await watch.call('start_workflow', plan.start);
  const session = String(started.session_id);
  const visits: Visit[] = [];
  const resumed: Answer[] = [];
  for (const stop of plan.stops) {
    visits.push(await visit(watch, plan, { session_id: session, stop }));
    if (stop !== plan.stops.at(-1)) resumed.push(await watch.call('start_workflow', plan.start));
  }
  const final = await watch.call('get_workflow_state', { session_id: session });
  const { leaks, uneven, calls, heard } = watch;
  return { session, started, resumed, visits, final, leaks, uneven, calls, heard: heard.size };
}

async function visit(
  watch: Watch,
  plan: Plan,
  { session_id, stop }: { readonly session_id: string; readonly stop: Stop },
): Promise<Visit> {
  const { phase, wrong, right } = stop;
  const entered = await watch.call('get_current_phase', { session_id });
  const complete = (evidence: object) => watch.call('complete_phase', { session_id, phase, evidence });
  const earlier = plan.stops.find((other) => other.phase === phase - 1);
  const before = earlier === undefined ? null : await lookBack(watch, session_id, earlier);
  const skips: Visit['skips'][number][] = [];
  const next = plan.stops.find((other) => other.phase === phase + 1)?.name ?? 'The phase after the last';
  // Reading is refused as often as one likes; the other two tools take turns, phase by phase.
  const counted = phase % 2 === 0 ? { tool: 'get_task', own: { task_number: 1 } } : COMPLETING(right);
  const tries = [
    ...skipForms(phase + 1, next).map((form) => ({ tool: 'get_phase', own: {}, form })),
    ...distinctForms(phase + 1, next).map((form) => ({ ...counted, form })),
  ];
  for (const { tool, own, form } of tries) {
    skips.push({ tool, form, answer: await watch.call(tool, { session_id, phase: form.phase, ...own }) });
  }
  plan.meanwhile?.(phase, watch.project);
  const untouched = [await complete(right)];
  const tasks: Answer[] = [];
  const count = Number(entered.task_count);
  for (let task_number = 1; task_number <= count; task_number++) {
    if (task_number === count) untouched.push(await complete(right));
    tasks.push(await watch.call('get_task', { session_id, phase, task_number }));
  }
  const [refused, passed] = [await complete(wrong), await complete(right)];
  return { phase, entered, before, skips, untouched, tasks, wrong: refused, right: passed };
}

const COMPLETING = (evidence: object) => ({ tool: 'complete_phase', own: { evidence } });

async function lookBack(watch: Watch, session_id: string, { phase, right: evidence }: Stop) {
  const review = await watch.call('get_phase', { session_id, phase });
  const again = await watch.call('complete_phase', { session_id, phase, evidence });
  return { review, again };
}

/** Looks at every answer for text of phases that are not reached. */
class Watch {
  readonly project: McpProject;
  readonly leaks: string[] = [];
  readonly uneven: string[] = [];
  readonly heard = new Set<string>();
  calls = 0;
  readonly #plan: Plan;
  #reached: number;

  constructor(project: McpProject, plan: Plan) {
    this.project = project;
    this.#plan = plan;
    this.#reached = plan.stops[0]?.phase ?? 0;
  }

  async call(tool: string, args: object): Promise<Answer> {
    if (++this.calls % this.#plan.callsPerProcess === 0) await this.project.restart();
    const called = await this.project.call(tool, args);
    if (typeof called.answer.next_phase === 'number') this.#reached = called.answer.next_phase;
    this.#look(tool, called);
    return called.answer;
  }

  #look(tool: string, { answer, text }: Called): void {
    const json = JSON.stringify(answer);
    if (text !== json) this.uneven.push(tool);
    for (const [phase, sentences] of this.#plan.sentences) {
      const found = sentences.filter((sentence) => json.includes(JSON.stringify(sentence).slice(1, -1)));
      for (const sentence of found) {
        if (phase <= this.#reached) this.heard.add(sentence);
        else this.leaks.push(`${tool} in phase ${this.#reached}: ${sentence}`);
      }
    }
  }
}
