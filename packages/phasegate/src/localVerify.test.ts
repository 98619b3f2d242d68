import { expect, test } from 'vitest';
import { lazyVerify, type VerifyPlace } from './localVerify.ts';

test('an isolated engine makes no room and freezes nothing, and says what to do instead', async () => {
  const { verifying, dependencies } = lazyVerify({
    root: '/nowhere',
    stateDir: '/nowhere',
    env: { PHASEGATE_ISOLATED: '/etc/phasegate/errand.json' },
    store: {},
    sandbox: { state: async () => ({ works: true, by: 'bubblewrap' }) },
  } as unknown as VerifyPlace);

  expect(await verifying.room({} as never)).toMatchObject({
    ok: false,
    code: 'no_sandbox',
    reason: expect.stringContaining('an isolated engine has no rooms'),
    nextStep: expect.stringContaining('asks for `observed`'),
  });
  expect(await dependencies.list()).toEqual([]);
});
