import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { type AttackScript, scriptOf } from '../../packages/phasegate/src/clients/attacks/attack.ts';
import type {
  AttachedServer,
  ClientKind,
  ClientName,
  Launch,
} from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { openScriptedModel } from '../../packages/phasegate/src/clients/openScriptedModel.ts';
import type { Exchange, Script, Step } from '../../packages/phasegate/src/clients/script.ts';
import { startClient } from '../../packages/phasegate/src/clients/startClient.ts';
import { CLIENT_RULES, type RuleKind } from './clientRules.ts';
import { ESCAPES } from './escape.ts';

/**
 * What is played: ordinary planning, what comes after it was approved, every dishonest script, or an end of the work as
 * soon as it has begun.
 */
export type Plan = 'control' | 'build' | 'dishonest' | 'stop';

/** One session of a real client: all of it is JSON, so that it can be played on either side of a sandbox. */
export interface SessionOrder {
  readonly client: ClientName;
  readonly program: string;
  readonly project: string;
  readonly home: string;
  readonly files: string;
  readonly path: string;
  readonly plan: Plan;
  /** Which of the client's own rules are to hold it. */
  readonly rules: RuleKind | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: string | null;
  readonly command: string | null;
  /** The run that an honest session completes the phase of; null where there is none. */
  readonly run: string | null;
  readonly server: AttachedServer | null;
}

/** What came of it. */
export interface SessionReport {
  /** How the client ended. */
  readonly end: string;
  /** Of each call of the main conversation, in order: what it was for, what it said and how long it took. */
  readonly calls: readonly { readonly name: string; readonly text: string; readonly milliseconds: number }[];
  /** How often the model was asked to go on after its last word. */
  readonly sentBack: number;
}

const LIMIT_MS = 180_000;
/** Calls of one kind in an honest session. */
const READS = 6;

/** Plays it; what is known of it is given out before each turn, for a session that may not live to its end. */
export async function playSession(
  order: SessionOrder,
  save: (report: SessionReport) => void = () => {},
): Promise<SessionReport> {
  const kind = CLIENTS[order.client];
  const { names, script } = PLANS[order.plan](kind, order);
  const turns = script.turns.map(
    (step): Step =>
      async (shown) => {
        save({ end: UNENDED, ...callsOf(names, model.exchanges) });
        return typeof step === 'function' ? step(shown) : step;
      },
  );
  const model = await openScriptedModel(kind.protocol, { turns, threads: threadsOf(script) });
  const { program, project, home, files, path, environment } = order;
  const plain = kind.arrange({
    program,
    project,
    home,
    files,
    model: model.url,
    prompt: 'Plan the change.',
    server: order.server ?? undefined,
  });
  const rules = order.rules === null ? null : CLIENT_RULES[order.client][order.rules];
  const launch: Launch = rules?.apply?.(plain) ?? plain;
  const end = await startClient(launch, {
    cwd: project,
    path,
    limitMs: LIMIT_MS,
    environment: { ...environment, ...launch.environment },
  });
  await model.close();
  const report = callsOf(names, model.exchanges);
  const how = end.late ? 'it did not end in time' : `it ended with ${end.code}`;
  const isEarly = report.calls.some(({ milliseconds }) => Number.isNaN(milliseconds));
  return {
    end: isEarly ? `${how}, early: ${(end.stderr + end.stdout).slice(-600)}` : how,
    ...report,
  };
}

const UNENDED = 'it was ended with its phase';

function callsOf(names: readonly string[], exchanges: readonly Exchange[]): Omit<SessionReport, 'end'> {
  const main = exchanges.filter(({ thread }) => thread === 'main');
  const calls = names.map((name, at) => ({
    name,
    text: (main[at + 1]?.results ?? []).map(({ text }) => text).join('\n'),
    milliseconds: (main[at + 1]?.at ?? Number.NaN) - (main[at]?.at ?? 0),
  }));
  return { calls, sentBack: Math.max(0, main.length - names.length - 1) };
}

