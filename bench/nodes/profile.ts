import { openPostgresStore } from '@phasegate/postgres';
import { folder, print } from '../transitions/measure.ts';
import { openWorkload, PHASES } from '../transitions/workload.ts';

/** Where the time of one transition goes when they come one at a time: on the way to PostgreSQL and back, or here. */
export async function printProfile(database: string, runs: number): Promise<void> {
  const spans: Record<Part, Span> = { reads: span(), statements: span(), commit: span() };
  const workload = await openWorkload(folder(), {
    team: 'profile',
    open: (seal) =>
      openPostgresStore({
        url: `${database}?schema=profile`,
        seal,
        intercept: (query, kind) => async (text, values) => {
          const part = kind === 'reading' ? 'reads' : text === 'COMMIT' ? 'commit' : 'statements';
          const answer = query(text, values);
          // It is sent with the statements before it, and begins when they are done.
          if (part === 'commit') await spans.statements.over();
          const end = spans[part].begin();
          return answer.finally(end);
        },
      }),
  });
  const walk = async (some: readonly string[]) => {
    for (const run of some) for (const phase of PHASES) await workload.complete(run, phase);
  };
  const made = await workload.start(runs * 2);
  await walk(made.slice(0, runs));
  for (const part of Object.values(spans)) part.reset();
  const start = performance.now();
  await walk(made.slice(runs));
  const whole = (performance.now() - start) / (runs * PHASES.length);
  await workload.close();

  const each = (part: Part) => spans[part].total() / (runs * PHASES.length);
  const count = (part: Part) => (spans[part].count() / (runs * PHASES.length)).toFixed(1);
  const away = each('reads') + each('statements') + each('commit');
  const line = (name: string, value: number) =>
    print(
      `  ${`${value.toFixed(2)} ms`.padStart(9)}  ${((value / whole) * 100).toFixed(0).padStart(3)}%  ${name}`,
    );
  print(`\none transition of one node, one at a time, takes ${whole.toFixed(2)} ms:`);
  line(`${count('reads')} reads before it, at once`, each('reads'));
  line(
    `${count('statements')} statements of its transaction, sent in three groups, the last with the commit`,
    each('statements'),
  );
  line('the commit, with the wait for the disk', each('commit'));
  line('this process: deciding, sealing, signing, and what it waits for between', whole - away);
}

type Part = 'reads' | 'statements' | 'commit';

interface Span {
  /** Gives what ends it. */
  begin(): () => void;
  /** Answers when none is under way. */
  over(): Promise<void>;
  /** Milliseconds in which at least one was under way. */
  total(): number;
  count(): number;
  reset(): void;
}

function span(): Span {
  let [open, since, total, count] = [0, 0, 0, 0];
  let waiting: (() => void)[] = [];
  return {
    begin() {
      if (open === 0) since = performance.now();
      open += 1;
      count += 1;
      return () => {
        open -= 1;
        if (open > 0) return;
        total += performance.now() - since;
        for (const resume of waiting) resume();
        waiting = [];
      };
    },
    over: () => (open === 0 ? Promise.resolve() : new Promise((resume) => waiting.push(resume))),
    total: () => total,
    count: () => count,
    reset() {
      [total, count] = [0, 0];
    },
  };
}
