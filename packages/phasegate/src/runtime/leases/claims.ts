import { type Blocker, type Decision, type JsonObject, PhasegateError, type Run } from '@phasegate/core';
import {
  capabilityBlocker,
  claimability,
  freeItem,
  heldItems,
  holds,
  isParked,
  ringBlocker,
} from '@phasegate/core/engine';
import { type Attachment, attachmentOf } from '@phasegate/core/model';
import { type ByTurns, createByTurns } from '../../limits/byTurns.ts';
import { demandHere, type Here, isElsewhere } from '../boundFolder.ts';
import type { Companions, Kept } from '../door.ts';
import { keptOutNow, keptWaitingBy, waitsFor } from '../fence/workspaceHolder.ts';
import type {
  AgentPrincipal,
  AuditDraft,
  ClaimableRun,
  Claimed,
  Claims,
  FoundAt,
  HookedRing,
  LeaseChange,
  Store,
  StoredRun,
} from '../ports.ts';
import type { RefusalNotes } from '../refusalNotes.ts';
import type { Runtime } from '../runtime.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { unknownRun } from '../unknownRun.ts';
import { createAdmission } from './admission.ts';
import { bareLease, type Handed, handOut } from './leaseTerms.ts';
import { createPassedOver } from './passedOver.ts';
import type { Releases } from './releases.ts';
import type { Renewals } from './renewals.ts';
import { createTransitions } from './transitions.ts';
import { type KnownChecks, unseenWork } from './unseenWork.ts';

/** What claims are built from. */
export interface ClaimParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly tokens: Tokens;
  readonly renewals: Renewals;
  readonly refusals: RefusalNotes;
  readonly releases: Pick<Releases, 'release'>;
  /** Told of agents in a sandbox that take a run which asks for hooks. */
  readonly hooked?: Pick<HookedRing, 'enclosed'>;
  /** Where this is; absent: in the project's own folder. */
  readonly here?: Here;
  /** What checks look at; absent: nobody knows, and agents elsewhere get no run with one. */
  readonly checks?: () => Promise<KnownChecks>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Claims, leases and tokens. A claim, its lease and the id of its token are one write, so that no crash leaves a run
 * with a holder that nobody waits for. An answer that was lost is made good by `token`: what was done is done, the
 * token that was used for it is dead, and the holder asks for a fresh one.
 */
