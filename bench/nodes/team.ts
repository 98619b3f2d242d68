import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seconds } from '../transitions/measure.ts';
import type { Came, Stretch } from './contender.ts';

/** What a team did together in one stretch. */
export interface Measured {
  /** A second, of all together. */
  readonly rate: number;
  /** Milliseconds of the processor for each: of the nodes, and of PostgreSQL. */
  readonly cpu: { readonly nodes: number; readonly database: number };
}

/** A process that works when it is told to. */
export interface Member {
  tell(step: 'prepare' | 'go' | 'end', stretch?: Stretch): Promise<Came | null>;
}

/** Starts one; it is ready when this answers. */
export async function startMember(program: string, words: readonly string[]): Promise<Member> {
  const child = fork(join(import.meta.dirname, `${program}.ts`), words);
  await answerOf(child);
  return {
    async tell(step, stretch) {
      child.send({ step, stretch });
      const came = await answerOf(child);
      if (step === 'end') await once(child, 'exit');
      return came;
    },
  };
}

async function answerOf(child: ChildProcess): Promise<Came | null> {
  const ended = new AbortController();
  const gone = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a process of the benchmark ended by itself');
  });
  gone.catch(() => undefined);
  const [message] = (await Promise.race([once(child, 'message'), gone])) as [
    { readonly came: Came | null } | { readonly failed: string },
  ];
  ended.abort();
  if ('failed' in message) throw new Error(message.failed);
  return message.came;
}

/** One stretch of all members at the same time; `server` is the first process of PostgreSQL. */
export async function together(
  members: readonly Member[],
  stretch: Stretch,
  server: number,
): Promise<Measured> {
  for (const member of members) await member.tell('prepare', stretch);
  let came: readonly (Came | null)[] = [];
  const before = processorOf(server);
  const taken = await seconds(async () => {
    came = await Promise.all(members.map((member) => member.tell('go', stretch)));
  });
  const database = processorOf(server) - before;
  const count = came.reduce((sum, one) => sum + (one?.count ?? 0), 0);
  const nodes = came.reduce((sum, one) => sum + (one?.cpu ?? 0), 0);
  return { rate: count / taken, cpu: { nodes: nodes / count, database: database / count } };
}

/** Milliseconds of the processor that a process and those it started have used, with those that ended; 0 where unknown. */
function processorOf(pid: number): number {
  let ticks = 0;
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const fields = statOf(name);
      if (fields === null || (Number(name) !== pid && Number(fields[1]) !== pid)) continue;
      // Of itself, and with the first process of those that ended.
      const used = Number(name) === pid ? fields.slice(11, 15) : fields.slice(11, 13);
      ticks += used.reduce((sum, field) => sum + Number(field), 0);
    }
  } catch {
    return 0;
  }
  return ticks * 10;
}

/** What follows a process's name: its state, its parent, …; null where it has ended. */
function statOf(name: string): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
