import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FULL } from './tier.ts';

/** Limits of the designs hold on a machine of their own; on a busy one ten times as much shows what is really slow. */
const TIMES = 10;

// The one exception to the rule that no test asserts elapsed time: the designs set these limits themselves.
describe.runIf(FULL)('the limits of the designs, ten times over', () => {
  test('a phase and a task of a dynamic run: 100 ms at first, 5 ms from then on [S1.69 S1.70 S1.94]', () => {
    const printed = benchmark('render');

    const [, first] = /^first access.* the very first ([\d.]+) ms/m.exec(printed) ?? [];
    const [, cached] = /^cached access +([\d.]+) ms/m.exec(printed) ?? [];
    expect(Number(first)).toBeLessThan(TIMES * 100);
    expect(Number(cached)).toBeLessThan(TIMES * 5);
  });

  test.each([
    ['a tool call is judged', 'check', 100],
    ['a phase is completed', 'transitionHttp', 500],
  ])('%s over HTTP, and is in the audit, within its limit [S2.70 S2.71]', (_what, name, limit) => {
    const printed = benchmark(name, 'tiny');

    const slowest = [...printed.matchAll(/^ +phasegate .* p99 ([\d.]+) ms/gm)].map(([, time]) =>
      Number(time),
    );
    expect(slowest.length).toBeGreaterThan(0);
    for (const time of slowest) expect(time).toBeLessThan(TIMES * limit);
  });
});

function benchmark(name: string, ...words: readonly string[]): string {
  const program = fileURLToPath(new URL(`../bench/${name}.ts`, import.meta.url));
  return execFileSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
