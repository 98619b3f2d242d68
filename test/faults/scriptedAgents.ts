import { setTimeout as pause } from 'node:timers/promises';
import type { Answered, HeldToken, Historian } from './history.ts';
import type { Seeded } from './seeded.ts';

/** What agents are told about the world they work in. */
export interface AgentWorld {
  readonly historian: Historian;
  readonly nodes: number;
  /** How long an agent may be silent, in milliseconds. */
  readonly leaseMs: number;
  /** Agents end when nothing is left to do, or enough was done. */
  isOver(): boolean;
  /** A phase whose items are claimed one by one: with a token for the run alone there is nothing to do in it. */
  readonly parallel?: string;
  /** How long an agent waits that has nothing to do, in milliseconds. */
  readonly restMs: number;
}

/**
 * One agent: claims what comes next, asks for tools, completes phases, until there is nothing left. It goes to another
 * node each time, as behind a load balancer. Now and then it shows a token that is dead, asks two nodes at once, has its
 * token replaced while it is used, or is silent for longer than its lease.
 */
export async function workAsAgent(name: string, world: AgentWorld, chance: Seeded): Promise<void> {
  const { historian, nodes, leaseMs, restMs } = world;
  let marks = 0;
  const node = () => chance.below(nodes);
  const check = (token: HeldToken) => {
    marks += 1;
    const tool = chance.happens(0.2) ? 'write_files' : 'read_files';
    return historian.ask(name, node(), { kind: 'check', token, tool, mark: `${name}-${marks}` });
  };

  async function complete(token: HeldToken): Promise<Answered> {
    const asked = { kind: 'complete', token } as const;
    if (!chance.happens(0.15)) return historian.ask(name, node(), asked);
    const both = await Promise.all([historian.ask(name, node(), asked), historian.ask(name, node(), asked)]);
    return both.find(({ kind }) => SETTLED.has(kind)) ?? both[0];
  }

  /** What the agent holds of a run, asked for by its key; undefined where it holds nothing of it any more. */
  async function rejoin(run: string): Promise<HeldToken | undefined> {
    while (!world.isOver()) {
      const answered = await historian.ask(name, node(), { kind: 'token', run });
      if (answered.kind === 'given') return answered.token;
      if (answered.kind === 'refused' && !isForNow(answered.code)) return undefined;
      await pause(restMs);
    }
    return undefined;
  }

  /** Asks for some tools; gives the token to go on with. */
  async function use(token: HeldToken, before: HeldToken | undefined): Promise<HeldToken> {
    const mine = chance.happens(0.1) ? await replace(token) : token;
    for (let left = 1 + chance.below(2); left > 0; left -= 1) await check(mine);
    if (before !== undefined && chance.happens(0.15)) await check(before);
    return mine;
  }

  /** Uses a token while two newer ones are asked for; goes on with one of those, where there is one. */
  async function replace(token: HeldToken): Promise<HeldToken> {
    const fresh = () => historian.ask(name, node(), { kind: 'token', run: token.run });
    const [one, other] = await Promise.all([fresh(), fresh(), check(token), check(token)]);
    for (const answered of [one, other]) if (answered.kind === 'given') return answered.token;
    return token;
  }

  async function work(first: HeldToken): Promise<void> {
    let before: HeldToken | undefined;
    for (let token: HeldToken | undefined = first; token !== undefined && !world.isOver(); ) {
      if (isIdle(token, world)) return;
      if (chance.happens(0.01)) await pause(leaseMs * 1.5);
      token = await use(token, before);
      const answered = await complete(token);
      if (leavesOff(answered, chance)) return;
      if (answered.kind === 'given') {
        before = token;
        token = answered.token;
      } else {
        await pause(restMs);
        token = await rejoin(token.run);
      }
    }
  }

  while (!world.isOver()) {
    const answered = await historian.ask(name, node(), { kind: 'claim' });
    if (answered.kind === 'given') await work(answered.token);
    else await pause(restMs);
  }
}

function isIdle({ phase, item }: HeldToken, { parallel }: AgentWorld): boolean {
  return phase === parallel && item === undefined;
}

/** Some wait for the human; others turn to something else, and the run goes to the next who claims it. */
function leavesOff({ kind }: Answered, chance: Seeded): boolean {
  return kind === 'ended' || kind === 'item' || (kind === 'waits' && chance.happens(0.5));
}

/** What says what became of a completion. */
const SETTLED: ReadonlySet<Answered['kind']> = new Set(['given', 'ended', 'item', 'waits']);

/** Refusals that say nothing about the run: the store is away, or somebody else is writing. */
function isForNow(code: string): boolean {
  return ['store_unavailable', 'run_changed', 'rate_limited', 'not_ready', 'internal'].includes(code);
}
