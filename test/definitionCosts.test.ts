import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createYamlLoader } from '../packages/phasegate/src/loaders/yaml/yamlLoader.ts';

/** What reading a file with so many wrong gates takes, at best. */
async function costOf(gates: number): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-costs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const lines = Array.from({ length: gates }, (_, index) => `  P${index}: {zz: 1}\n`).join('');
  const costs: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const path = `w${turn}.workflow.yaml`;
    writeFileSync(join(root, path), `workflow: a${turn}\nphases: {A: {}}\ngates:\n${lines}`);
    const loader = createYamlLoader({ known: { checks: {} } });
    const start = performance.now();
    const { problems } = await loader.load({ root, path });
    costs.push(performance.now() - start);
    expect(problems.length).toBeGreaterThan(0);
  }
  return Math.min(...costs);
}

// A file of ten times as many took ninety times as long: one of 400 KB held everybody for fourteen seconds.
test('a definition with many mistakes costs what it has of them, and not the square', async () => {
  await costOf(500);
  const [few, many] = [await costOf(700), await costOf(7000)];

  expect(many / few).toBeLessThan(40);
});
