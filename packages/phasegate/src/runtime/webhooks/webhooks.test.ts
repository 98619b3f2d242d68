import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@phasegate/core';
import { afterEach, describe, expect, test } from 'vitest';
import { ADA, claim, done, EVE, GATED, openWith, queue } from '../fixtures/agentsAtWork.ts';
import type { MemoryProject } from '../fixtures/openMemoryProject.ts';
import type { WebhookRecord } from '../ports.ts';
import { createDelivery, RETRY_AFTER_MS } from './webhookDelivery.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly id: number;
    readonly event: string;
    readonly run: string | null;
    readonly data: unknown;
  };
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A receiver on this machine that answers as it is told, one status after the other. */
async function receiver(...statuses: readonly number[]) {
  const received: Received[] = [];
  const answers = [...statuses];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      const status = answers.shift() ?? 204;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/told` };
}

function delivering(it: MemoryProject) {
  const errors: unknown[] = [];
  const now = () => Date.parse(it.now());
  const delivery = createDelivery({ store: it.store, now, onError: (error) => errors.push(error) });
  const round = async () => {
    await delivery.deliver();
    await delivery.settled();
    expect(errors).toEqual([]);
  };
  return { ...delivery, round };
}

/** As a receiver does it that knows Standard Webhooks and nothing of us. */
function isSigned({ headers, text }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

const add = (
  { project }: MemoryProject,
  url: string,
  events: readonly string[] = [],
): Promise<WebhookRecord> => project.webhooks.add(url, { events, by: null });

describe('a webhook', () => {
  test('is told what a human should look at, signed, once, in order [S2.75 S2.64]', async () => {
    const it = openWith(GATED);
    const { received, url } = await receiver();
    const { secret, id } = await add(it, url);
    const { round } = delivering(it);

    const run = await queue(it);
    await done(it, await claim(it, ADA));
    await round();
    await it.project.as(EVE).submit(run, { kind: 'stop', reason: 'enough' });
    await round();
    await round();

    expect(received.map(({ body }) => body.event)).toEqual(['gate_opened', 'run_ended']);
    expect(received[0]?.body).toMatchObject({ run, time: it.now(), data: { phase: 'PLAN' } });
    expect(received[1]?.body).toMatchObject({ run: null, data: { run, status: 'stopped' } });
    for (const one of received) {
      expect(isSigned(one, secret)).toBe(true);
      expect(isSigned({ ...one, text: `${one.text} ` }, secret)).toBe(false);
      expect(one.headers['webhook-id']).toBe(`msg_${id}_${one.body.id}`);
      expect(one.headers['webhook-timestamp']).toBe(String(Math.floor(Date.parse(it.now()) / 1000)));
      expect(one.headers['content-type']).toBe('application/json');
    }
  });

  test('is told of every anchor, and where none was made because the audit is broken [adv.M1]', async () => {
    const it = openWith();
    const { received, url } = await receiver();
    const { secret } = await add(it, url, ['audit_anchored']);
    const { round } = delivering(it);
    const note = (data: JsonObject) =>
      it.project.server.note('audit_anchored', { kind: 'engine', name: 'phasegate' }, data);

    await note({ ok: true, anchor: 'place.signature', given: [], failed: [] });
    await note({ ok: false, message: 'the audit does not go on from there' });
    await round();

    expect(received.map(({ body }) => body.data)).toEqual([
      { ok: true, anchor: 'place.signature', given: [], failed: [] },
      { ok: false, message: 'the audit does not go on from there' },
    ]);
    expect(received.every((one) => isSigned(one, secret))).toBe(true);
  });

  test('is told only what it asks for, and nothing of before it was there', async () => {
    const it = openWith();
    const { received, url } = await receiver();
    await queue(it);
    await add(it, url, ['run_claimed', 'token_issued']);
    const { round } = delivering(it);

    await queue(it);
    await claim(it, ADA);
    await round();

    expect(received.map(({ body }) => body.event)).toEqual(['run_claimed', 'token_issued']);
  });

  test('is not told what a decision was made from, nor what a tool was called with', async () => {
    const it = openWith([{ id: 'PLAN', fields: [{ name: 'plan', type: 'str' }] }]);
    const { received, url } = await receiver();
    await add(it, url, ['phase_refused', 'tool_judged', 'run_started']);
    const { round } = delivering(it);

    const run = await queue(it);
    const claimed = await claim(it, ADA);
    await it.project.as(ADA).judgeTool(run, { tool: 'bash', input: { command: 'echo SECRET' } });
    await done(it, claimed, { artifacts: { plan: ['SECRET'] } });
    await round();

    expect(received.map(({ body }) => body.event)).toEqual(['run_started', 'tool_judged', 'phase_refused']);
    expect(received.map(({ text }) => text).join()).not.toMatch(/SECRET|"recorded"|"input"/);
    expect(JSON.stringify(await it.store.feed(0, 99))).toMatch(/echo SECRET.*"plan":\["SECRET"\]/);
  });

  test('that does not take it is tried again later, with the same id, before anything newer', async () => {
    const it = openWith();
    const { received, url } = await receiver(500, 302);
    const { secret } = await add(it, url, ['run_claimed']);
    const { round } = delivering(it);
    const runs = [await queue(it), await queue(it)];
    await claim(it, ADA);
    await claim(it, ADA);

    await round();
    await round();
    expect(received).toHaveLength(1);
    it.pass(1);
    await round();
    expect(received).toHaveLength(2);
    expect(await it.project.webhooks.list()).toMatchObject([{ failures: 2 }]);
    it.pass(4);
    await round();
    expect(received).toHaveLength(2);
    it.pass(1);
    await round();

    expect(received.map(({ body }) => body.run)).toEqual([runs[0], runs[0], runs[0], runs[1]]);
    expect(new Set(received.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(received.every((one) => isSigned(one, secret))).toBe(true);
    expect(await it.project.webhooks.list()).toMatchObject([{ failures: 0, retryAt: null }]);
  });

  test('that takes nothing at all is given up on after ten attempts, and gets what comes next', async () => {
    const it = openWith();
    const { received, url } = await receiver(...Array.from({ length: 10 }, () => 503));
    const other = await receiver();
    const { id } = await add(it, url, ['run_claimed', 'webhook_failed']);
    await add(it, other.url);
    const { round } = delivering(it);
    const runs = [await queue(it), await queue(it)];
    await claim(it, ADA);
    await claim(it, ADA);

    await round();
    for (const wait of RETRY_AFTER_MS) {
      it.pass(wait / 1000);
      await round();
    }
    await round();

    expect(received.map(({ body }) => body.run)).toEqual([
      ...Array.from({ length: 10 }, () => runs[0]),
      runs[1],
    ]);
    const failed = (await it.store.history(null, { after: 0, limit: 99 })).filter(
      ({ event }) => event === 'webhook_failed',
    );
    expect(failed).toMatchObject([{ data: { webhook: id, attempts: 10, message: 'it answered 503' } }]);
    // Others hear of it, itself does not.
    expect(other.received.map(({ body }) => body.event)).toEqual(['webhook_failed']);
    expect(await it.store.verify()).toMatchObject({ ok: true });
  });

  test('that refuses one record gets the later ones, and the refused one is a dead letter of its own [adv.O6]', async () => {
    const it = openWith();
    const { received, url } = await receiver(400, 400, 400);
    const other = await receiver();
    const { id } = await add(it, url, ['run_claimed']);
    await add(it, other.url, ['run_claimed']);
    const { round } = delivering(it);
    const runs = [await queue(it), await queue(it)];
    await claim(it, ADA);
    await claim(it, ADA);

    await round();
    it.pass(1);
    await round();
    it.pass(5);
    await round();

    expect(received.map(({ body }) => body.run)).toEqual([runs[0], runs[0], runs[0], runs[1]]);
    expect(other.received.map(({ body }) => body.run)).toEqual(runs);
    expect(await it.project.webhooks.deadLetters()).toMatchObject([
      { webhook: id, record: received[0]?.body.id, message: 'it answered 400' },
    ]);
  });

  test('that nobody answers at is a failure like any other', async () => {
    const it = openWith();
    const gone = await receiver();
    await closing.pop()?.();
    await add(it, gone.url, ['run_claimed']);
    const { round } = delivering(it);
    await queue(it);
    await claim(it, ADA);
    await round();
    expect(await it.project.webhooks.list()).toMatchObject([{ failures: 1 }]);
  });

  test('gets what happened while nobody delivered, from where it was left [S2.63]', async () => {
    const it = openWith(undefined, { sqlite: true });
    const { received, url } = await receiver();
    await add(it, url, ['run_claimed']);
    const before = delivering(it);
    const runs = [await queue(it), await queue(it)];
    await claim(it, ADA);
    await before.round();
    await before.stop();
    await claim(it, ADA);
    await it.project.close();

    const again = openWith(undefined, { sqlite: it.folder });
    await delivering(again).round();

    expect(received.map(({ body }) => body.run)).toEqual(runs);
    await again.project.close();
  });
});

describe('the list of webhooks', () => {
  test('shows no secret, and the audit holds none', async () => {
    const it = openWith();
    const { id, secret, url } = await add(it, 'https://example.org/told', ['run_ended']);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = await it.project.webhooks.list();
    expect(listed).toMatchObject([{ id, url, events: ['run_ended'], failures: 0 }]);
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect(JSON.stringify(await it.store.history(null, { after: 0, limit: 9 }))).not.toContain(secret);
    await it.project.webhooks.remove(id, null);
    expect(await it.project.webhooks.list()).toEqual([]);
    await expect(it.project.webhooks.remove(id, null)).rejects.toMatchObject({ code: 'usage' });
  });

  test.each([
    'nonsense',
    'http://example.org/',
    'http://127.0.0.1.example.org/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'https://eve:secret@example.org/',
    `https://example.org/${'x'.repeat(3000)}`,
  ])('takes no address like `%s`', async (url) => {
    const it = openWith();
    await expect(add(it, url)).rejects.toMatchObject({ code: 'usage' });
  });

  test.each(['https://example.org/a', 'http://localhost:1/a', 'http://127.0.0.1:1/a', 'http://[::1]:1/a'])(
    'takes `%s`',
    async (url) => {
      const it = openWith();
      expect((await add(it, url)).url).toBe(url);
    },
  );

  test('takes no event there is not, and says which was meant', async () => {
    const it = openWith();
    await expect(add(it, 'https://example.org/', ['run_endet'])).rejects.toThrow(/`run_ended`/);
  });

  test('is a human’s to change once there is one [C18]', async () => {
    const it = openWith();
    const { id } = await add(it, 'https://example.org/');
    await it.project.humans.add('eve', 'a long passphrase', null);
    const eve = await it.project.humans.unlock('eve', 'a long passphrase');
    await expect(add(it, 'https://example.org/')).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(it.project.webhooks.remove(id, null)).rejects.toMatchObject({ code: 'not_permitted' });
    await it.project.webhooks.add('https://example.org/', { events: [], by: eve });
    await it.project.webhooks.remove(id, eve);
    expect(await it.project.webhooks.list()).toHaveLength(1);
  });
});
