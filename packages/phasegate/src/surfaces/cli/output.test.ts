import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

test('a reader that goes away ends the output without a fault or a word', async () => {
  const script = `
    import { makeOutput } from ${JSON.stringify(new URL('./output.ts', import.meta.url).href)};
    import { paintFor } from ${JSON.stringify(new URL('./paint.ts', import.meta.url).href)};
    const { stdout, stderr } = process;
    const out = makeOutput({ stdout, stderr: () => stderr, json: false, paint: await paintFor(false), terminal: false });
    while (!out.closed) await out.raw('x'.repeat(65536));
    process.exitCode = 7;
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });

  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = await once(child, 'close');

  expect(complaint).toBe('');
  expect(code).toBe(7);
});
