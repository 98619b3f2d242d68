import { expect, test } from 'vitest';
import { seatbeltProfile } from './seatbelt.ts';

const settings = {
  hidden: ['/Users/maria/.local/state/phasegate'],
  read: ['/Users/maria/.nvm'],
  write: [],
  scratch: '/private/var/folders/phasegate-1',
  proxyPort: 4101,
};

// Golden files: a profile that changes is read by a human before it is recorded anew (`vitest -u`).
test.each([
  ['folders', { writes: ['src/**', 'test/unit/**'], commits: false }],
  ['names', { writes: ['docs/*.md', 'CHANGES.md', 'lib/**/*.{ts,js}'], commits: false }],
  ['commits', { writes: ['**'], commits: true }],
  ['nothing', { writes: [], commits: false }],
  ['network', { writes: ['src/**'], commits: false, hosts: ['registry.example.org'] }],
])('the profile for macOS (not run) of a phase that writes: %s', async (name, scope) => {
  const profile = seatbeltProfile({ workspace: '/Users/maria/it is a.project', ...scope }, settings);

  await expect(profile).toMatchFileSnapshot(`fixtures/seatbelt/${name}.sb`);
});

test('a path that Seatbelt would read otherwise is refused', () => {
  expect(() =>
    seatbeltProfile({ workspace: '/a\n(allow default)', writes: [], commits: false }, settings),
  ).toThrow('control character');
});
