import { describe, expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

describe('the fence over HTTP', () => {
  test('says that there is no workspace, to everybody who may ask, and settles nothing', async () => {
    const { bed, run, key, token } = await claimed();
    const maria = await bed.human('maria');
    const before = await bed.records();
    const order = { action: 'accept', paths: 'all', reason: 'looked', shown: 'x' };

    for (const as of [key, token, maria]) {
      expect(await bed.get(`/runs/${run}/fence`, as)).toMatchObject({
        status: 409,
        body: { error: 'fence_failed', message: expect.stringContaining('no workspace') },
      });
    }
    expect((await bed.get(`/runs/${run}/fence/diff`, maria)).status).toBe(409);
    expect(await bed.post(`/runs/${run}/fence`, maria, order)).toMatchObject({
      status: 409,
      body: { error: 'fence_failed' },
    });
    expect(await bed.records()).toBe(before);
  });

  test('is of its own run for an agent, by key and by token, which settles nothing [adv.H1]', async () => {
    const { bed, run, token } = await claimed();
    const other = await bed.agent('a2');
    const second = await bed.claimed(other, 'a2');
    const order = { action: 'accept', paths: 'all', reason: 'mine', shown: 'x' };

    const [byKey, byToken, settled, shown] = [
      await bed.get(`/runs/${run}/fence`, other),
      await bed.get(`/runs/${second.run}/fence`, token),
      await bed.post(`/runs/${run}/fence`, token, order),
      await bed.get(`/runs/${run}/fence/diff`, token),
    ];

    expect(byKey).toMatchObject({ status: 403, body: { error: 'not_permitted' } });
    expect(byToken).toMatchObject({ status: 403, body: { error: 'token_dead' } });
    expect([settled.status, shown.status]).toEqual([403, 403]);
  });

  test('is looked at for one agent at a time: who asks without a pause waits, and keeps nobody else', async () => {
    const { bed, run, token } = await claimed();
    const other = await bed.agent('a2');
    const second = await bed.claimed(other, 'a2');

    const asked = Array.from({ length: 60 }, () => bed.get(`/runs/${run}/fence`, token));
    const [others, ...own] = await Promise.all([bed.get(`/runs/${second.run}/fence`, other), ...asked]);

    expect(others?.status).toBe(409);
    const refused = own.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body).toMatchObject({
      error: 'rate_limited',
      message: expect.stringContaining('looks at the workspace'),
    });
  });

  test('takes no order that is not one, and a link alone gives none [adv.J1]', async () => {
    const { bed, run } = await claimed();
    const operator = await bed.human();
    const path = `/runs/${run}/fence`;
    const accept = { action: 'accept', paths: ['a'], reason: 'r', shown: 'x' };

    expect(await bed.post(path, operator, accept)).toMatchObject({
      status: 403,
      body: { error: 'no_human' },
    });
    const maria = await bed.human('maria');
    for (const [body, field] of [
      [{ action: 'erase', paths: ['a'], shown: 'x' }, 'action'],
      [{ action: 'restore', paths: ['a'] }, 'shown'],
      [{ action: 'restore', paths: [], shown: 'x' }, 'paths'],
      [{ action: 'restore', paths: 'all', shown: 'x' }, 'paths'],
      [{ action: 'accept', paths: ['a'], shown: 'x' }, 'reason'],
      [{ action: 'accept', paths: ['a'], reason: ' ', shown: 'x' }, 'reason'],
      [{ ...accept, by: 'ada' }, 'by'],
    ] as const) {
      expect(await bed.post(path, maria, body)).toMatchObject({
        status: 422,
        body: { problems: [{ field }] },
      });
    }
    const { browser, as } = await bed.linked('maria');
    expect((await bed.call('POST', path, { browser, body: accept })).status).toBe(403);
    expect((await bed.post(path, as, accept)).status).toBe(403);
    const proven = await bed.post(path, as, { ...accept, passphrase: 'passphrase of maria' });
    expect(proven).toMatchObject({ status: 409, body: { error: 'fence_failed' } });
  });
});

async function claimed(): Promise<{
  readonly bed: ApiBed;
  readonly run: string;
  readonly key: string;
  readonly token: string;
}> {
  const bed = openApiBed(FIVE);
  const key = await bed.agent('a1');
  return { bed, key, ...(await bed.claimed(key, 'a1')) };
}
