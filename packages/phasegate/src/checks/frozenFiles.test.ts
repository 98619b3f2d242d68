import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkInput, temporaryFolder } from './fixtures/checkInput.ts';
import { differenceFrom, freezeFiles } from './frozenFiles.ts';

test.each([
  ['leads elsewhere', (root: string) => repoint(root, 'tests/sum.test.mjs', '../src/easy.mjs')],
  ['leads to what was changed', (root: string) => writeFileSync(join(root, 'src/real.mjs'), 'loosened')],
  [
    'leads to a folder that was changed',
    (root: string) => writeFileSync(join(root, 'kit/a.mjs'), 'loosened'),
  ],
])('a frozen test behind a link is another one where the link %s [adv.I6]', async (_, act) => {
  const root = await temporaryFolder();
  for (const folder of ['tests', 'src', 'kit']) mkdirSync(join(root, folder));
  for (const file of ['src/real.mjs', 'src/easy.mjs', 'kit/a.mjs']) writeFileSync(join(root, file), 'strict');
  symlinkSync('../src/real.mjs', join(root, 'tests/sum.test.mjs'));
  symlinkSync('../kit', join(root, 'tests/kit'));
  symlinkSync('/nowhere', join(root, 'tests/out'));
  const frozen = () => freezeFiles(['tests/**'], checkInput({}, { workspace: root }));
  const before = await frozen();
  expect(differenceFrom(before, await frozen())).toBeNull();

  act(root);

  expect(differenceFrom(before, await frozen())).toMatch(/`tests\/(?:sum\.test\.mjs|kit)` was changed/);
});

function repoint(root: string, path: string, target: string): void {
  rmSync(join(root, path));
  symlinkSync(target, join(root, path));
}
