import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('what rendering costs is measured by a program that runs [S1.82]', () => {
  const program = fileURLToPath(new URL('../bench/render.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });

  // Times are for a human to read; sizes do not depend on the machine.
  expect(printed).toMatch(/^first access, parse and render .* ms/m);
  expect(printed).toMatch(/^cached access .* ms/m);
  expect(Number(/a session keeps +(\d+) KiB/.exec(printed)?.[1])).toBeLessThan(1024);
});