export function createClaims(parts: ClaimParts): Claims {
  const { store, runtime, tokens, now, here = {} } = parts;
  const skipped = new Map<string, number>();
  const passedOver = createPassedOver();
  const turns = new Map<string, ByTurns>();

  async function load(runId: string): Promise<StoredRun> {
    const stored = await store.load(runId);
    if (stored === undefined) throw await unknownRun(store, runId);
    return stored;
  }

  /** Claims the run, or the item, or both where the run waits in the queue at its parallel phase. */
  async function take(run: Run, agent: AgentPrincipal, away = false): Promise<Claimed | Blocker> {
    const item = freeItem(run) ?? null;
    let handed: Handed | undefined;
    const beside = (before: Run, decision: Decision): Companions => {
      handed = undefined;
      if (!decision.verdict.allowed) return {};
      const after = decision.run;
      handed = handOut(tokens, after, { agent, item, now: now() });
      const whole: LeaseChange[] =
        item !== null && before.holder !== after.holder
          ? [{ put: bareLease(after, { agent, item: null, now: now() }) }]
          : [];
      return {
        leases: [...whole, { put: handed.lease }],
        notes: [away ? fromAway(handed.note) : handed.note],
      };
    };
    const command = item === null ? { kind: 'claim' as const } : { kind: 'claim' as const, item };
    const kept = await runtime.submit(run.id, command, { principal: agent, beside });
    const { verdict } = kept.submitted;
    if (!verdict.allowed) return verdict.blockers[0];
    return claimedOf(kept, handed as Handed, item);
  }

  /** As `take`. Before it is taken, what asks for hooks only is told of a sandbox: that is closer. */
  async function takeAs(
    run: Run,
    agent: AgentPrincipal,
    { attached, away }: Able,
  ): Promise<Claimed | Blocker> {
    if (attached === 'sandboxed' && attachmentOf(run.ring) === 'hooked')
      await parts.hooked?.enclosed(run, agent.name);
    return take(run, agent, away);
  }

  /** What the engine would have to look at and cannot, for an agent that works elsewhere. */
  async function unseen(run: Run, { away }: Able): Promise<readonly string[]> {
    return away === true ? unseenWork(run.workflow, (await parts.checks?.()) ?? []) : [];
  }

  /** A run that is not begun waits for the one that has the workspace. */
  async function demandWorkspace(run: Run): Promise<void> {
    const holder = await keptWaitingBy(store, run, here.folder);
    if (holder !== undefined) throw new PhasegateError('not_permitted', waitsFor(holder));
  }

  /** Whether an agent of this kind may take the run, here, as long as its epoch stands. */
  async function isForKind(run: Run, able: Able): Promise<boolean> {
    if (isElsewhere(here, run) || ringBlocker(run, able.attached) !== null) return false;
    return (await unseen(run, able)).length === 0;
  }

  /** Null where somebody else was quicker, or it is not for this agent. */
  async function tryTake(found: ClaimableRun, agent: AgentPrincipal, able: Able): Promise<Claimed | null> {
    try {
      const stored = await store.load(found.run);
      if (stored === undefined || claimability(stored.run) === null) return null;
      if (!(await isForKind(stored.run, able))) {
        passedOver.note(kindOf(able), { run: found.run, epoch: stored.run.epoch });
        return null;
      }
      if (capabilityBlocker(stored.run, able.capabilities) !== null) return null;
      if ((await keptWaitingBy(store, stored.run, here.folder)) !== undefined) return null;
      const taken = await takeAs(stored.run, agent, able);
      return 'token' in taken ? taken : null;
    } catch (error) {
      const code = error instanceof PhasegateError ? error.code : 'internal';
      if (code === 'run_changed') return null;
      if (EVERYBODYS.has(code)) throw error;
      await skip(found, agent, { code, message: error instanceof Error ? error.message : String(error) });
      return null;
    }
  }

  /** INVARIANT: a run that cannot be handed out keeps nobody from the others. It is noted once for each epoch. */
  async function skip(
    { run, epoch }: ClaimableRun,
    agent: AgentPrincipal,
    problem: { readonly code: string; readonly message: string },
  ): Promise<void> {
    if (skipped.get(run) === epoch) return;
    remember(skipped, run, epoch);
    const time = new Date(now()).toISOString();
    const data = { command: 'claim', blockers: [problem] };
    const draft = { time, principal: `agent:${agent.name}`, event: 'command_refused' as const };
    // A run whose own chain cannot be read is told of on the project's.
    const onRun = await store.note(run, [{ ...draft, data }]).catch(() => false);
    if (!onRun) await store.note(null, [{ ...draft, data: { run, ...data } }]);
  }

  async function next(agent: AgentPrincipal, able: Able): Promise<Claimed | null> {
    const { capabilities } = able;
    const kind = kindOf(able);
    let after: FoundAt | undefined;
    let limit = PAGE;
    const without = await keptOutNow(store, here.folder);
    for (;;) {
      const page: readonly ClaimableRun[] = await store.claimable({
        capabilities,
        limit,
        after,
        without,
      });
      for (const found of page) {
        if (passedOver.has(kind, found)) continue;
        const taken = await tryTake(found, agent, able);
        if (taken !== null) return taken;
      }
      if (page.length < limit) return null;
      after = page.at(-1)?.at;
      limit = LATER_PAGE;
      // However many are not for this agent, others are served meanwhile.
      await new Promise((resume) => setImmediate(resume));
    }
  }

  async function token(runId: string, agent: AgentPrincipal, asked?: string): Promise<Claimed> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { run } = await load(runId);
      const item = asked ?? heldItem(run, agent.name) ?? null;
      if (!holds(run, agent.name, item)) throw notHeld(run, agent, item);
      // The lease may be of an earlier epoch, where a human moved the run on, or there is none yet, where the agent
      // started the run itself: holding is what counts.
      const handed = handOut(tokens, run, { agent, item, now: now() });
      if (await store.renewToken(handed.lease, [handed.note])) {
        return claimedFrom(run, await runtime.as(agent).view(runId), handed, item);
      }
    }
    throw new PhasegateError('run_changed', `run \`${runId}\` was changed by someone else at the same time`);
  }

  const { transition } = createTransitions({ ...parts, take });

  /** INVARIANT: what an agent holds is given to it again, also where another claim of its own was quicker than this one. */
  async function takeRun(runId: string, agent: AgentPrincipal, able: Able): Promise<Claimed> {
    const { run } = await load(runId);
    if (isAtWork(run, agent.name)) return token(runId, agent);
    try {
      return await takeNamed(run, agent, able);
    } catch (error) {
      const code = error instanceof PhasegateError ? error.code : 'internal';
      if (!OVERTAKEN.has(code) || !isAtWork((await load(runId)).run, agent.name)) throw error;
      return token(runId, agent);
    }
  }

  async function takeNamed(run: Run, agent: AgentPrincipal, able: Able): Promise<Claimed> {
    const { capabilities, attached } = able;
    const missing = capabilityBlocker(run, capabilities) ?? ringBlocker(run, attached);
    if (missing !== null) throw new PhasegateError('not_permitted', missing.message);
    if (isParked(run)) {
      const needed = run.workflow.enforcement.ring;
      const message = `run \`${run.id}\` is parked until it has the ring \`${needed}\``;
      throw new PhasegateError('not_permitted', message);
    }
    const looks = await unseen(run, able);
    if (looks.length > 0) throw cannotBeSeen(run, looks);
    demandHere(here, run);
    await demandWorkspace(run);
    const taken = await takeAs(run, agent, able).catch(async (error: unknown) => {
      // Another one was begun at the same time: that is what it was refused for.
      await demandWorkspace(run);
      throw error;
    });
    if ('token' in taken) return taken;
    const hint = `\`phasegate status ${run.id}\` says what it waits for`;
    throw new PhasegateError('not_permitted', taken.message, { hint });
  }

  const within = (attached: Attachment, away = false): Pick<Claims, 'claim' | 'claimRun'> => ({
    /**
     * One after the other in this process, each agent in turn: twenty agents at once would only take from each other. Those
     * of another kind do not wait for it, as it may go past many runs that are for them alone.
     */
    claim(agent, capabilities) {
      const able = { capabilities, attached, away };
      const kind = kindOf(able);
      const ofKind = turns.get(kind) ?? createByTurns();
      turns.set(kind, ofKind);
      return ofKind.act(agent.name, () => next(agent, able));
    },
    claimRun: (runId, agent, capabilities) => takeRun(runId, agent, { capabilities, attached, away }),
  });

  return {
    ...within('served'),
    within: (attached) => within(attached),
    away: within('served', true),
    token,
    ...createAdmission(parts),
    transition,
    release: parts.releases.release,
    attend: runtime.attend,
    leases: (agent) => store.leases(agent),
    someLeases: (limit) => store.someLeases(limit),
    countLeases: () => store.countLeases(),
  };
}

