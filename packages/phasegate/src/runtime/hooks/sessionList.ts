import { own } from '@phasegate/core';
import { RINGS } from '@phasegate/core/model';
import type { HookClient, HookSession, Store } from '../ports.ts';

/** Every session that was heard of, by client and session. */
export async function allSessions(store: Pick<Store, 'keptAll'>): Promise<readonly HookSession[]> {
  return (await store.keptAll('session')).map(({ key, data }) => {
    const [client = '', session = ''] = key.split('/');
    const text = (name: string) => {
      const value = own(data, name);
      return typeof value === 'string' ? value : null;
    };
    return {
      client: client as HookClient,
      session,
      run: text('run'),
      ring: RINGS.find((one) => one === own(data, 'ring')) ?? 'served',
      firstAt: text('first_at') ?? '',
      lastAt: text('last_at') ?? '',
      ended: own(data, 'ended') === true,
      transcript: text('transcript'),
      found: text('found'),
    };
  });
}
