import { connect, PhasegateClientError } from '@phasegate/sdk';

/**
 * A scripted agent: claims runs and works on each to its end, until it is told to stop. In every phase it also tries
 * a tool the phase does not have, and must be refused. Each thing that took effect is a line of JSON on stdout.
 */
async function work(): Promise<void> {
  const { PHASEGATE_URL: url, PHASEGATE_KEY: key } = process.env;
  if (url === undefined || key === undefined) throw new Error('PHASEGATE_URL and PHASEGATE_KEY must be set');
  const client = connect({ url, key });
  // The key says who this is.
  const { name } = await client.whoAmI();
  let stopping = false;
  process.stdin.on('end', () => {
    stopping = true;
  });
  process.stdin.resume();
  say({ ready: name });
  while (!stopping) {
    const claimed = await client.claimTask(name);
    if (claimed === null) await new Promise((resolve) => setTimeout(resolve, 100));
    else await finish(client, claimed.task).catch(lostOrThrow);
  }
}

type Client = ReturnType<typeof connect>;
type Task = NonNullable<Awaited<ReturnType<Client['claimTask']>>>['task'];

/** From whatever phase the run stands in to its end. */
async function finish(client: Client, task: Task): Promise<void> {
  let phase = task.phase;
  while (phase !== null) {
    const act = ACTS[String(phase)];
    if (act === undefined) throw new Error(`there is no phase ${phase}`);
    const { artifacts, target } = await act(client, String(task.params.name));
    const forbidden = await client.checkTool('bash', { command: 'true' });
    if (forbidden.allowed) throw new Error(`bash was allowed in ${phase}`);
    const moved = await client.requestTransition(target, artifacts);
    say({ run: task.id, left: phase, by: process.pid });
    phase = moved.phase;
  }
}

interface Act {
  readonly target: string | null;
  readonly artifacts: Readonly<Record<string, unknown>>;
}

const RED = { total: 1, passed: 0, failed: 1, skipped: 0 };
const GREEN = { total: 1, passed: 1, failed: 0, skipped: 0 };

const ACTS: Readonly<Record<string, (client: Client, name: string) => Promise<Act>>> = {
  async PLAN(client, name) {
    await client.readFile('brief.md');
    return { target: 'TDD', artifacts: { plan: { summary: `make ${name}` } } };
  },
  async TDD(client, name) {
    await client.writeFile(`test/${name}.txt`, `${name} is there\n`);
    return { target: 'IMPL', artifacts: { test_run_result: RED } };
  },
  async IMPL(client, name) {
    await client.writeFile(`src/${name}.txt`, `${name}\n`);
    return { target: 'REVIEW', artifacts: { test_run_result: GREEN } };
  },
  async REVIEW(client, name) {
    await client.readFile(`src/${name}.txt`);
    return { target: 'COMPLETE', artifacts: { review: { decision: 'approved' } } };
  },
  async COMPLETE() {
    return { target: null, artifacts: { report: 'it is done' } };
  },
};

/** A run that went to another agent is no longer ours to finish; anything else is a fault. */
function lostOrThrow(error: unknown): void {
  // `run_changed`: it went to another between two looks of the server.
  const lost = ['token_dead', 'not_permitted', 'not_your_run', 'run_changed'];
  if (!(error instanceof PhasegateClientError) || !lost.includes(error.code)) throw error;
  say({ lost: error.code });
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await work();
