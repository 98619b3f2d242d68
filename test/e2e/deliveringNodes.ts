import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Store } from '@phasegate/core/ports';
import { onTestFinished } from 'vitest';
import { createDelivery } from '../../packages/phasegate/src/runtime/webhooks/webhookDelivery.ts';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';

/** However slow the machine is, nobody loses the duty by it, nor takes back what it left. */
export const PATIENT = { duty: { silent: 3_600_000, away: 3_600_000 } };

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  /** The ids of the records it was told, in the order they came. */
  readonly told: number[];
  /** From now on nothing is answered, until what it gives is called. */
  hang(): () => void;
}

/** A receiver on this machine. */
export async function receiver(port = 0): Promise<Receiver> {
  const told: number[] = [];
  const waiting: ServerResponse[] = [];
  let isHanging = false;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      told.push((JSON.parse(text) as { id: number }).id);
      if (isHanging) waiting.push(response);
      else response.writeHead(204).end();
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/told`,
    told,
    hang() {
      isHanging = true;
      return () => {
        isHanging = false;
        for (const response of waiting.splice(0)) response.writeHead(204).end();
      };
    },
  };
}

/** Has a receiver told of everything. */
export async function addWebhook(store: Store, url: string): Promise<void> {
  const secret = `whsec_${Buffer.from('a secret').toString('base64')}`;
  const webhook = { id: 'wh_1', url, events: [], secret, addedAt: '2026-01-01T00:00:00.000Z' };
  await store.putWebhook({ ...webhook, cursor: 0, failures: 0, retryAt: null }, []);
}

/** How far the webhook is, as the database says. */
export async function cursorIn(database: string): Promise<number> {
  const [row] = (await tamper(database, 'SELECT cursor FROM webhooks')) as { cursor: number }[];
  return row?.cursor ?? -1;
}

/** A node that delivers webhooks, with its faults. */
export type Delivering = ReturnType<typeof delivering>;

/** Delivers the webhooks of a store in the way of a server; rounds are the test's. */
export function delivering(store: Store, now: () => number = Date.now) {
  const errors: unknown[] = [];
  const delivery = createDelivery({ store, now, onError: (error) => errors.push(error) });
  return { ...delivery, errors };
}