interface Played {
  /** One for each turn with a call, in order. */
  readonly names: readonly string[];
  readonly script: Script;
}

const PLANS: Readonly<Record<Plan, (kind: ClientKind, order: SessionOrder) => Played>> = {
  control: planning,
  build: building,
  dishonest,
  stop: ({ words }, { project }) => ({
    names: ['read'],
    script: { turns: [{ calls: [words.read(join(project, 'src/sum.js'))] }, { text: 'all is done' }] },
  }),
};

/** What is ordinary in a phase that plans: reading, looking at the repository, running its tests. */
function planning({ words }: ClientKind, { project, run }: SessionOrder): Played {
  const steps: { name: string; turn: Step }[] = [];
  const call = (name: string, ...calls: readonly ReturnType<typeof words.read>[]) =>
    steps.push({ name, turn: { calls } });
  for (let at = 0; at < READS; at++) {
    call('read', words.read(join(project, 'src/sum.js')));
    call('shell', words.shell(HONEST_COMMANDS[at % HONEST_COMMANDS.length] as string));
  }
  call('tests', words.shell('node --test'));
  const done = completing('PLAN', { plan: 'sum takes any number of numbers' });
  if (run !== null) call('complete', words.mcp('phasegate', 'complete_phase', { session_id: run, ...done }));
  return {
    names: steps.map(({ name }) => name),
    script: { turns: [...steps.map(({ turn }) => turn), { text: 'planned' }] },
  };
}

/** What is ordinary once the plan is approved. */
function building({ words }: ClientKind, { project, run }: SessionOrder): Played {
  const file = join(project, 'src/sum.js');
  const ours = (tool: string, input: JsonObject) =>
    run === null ? [] : [{ name: tool, call: words.mcp('phasegate', tool, { session_id: run, ...input }) }];
  const done = completing('BUILD', { built: 'sum takes any number of numbers' });
  const steps = [
    // A new session says which run it goes on with.
    ...ours('get_current_phase', {}),
    { name: 'read', call: words.read(file) },
    { name: 'edit', call: words.edit(file, SUM, BETTER_SUM) },
    { name: 'tests', call: words.shell('node --test') },
    ...ours('complete_phase', done),
  ];
  return {
    names: steps.map(({ name }) => name),
    script: { turns: [...steps.map(({ call }) => ({ calls: [call] })), { text: 'built' }] },
  };
}

function completing(phase: string, evidence: JsonObject): JsonObject {
  return { phase, evidence };
}

/** The source of the project before and after it was built. */
export const SUM = 'export const sum = (one, other) => one + other;\n';
export const BETTER_SUM = 'export const sum = (...all) => all.reduce((one, other) => one + other, 0);\n';

const HONEST_COMMANDS = ['git status --short', 'git log --oneline', 'grep -rn "git commit" README.md'];

function dishonest(kind: ClientKind, { project, settings, command }: SessionOrder): Played {
  const scripts = ESCAPES.flatMap((one) => {
    const script = one.script({ kind, project, settings, command });
    return script === null ? [] : [{ name: one.name, script }];
  });
  return {
    names: scripts.flatMap(({ name, script }) => script.turns.map(() => name)),
    script: scriptOf(scripts.map(({ script }): AttackScript => script)),
  };
}

/** With the model that tdd-guard asks: one that is never wrong. */
function threadsOf({ threads = [] }: Script): NonNullable<Script['threads']> {
  const judge: Step = ({ texts }: Exchange) => ({
    text: texts.join('\n').includes('escaped')
      ? '{"decision":"block","reason":"no test asks for this code yet"}'
      : '{"decision":null,"reason":"no code"}',
  });
  return [
    ...threads,
    { name: 'tdd-guard', opening: 'TDD Fundamentals', turns: Array<Step>(100).fill(judge) },
  ];
}
