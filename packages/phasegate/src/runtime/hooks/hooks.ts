import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { own, PhasegateError, type Run, type RunView, type ToolUse } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { ENGINE } from '../engine.ts';
import type { Masking } from '../masking.ts';
import type { HookAnswer, HookEvent, Hooks, HookTool, Proofs, Sandboxes, Store } from '../ports.ts';
import type { AskedUse, Runtime } from '../runtime.ts';
import { blockerOf } from './blockersOf.ts';
import { announceStart, createRingHold } from './hookedRuns.ts';
import { type CallDecision, createJudgedCalls, RunMoved } from './judgedCalls.ts';
import type { LookAtSettings } from './lookAtSettings.ts';
import { completes, namedRun, startedRun, starts } from './namedRun.ts';
import { asGit, offered } from './offered.ts';
import { ownCommand } from './ownCommands.ts';
import { createPauses } from './pauses.ts';
import { placeUse, tooManyPaths, writesSettings } from './placeUses.ts';
import { createProofs, type LookAgain } from './proofs.ts';
import { pruneSessions } from './pruneSessions.ts';
import { isOpen, readsByShell } from './readsByShell.ts';
import { createReconciling } from './reconciling.ts';
import { type Attended, createSessions } from './sessions.ts';
import { createSettingsWatch } from './settingsWatch.ts';

/** What hooks are built from. */
export interface HookParts {
  readonly store: Store;
  readonly runtime: Pick<Runtime, 'as' | 'judgeTogether' | 'look' | 'submit'>;
  readonly sandboxes: Pick<Sandboxes, 'isAsked'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly hash: (text: string) => string;
  readonly settings: HookSettings;
  readonly masking?: Masking;
}

/** Where hooks are answered. */
export interface HookSettings {
  /** The project's own folder, in which runs work that have no worktree. */
  readonly home: string;
  /** The workspace that holds a path: the project's own folder, or a worktree that shares its state; null where none does. */
  workspaceOf(path: string): string | null;
  /** The run a worktree was made for; null where it is for any. Left out, there are no worktrees. */
  madeFor?(workspace: string): string | null;
  /** Folders no agent reads or writes: state and keys. */
  readonly closed: readonly string[];
  /** How Phasegate's own program is called. */
  readonly program: readonly string[];
  /** Its own file, by which it is known under any name. */
  readonly file: string;
  /** Where programs are found. */
  readonly path: string;
  /** Whether a human has set the project up. */
  isSetUp(): Promise<boolean>;
  /** What a client is now, to be held against what was proven. Left out, nothing is proven. */
  readonly lookAgain?: LookAgain;
  /** What is wrong with the settings of a client. Left out, nobody looks. */
  readonly lookAtSettings?: LookAtSettings;
}

