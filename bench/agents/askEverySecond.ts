import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** What became of all that was asked. */
export interface Asked {
  readonly answered: number;
  readonly failed: number;
  /** Milliseconds in which half of the answers came. */
  readonly half: number;
  /** The same for 99 of 100. */
  readonly most: number;
  readonly slowest: number;
  /** Why some were not answered, and how often. */
  readonly reasons: ReadonlyMap<string, number>;
}

const BODY = JSON.stringify({ tool: 'read_files', input: { path: 'src/parser.ts' } });

/** Lets each token check a tool once a second on a connection that stays open, all spread over the second. */
export async function askEverySecond(
  port: number,
  tokens: readonly string[],
  seconds: number,
): Promise<Asked> {
  const took: number[] = [];
  const reasons = new Map<string, number>();
  const begun = performance.now();
  const work = async (token: string, index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let second = 0; second < seconds; second++) {
      const due = begun + (second + index / tokens.length) * 1000;
      await wait(Math.max(0, due - performance.now()));
      const asked = performance.now();
      const reason = await check(port, token, agent).catch((error: Error) => error.message);
      if (reason === null) took.push(performance.now() - asked);
      else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    agent.destroy();
  };
  await Promise.all(tokens.map(work));
  took.sort((one, other) => one - other);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  return {
    answered: took.length,
    failed: [...reasons.values()].reduce((sum, count) => sum + count, 0),
    half: at(0.5),
    most: at(0.99),
    slowest: at(1),
    reasons,
  };
}

/** Null where it was allowed; else what came in place of that. */
function check(port: number, token: string, agent: Agent): Promise<string | null> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(BODY),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method: 'POST', path: '/api/v1/tools/check', headers, agent },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const isAllowed = response.statusCode === 200 && JSON.parse(text).allowed === true;
          resolve(isAllowed ? null : `${response.statusCode} ${text.slice(0, 200)}`);
        });
      },
    );
    sent.on('error', reject);
    sent.end(BODY);
  });
}
