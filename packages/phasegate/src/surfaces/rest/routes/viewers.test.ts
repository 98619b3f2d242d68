import { own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../../test/tier.ts';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

describe('what waits for a human', () => {
  test.runIf(FULL)(
    'is told from the oldest on: nobody pushes it off the list by having more wait',
    async () => {
      const { bed, maria, key } = await opened();
      const first = await escalated(bed, key);
      for (let more = 0; more < 205; more += 1) await escalated(bed, key);

      const { body } = await bed.get('/state/inbox', maria);
      const next = await bed.get(`/state/inbox?skip=${own(body, 'next_skip')}`, maria);

      const [page, rest] = [body, next.body].map((one) =>
        (own(one, 'items') as readonly { readonly run: string }[]).map(({ run }) => run),
      );
      expect(page?.[0]).toBe(first);
      expect([page?.length, rest?.length, own(next.body, 'next_skip')]).toEqual([200, 6, null]);
      expect(new Set([...(page ?? []), ...(rest ?? [])]).size).toBe(206);
    },
  );
});

describe('somebody who may only look', () => {
  test('sees where webhooks lead and not the secret in their addresses, in the list and on the audit [adv.P1]', async () => {
    const { bed, maria } = await opened();
    const url = 'https://hooks.example.com/services/T0/very-secret?token=very-secret';
    expect((await bed.post('/webhooks', maria, { url })).status).toBe(201);
    const ann = await viewer(bed);

    expect((await bed.get('/webhooks', maria)).text).toContain('very-secret');
    const [listed, searched, read] = [
      await bed.get('/webhooks', ann),
      await bed.get('/audit/search?event=webhook_added', ann),
      await bed.get('/audit?chain=project', ann),
    ];
    expect(listed.body).toMatchObject({ webhooks: [{ url: 'https://hooks.example.com/…' }] });
    expect(searched.text).toContain('https://hooks.example.com/…');
    for (const { status, text } of [listed, searched, read]) {
      expect(status).toBe(200);
      expect(text).not.toContain('very-secret');
    }
  });

  test('has the audit verified once at a time, and waits for nobody but themselves', async () => {
    const { bed, maria } = await opened();
    const ann = await viewer(bed);

    const asked = Array.from({ length: 12 }, () => bed.get('/audit/verify', ann));
    const [others, ...answers] = await Promise.all([bed.get('/audit/verify', maria), ...asked]);
    // On a busy machine requests may come so slowly that none meets another.
    for (let round = 0; round < 20 && !answers.some(({ status }) => status === 429); round += 1) {
      const more = Array.from({ length: 60 }, () => bed.get('/audit/verify', ann));
      answers.push(...(await Promise.all(more)));
    }

    expect(others).toMatchObject({ status: 200, body: { ok: true } });
    expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ ok: true });
    expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({
      error: 'rate_limited',
      message: expect.stringContaining('verifications of the audit'),
    });
  });

  test('takes the audit along, and what was not read or was given up keeps nobody from it', async () => {
    const { bed } = await opened();
    const headers = { authorization: `Bearer ${await viewer(bed)}` };
    const ask = (method: string) => bed.app.request('/api/v1/audit/export', { method, headers });
    for (let round = 0; round < 4; round += 1) {
      expect((await ask('HEAD')).status).toBe(200);
      await (await ask('GET')).body?.cancel();
    }
    const unread = [await ask('GET'), await ask('GET')];
    const third = ask('GET');
    await unread[0]?.text();

    expect(await (await third).text()).toContain('"human_added"');
    await unread[1]?.body?.cancel();
  });

  test('looks at a workspace once at a time, as an agent does', async () => {
    const { bed, key } = await opened();
    const ann = await viewer(bed);
    const run = await escalated(bed, key);

    const statuses = new Set<number>();
    // On a busy machine requests may come so slowly that none meets another.
    for (let round = 0; round < 20 && !statuses.has(429); round += 1) {
      const asked = Array.from({ length: 60 }, () => bed.get(`/runs/${run}/fence`, ann));
      for (const { status } of await Promise.all(asked)) statuses.add(status);
    }

    expect([...statuses].sort()).toEqual([409, 429]);
  });
});

test('a session that is ended is on record: by whom, whose it was, and how', async () => {
  const { bed, maria } = await opened();
  const other = await bed.human('maria');
  const { body } = await bed.get('/sessions', maria);
  const sessions = own(body, 'sessions') as readonly { readonly id: string; readonly current: boolean }[];
  const revoked = sessions.find(({ current }) => !current)?.id;

  await bed.call('DELETE', `/sessions/${revoked}`, { as: maria, body: {} });
  const third = await bed.human('maria');
  await bed.call('DELETE', '/session', { as: third, body: {} });
  await bed.call('DELETE', '/session', { as: other, body: {} });

  const found = await bed.get('/audit/search?event=signed_out', maria);
  const records = own(found.body, 'records') as readonly {
    readonly principal: string;
    readonly data: unknown;
  }[];
  expect(records.map(({ principal, data }) => [principal, data])).toEqual([
    ['human:maria', { session: expect.any(String), of: 'maria', carrier: 'bearer', how: 'signed_out' }],
    ['human:maria', { session: revoked, of: 'maria', carrier: 'bearer', how: 'revoked' }],
  ]);
});

async function opened() {
  const bed = openApiBed(FIVE);
  const maria = await bed.human('maria');
  await bed.trust('maria');
  const key = await bed.agent('a1');
  return { bed, maria, key };
}

async function viewer(bed: ReturnType<typeof openApiBed>): Promise<string> {
  const maria = await bed.project.humans.unlock('maria', 'passphrase of maria');
  await bed.project.humans.add({ name: 'ann', role: 'viewer' }, 'passphrase of ann', maria);
  const credential = { name: 'ann', passphrase: 'passphrase of ann', bearer: true };
  return String((await bed.call('POST', '/session', { body: credential })).body.session);
}

async function escalated(bed: ReturnType<typeof openApiBed>, key: string): Promise<string> {
  const { run, token } = await bed.claimed(key, 'a1');
  expect((await bed.post(`/runs/${run}/blocked`, token, { reason: 'stuck' })).status).toBe(200);
  return run;
}