/** Builds it: one door for every event of every client. */
export function createHooks(parts: HookParts): Pick<Hooks, 'handle' | 'pause' | 'beginPause' | 'endPause'> {
  const { runtime, settings } = parts;
  const proofs = proofsOf(parts);
  const look = settings.lookAtSettings;
  const sessions = createSessions({ ...parts, proofs, look, places: settings });
  const watch = createSettingsWatch({ ...parts, sessions, look });
  const hold = createRingHold({ ...parts, sessions, proofs });
  const attend = async (event: HookEvent) => {
    const attended = await sessions.attend(event);
    if (attended.isNew) await prune();
    return hold(await watch(attended), AFRESH.has(event.event));
  };
  const pauses = createPauses(parts);
  const calls = createJudgedCalls(parts);
  const reconcile = createReconciling({ ...parts, sessions });
  const { path, workspaceOf } = settings;
  const programs = { own: [real(settings.file)], path, workspaceOf };
  let begun = 0;
  /** Nobody's session waits for it or fails by it. Any event can be the first of a session. */
  const prune = async () => {
    begun += 1;
    await pruneSessions(parts, begun % PRUNED_EVERY === 0).catch(() => 0);
  };

  async function handle(event: HookEvent): Promise<HookAnswer> {
    switch (event.event) {
      case 'before_tool':
        return beforeTool(event);
      case 'after_tool':
        return afterTool(event);
      case 'compacting':
        await sessions.remember(await attend(event), { untold: true });
        return NONE;
      case 'session_start':
      case 'compacted':
      case 'subagent_start':
        return card(event, true);
      case 'prompt':
        return card(event, false);
      case 'stop':
        return stopping(event);
      case 'config_change':
        return {
          kind: 'block',
          reason: 'settings of a client that Phasegate holds stay as they are in a session',
        };
      case 'tool_selection':
        return offered((await attend(event)).run);
      case 'subagent_stop':
        await reconcile(await attend(event));
        return NONE;
      case 'session_end':
        await reconcile(await attend(event));
        return NONE;
      case 'other':
        await attend(event);
        return NONE;
    }
  }

  async function beforeTool(event: HookEvent): Promise<HookAnswer> {
    const { tool } = event;
    if (tool === undefined) return denied(null, blockerOf(null, 'tool_unknown', 'the event names no tool'));
    let attended = await attend(event);
    const before = await calls.find(attended, tool);
    if (before !== null) return answerTo(attended, tool, before);
    const shell = shellOf(tool, event);
    const named = namedRun(tool, shell);
    if (named !== null)
      attended = await hold(await watch(await sessions.bind(attended, named, 'named')), false);
    if (starts(tool, shell)) await announceStart(parts, attended, tool);
    if (attended.run === null && (await isFree(attended, tool))) return NONE;
    if (completes(tool, shell)) attended = await hold(await reconcile(attended), true);
    for (let round = 0; ; round++) {
      try {
        const { run } = attended;
        const free = run !== null && isOpen(run) && !(await parts.sandboxes.isAsked(run));
        const decision = await calls.judge(attended, tool, () => usesOf(attended, tool, { shell, free }));
        return await answerTo(attended, tool, decision);
      } catch (error) {
        if (!(error instanceof RunMoved) || round >= ROUNDS) throw error;
        attended = await attend(event);
      }
    }
  }

  /** In a project nobody set up, and while a human paused it, sessions without a run are left alone. */
  async function isFree(attended: Attended, tool: HookTool): Promise<boolean> {
    if (!(await settings.isSetUp())) return true;
    if ((await pauses.pause()) === null || tooManyPaths(tool.uses) !== null) return false;
    return !tool.uses.map((use) => placed(use, attended)).some(writesSettings);
  }

  function placed(use: ToolUse, { event, run }: Attended): AskedUse {
    const { cwd } = event;
    const { home, closed, workspaceOf } = settings;
    // INVARIANT: of a run, what is in its own folder, wherever its agent stands; in another's folder nothing is inside.
    const workspace = run === null ? (workspaceOf(cwd) ?? NOWHERE) : (run.folder ?? home);
    return placeUse(use, { run, cwd, places: { workspace, closed, workspaceOf } });
  }

  function usesOf(
    attended: Attended,
    tool: HookTool,
    { shell, free }: { readonly shell: ReturnType<typeof shellOf>; readonly free: boolean },
  ): readonly AskedUse[] {
    const { run } = attended;
    const plain: ToolUse = { tool: tool.name.slice(0, 200), input: {} };
    if (tool.kind === 'unknown' || (tool.kind === 'judged' && tool.uses.length === 0)) {
      const message =
        tool.unreadable === undefined
          ? `\`${plain.tool}\` is not a tool Phasegate knows`
          : `this call of \`${plain.tool}\` cannot be judged: ${tool.unreadable}`;
      return [refusal(plain, blockerOf(run, 'tool_unknown', message))];
    }
    if (tool.kind !== 'judged') return [{ use: plain, verdict: { allowed: true } }];
    const many = tooManyPaths(tool.uses);
    if (many !== null) return [refusal(plain, blockerOf(run, 'tool_forbidden', many))];
    if (shell?.kind === 'humans') {
      const message = `\`phasegate ${shell.verb}\` is for a human, on a terminal the agent does not have`;
      return tool.uses.map((use) => refusal(use, blockerOf(run, 'not_a_human', message)));
    }
    if (shell?.kind === 'agents') {
      const at = folderOf(tool, attended.event.cwd);
      const reads = shell.reads.map((file) => ({ tool: 'read_files', input: { path: resolve(at, file) } }));
      return [
        ...tool.uses.map((use): AskedUse => ({ use, verdict: ALLOWED })),
        // Where the shell could read it as well, only what is closed to agents is refused.
        ...reads.map((use) =>
          free ? { verdict: ALLOWED, ...placed(use, attended) } : placed(use, attended),
        ),
      ];
    }
    return tool.uses
      .flatMap((use) => readsByShell(run, use, { ...attended.event, workspaceOf }) ?? [asGit(run, use)])
      .map((use) => placed(use, attended));
  }

  function shellOf(tool: HookTool, { cwd, programs: clientPath }: HookEvent) {
    const [only, ...others] = tool.uses;
    if (tool.kind !== 'judged' || only?.tool !== 'bash' || others.length > 0) return null;
    const found = ownCommand(String(own(only.input, 'command') ?? ''), folderOf(tool, cwd), {
      ...programs,
      clientPath,
    });
    // Read as bash reads it; in another language only a human's verb is sure to be one.
    return own(only.input, 'language') === undefined || found.kind === 'humans' ? found : OTHER;
  }

  async function answerTo(attended: Attended, tool: HookTool, decision: CallDecision): Promise<HookAnswer> {
    const { allowed, blocker, run } = decision;
    if (blocker !== null) {
      const told = await untold(attended);
      return told === null ? denied(run, blocker) : { ...told, kind: 'deny', blocker, run };
    }
    if (!allowed) throw new TypeError('a refusal without a reason');
    return (await inSandbox(attended, tool)) ?? NONE;
  }

  /** The same command in the sandbox of its phase, where one is asked for and the client takes another input. */
  async function inSandbox({ run, event }: Attended, tool: HookTool): Promise<HookAnswer | null> {
    const [only] = tool.uses;
    if (run === null || !tool.rewrites || only?.tool !== 'bash' || shellOf(tool, event)?.kind !== 'other')
      return null;
    if (!(await parts.sandboxes.isAsked(run))) return null;
    const command = String(own(only.input, 'command') ?? '');
    const there = run.folder === undefined ? [] : ['--project', run.folder];
    const words = [...settings.program, ...there, 'exec', run.id, '--', 'bash', '-c', command];
    return { kind: 'changed', input: { ...tool.input, command: words.map(shellWord).join(' ') } };
  }

  async function afterTool(event: HookEvent): Promise<HookAnswer> {
    const { tool, report } = event;
    let attended = await attend(event);
    if (tool === undefined) return NONE;
    const output = report?.output ?? null;
    const shell = shellOf(tool, event);
    const told = { ok: report?.ok ?? false, output_hash: parts.hash(JSON.stringify(output)) };
    const found = await calls.report(attended, { tool, told, argv: executedBy(tool, shell) });
    if (told.ok && (tool.kind === 'own' || shell?.kind === 'agents')) {
      const started = startedRun(tool, shell, JSON.stringify(output));
      if (started !== null && (await isBegunBy(found, started, attended)))
        attended = await hold(await sessions.bind(attended, started, 'started'), false);
    }
    const ran = found === null ? 'was never judged' : found.allowed || !told.ok ? null : 'was refused';
    if (ran !== null && attended.run !== null) await forged(attended, tool, ran);
    const due = await untold(attended);
    return due === null ? NONE : { ...due, kind: 'card', whole: true };
  }

  /** Where the run stands, for a model that has not been told since its conversation was summed up; null for any other. */
  async function untold(attended: Attended): Promise<{ readonly view: RunView } | null> {
    const { run, data } = attended;
    if (!data.untold || run === null) return null;
    await sessions.remember(attended, { untold: false });
    return { view: await viewOf(run) };
  }

  /** INVARIANT: a run under way is left only for one that this very call began: what it printed is the agent's to choose. */
  async function isBegunBy(found: CallDecision | null, started: string, { run }: Attended): Promise<boolean> {
    if (run === null) return true;
    const begun = (await parts.store.load(started))?.run.startedAt;
    return found?.allowed === true && begun !== undefined && begun >= found.at;
  }

  /** INVARIANT: what a client did without us is on record, and a human looks at the run. */
  async function forged({ run, event }: Attended, tool: HookTool, how: string): Promise<void> {
    if (run === null) return;
    const { client, sessionId: session } = event;
    const data = { client, session, name: tool.name, call: tool.callId, how };
    const note = {
      time: new Date(parts.now()).toISOString(),
      principal: 'engine:phasegate',
      event: 'hook_forged',
      data,
    } as const;
    const key = `${client}/${session}/${tool.callId ?? parts.hash(JSON.stringify(tool.input))}`;
    await parts.store.keep({ kind: 'forged', key, data }, { run: run.id, audit: [note], was: null });
    if (how !== 'was refused') return;
    const message = `its client made a call of \`${tool.name}\` that was refused`;
    await runtime.submit(
      run.id,
      { kind: 'escalate', reason: 'unjudged_calls', message },
      { principal: ENGINE },
    );
  }

  async function card(event: HookEvent, whole: boolean): Promise<HookAnswer> {
    const attended = await attend(event);
    const due = await untold(attended);
    if (due !== null) return { ...due, kind: 'card', whole: true };
    if (attended.run !== null) return { kind: 'card', view: await viewOf(attended.run), whole };
    if (!(await settings.isSetUp()) || (await pauses.pause()) !== null) return NONE;
    return { kind: 'card', view: null, whole };
  }

  /** The text of a phase may be made by a function, which can fail and is not run for a worktree: then it is left out. */
  async function viewOf(run: Run): Promise<RunView> {
    const agent = { kind: 'agent', name: run.holder ?? 'local' } as const;
    try {
      return await runtime.as(agent).view(run.id);
    } catch (error) {
      if (!(error instanceof PhasegateError) || error.code !== 'function_failed') throw error;
      return runtime.look(run.id, agent);
    }
  }

  /** An agent whose turn it is goes on; one that stops again and again gets a human instead. */
  async function stopping(event: HookEvent): Promise<HookAnswer> {
    const attended = await reconcile(await attend(event));
    const { run, data } = attended;
    if (run === null || run.status !== 'active' || run.holder === null) return NONE;
    if (event.isRepeated === true) return { kind: 'go_on', view: await viewOf(run) };
    const stops = data.stops_epoch === run.epoch ? data.stops : 0;
    if (stops >= STOPS[event.client] || event.isLast === true) {
      const times = stops === 0 ? '' : ` ${stops + 1} times running`;
      const message = `its agent stopped${times} in phase \`${run.phase}\` while it was its turn`;
      await runtime.submit(
        run.id,
        { kind: 'escalate', reason: 'stopped_early', message },
        { principal: ENGINE },
      );
      return NONE;
    }
    await sessions.remember(attended, { stops: stops + 1, stops_epoch: run.epoch });
    return { kind: 'go_on', view: await viewOf(run) };
  }

  return { handle, ...pauses };
}