/** What an agent can do, and how it is attached. */
interface Able {
  readonly capabilities: readonly string[];
  readonly attached: Attachment;
  /** Whether it works in files that the engine cannot see. */
  readonly away?: boolean;
}

/** How often a fresh token is tried for while others change the run. */
const ROUNDS = 5;
const REMEMBERED = 10_000;
/** The first is nearly always free; the others are for those that somebody else is taking. */
const PAGE = 10;
/** Where those were not for the agent, many may not be. */
const LATER_PAGE = 200;
/** Faults of the store or the keys, and not of one run. */
const EVERYBODYS: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_corrupt',
  'store_newer',
  'audit_broken',
  'keys_unavailable',
]);

/** What a claim by name ends with where somebody else was quicker: another agent, or the same one by another claim. */
const OVERTAKEN: ReadonlySet<string> = new Set(['not_permitted', 'run_changed']);

/** Agents of one kind may take the same runs, but for what each can do. */
function kindOf({ attached, away }: Able): string {
  return away === true ? `${attached}, away` : attached;
}

function claimedOf({ submitted, run }: Kept, handed: Handed, item: string | null): Claimed {
  return claimedFrom(run, submitted.view, handed, item);
}

function claimedFrom(run: Run, view: Claimed['view'], { issued }: Handed, item: string | null): Claimed {
  return {
    view,
    item: item === null ? null : { key: item, value: run.work.items?.[item]?.value ?? null },
    token: issued.token,
    tokenExpiresAt: issued.expiresAt,
  };
}

function isAtWork(run: Run, agent: string): boolean {
  return holds(run, agent) || heldItem(run, agent) !== undefined;
}

function heldItem(run: Run, agent: string): string | undefined {
  if (run.phase === null) return undefined;
  return heldItems(run, agent).find(([, { status }]) => status === 'pending')?.[0];
}

function cannotBeSeen({ id }: Run, looks: readonly string[]): PhasegateError {
  const message = `run \`${id}\` is not for an agent with a workspace of its own, which the engine cannot see: ${looks.join('; ')}`;
  return new PhasegateError('not_permitted', message, {
    hint: "claim it without `workspace`, and work with the server's tools in the server's workspace",
  });
}

/** The class of all that such an agent hands in is known from here on: nobody has looked at its files. */
function fromAway(note: AuditDraft): AuditDraft {
  return { ...note, data: { ...(note.data as JsonObject), workspace: 'own' } };
}

function notHeld(run: Run, agent: AgentPrincipal, item: string | null): PhasegateError {
  const what = item === null ? `run \`${run.id}\`` : `item \`${item}\` of run \`${run.id}\``;
  return new PhasegateError('not_permitted', `\`${agent.name}\` does not hold ${what}`);
}

function remember(epochs: Map<string, number>, run: string, epoch: number): void {
  if (epochs.size >= REMEMBERED) epochs.clear();
  epochs.set(run, epoch);
}
