import { expect, test } from 'vitest';
import { verifyFor } from './verifications.ts';

test('of all humans together one verifies at a time, and each has one and one that waits', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const verify = (name: string) =>
    verifyFor(name, () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    });

  const ann = verify('ann');
  const again = verify('ann');
  const bob = verify('bob');
  await expect(verify('ann')).rejects.toMatchObject({ code: 'rate_limited' });
  await expect.poll(() => begun).toEqual(['ann']);
  ends[0]?.();
  await ann;
  await expect.poll(() => begun).toEqual(['ann', 'bob']);
  ends[1]?.();
  await bob;
  await expect.poll(() => begun).toEqual(['ann', 'bob', 'ann']);
  ends[2]?.();
  await again;
});