/** How often each client lets itself be told to go on. */
const STOPS: Readonly<Record<HookEvent['client'], number>> = {
  claude: 8,
  codex: 8,
  gemini: 8,
  copilot: 8,
  cursor: 5,
  opencode: 8,
};

const NONE: HookAnswer = { kind: 'none' };
const ALLOWED = { allowed: true } as const;
const OTHER: ReturnType<typeof ownCommand> = { kind: 'other' };
/** With these it is looked at again whether the proof of a client stands. */
const AFRESH: ReadonlySet<HookEvent['event']> = new Set(['session_start', 'stop', 'subagent_stop']);
const ROUNDS = 5;
/** Fewer than are looked at in one go. */
const PRUNED_EVERY = 100;
/** No path is in it. */
const NOWHERE = '/\0';
const NOTHING_PROVEN: Proofs = { ringOf: async () => 'served' };

function proofsOf(parts: HookParts): Proofs {
  const { lookAgain } = parts.settings;
  return lookAgain === undefined ? NOTHING_PROVEN : createProofs(parts, lookAgain);
}

function denied(run: string | null, blocker: CallDecision['blocker']): HookAnswer {
  if (blocker === null) return NONE;
  return { kind: 'deny', blocker, run };
}

function refusal(use: ToolUse, blocker: ReturnType<typeof blockerOf>): AskedUse {
  return { use, verdict: { allowed: false, blockers: [blocker] } };
}

/** The folder a command runs in: some clients take one with the call. */
function folderOf({ input }: HookTool, cwd: string): string {
  const named = ['dir_path', 'directory', 'workdir', 'cwd'].map((name) => own(input, name));
  const given = named.find((one) => typeof one === 'string');
  return given === undefined ? cwd : resolve(cwd, given);
}

/** The words of the program that `phasegate exec` would run for a call; null for any other call. */
function executedBy(
  { uses: [only] }: HookTool,
  shell: ReturnType<typeof ownCommand> | null,
): readonly string[] | null {
  if (shell?.kind !== 'other') return null;
  return shell.executes ?? ['bash', '-c', String(own(only?.input ?? {}, 'command') ?? '')];
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
