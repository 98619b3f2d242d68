import { expect, test } from 'vitest';
import { buildIn, hostsIn, unverifiedIn } from './lockfiles.ts';

test('an npm lockfile needs the hosts of its packages, and not those of their home pages [S2.2]', () => {
  const packages = {
    'node_modules/a': {
      resolved: 'https://registry.example/a/-/a-1.0.0.tgz',
      funding: { url: 'https://elsewhere.example/a' },
    },
    'node_modules/b': { resolved: 'https://Packages.example/b.tgz' },
  };

  expect(hostsIn({ kind: 'npm', text: JSON.stringify({ packages }) })).toEqual([
    'packages.example',
    'registry.example',
  ]);
});

test.each([
  ['--no-binary :all:', true],
  ['sum==1.0 \\\n  --hash=sha256:00 --config-settings=x', true],
  // pip takes the beginning of an option for all of it.
  ['--no-bin :all:', true],
  ['--no-b=:all:', true],
  ['-r https://hosts.example/more.txt', true],
  ['-c more.txt', true],
  ['sum @ https://hosts.example/download/17', true],
  ['-e .', true],
  ['./sum', true],
  ['sum @ git+https://hosts.example/sum', true],
  ['https://hosts.example/sum-1.0.tar.gz', true],
  ['sum @ https://hosts.example/sum-1.0-py3-none-any.whl', false],
  ['sum==1.0 --hash=sha256:00 # --no-binary is not wanted', false],
  ['-i https://hosts.example/simple/\nsum-of-files==1.0', false],
])('of requirements, %j is told to build something: %s [S2.2]', (text, builds) => {
  expect(buildIn({ kind: 'pip', text }) !== null).toBe(builds);
});

test('hosts that nobody vouches for are told, so that a human allows them by name [S2.2]', () => {
  const text =
    '--trusted-host=one.example\nsum==1.0\n--trusted-host two.example:8443 # --trusted-host three.example\n';

  expect(unverifiedIn({ kind: 'pip', text })).toEqual(['one.example', 'two.example:8443']);
  expect(unverifiedIn({ kind: 'npm', text })).toEqual([]);
});
