import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openPage, signIn } from '../e2e/browser.ts';
import { phasegate } from '../e2e/cli.ts';
import type { Served } from '../e2e/server.ts';
import { twoNodes } from '../e2e/twoNodes.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';

const ERRAND = `workflow: errand
phases:
  GO: { gate: { human: { prompt: Good?, options: [{ label: 'Yes' }, { label: 'No' }] } } }
`;
const PASSPHRASE = 'open sesame';
const MINUTES = 180_000;

test.runIf(FULL)(
  'a person whose requests go to two nodes by turns signs in, looks and decides, and is signed out of both',
  async () => {
    const balancer = await roundRobin();
    const { project, env, one, two } = await twoNodes(ERRAND, await freshSchema(), [
      '--public-url',
      balancer.url,
    ]);
    balancer.lead([one, two]);
    const as = { env, passphrase: PASSPHRASE };
    await phasegate(project, ['humans', 'add', 'maria'], as);
    await phasegate(project, ['trust', 'errand', '--yes'], as);
    const run = String((await phasegate(project, ['start', 'errand', '--json'], { env })).json.run);
    await phasegate(project, ['done', run, '--json'], { env });
    const page = await openPage();

    await signIn(page, balancer.url, { passphrase: PASSPHRASE });
    const [own = ''] = page.url().split('#');
    await page.goto(`${own}#/decisions/${run}`);
    await page.getByRole('radio', { name: 'Yes' }).check();
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Decide: Yes' }).click();
    await page.getByText('The run has ended').waitFor();

    const status = await phasegate(project, ['status', run, '--json'], { env });
    expect(status.json).toMatchObject({ status: 'completed' });
    expect(Math.min(...balancer.led())).toBeGreaterThan(5);
    expect(balancer.refused()).toBe(0);

    const [kept] = await page.context().cookies(own);
    const asked = (node: Served) =>
      fetch(`${node.url}${new URL(own).pathname}api/v1/session`, {
        headers: { cookie: `${kept?.name}=${kept?.value}` },
      });
    expect([(await asked(one)).status, (await asked(two)).status]).toEqual([200, 200]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in$/);
    expect([(await asked(one)).status, (await asked(two)).status]).toEqual([401, 401]);
  },
  MINUTES,
);

/** A load balancer that leads each request to the next node and remembers nobody. */
async function roundRobin() {
  let nodes: readonly Served[] = [];
  const counts = [0, 0];
  let [turn, refused] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    turn = (turn + 1) % nodes.length;
    counts[turn] = (counts[turn] ?? 0) + 1;
    const { hostname, port } = new URL(nodes[turn]?.url ?? '');
    const { method, url: path, headers } = incoming;
    const asked = request({ hostname, port, method, path, headers }, (answer) => {
      if (answer.statusCode === 401) refused += 1;
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    lead(to: readonly Served[]) {
      nodes = to;
    },
    /** How many requests each node got. */
    led: () => counts,
    /** How many were refused because nobody was known to have sent them. */
    refused: () => refused,
  };
}
