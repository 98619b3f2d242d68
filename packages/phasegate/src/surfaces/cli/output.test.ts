import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { makeOutput, type Straight } from './output.ts';
import { paintFor } from './paint.ts';

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

test('a result goes straight to its descriptor; what that does not take, and all after it, to the stream', async () => {
  const straight: string[] = [];
  const { out, streamed } = outputWith((text) => {
    straight.push(text);
    return Buffer.from(text === 'two' ? 'o' : '');
  });

  for (const text of ['one', 'two', 'three']) await out.raw(text);

  expect(straight).toEqual(['one', 'two']);
  expect(streamed.join('')).toBe('othree');
  expect(out.closed).toBe(false);
});

test('a reader that has gone away is told nothing more, and no stream is made for it', async () => {
  const { out, streamed } = outputWith(() => null);

  await out.raw('one');
  await out.raw('two');

  expect(out.closed).toBe(true);
  expect(streamed).toEqual([]);
});

test('a descriptor that cannot be written to fails the write, as a stream would', async () => {
  const { out } = outputWith(() => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  });

  await expect(out.raw('one')).rejects.toMatchObject({ code: 'ENOSPC' });
});

function outputWith(straight: Straight) {
  const streamed: string[] = [];
  const stdout = new Writable({
    write(chunk, _, done) {
      streamed.push(String(chunk));
      done();
    },
  });
  const stderr = () => stdout;
  return {
    out: makeOutput({ stdout, straight, stderr, json: false, paint: paintFor(false), terminal: false }),
    streamed,
  };
}
