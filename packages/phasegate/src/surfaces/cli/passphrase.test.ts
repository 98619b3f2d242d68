import { spawnSync } from 'node:child_process';
import { fstatSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readPassphrase } from './passphrase.ts';

test('a passphrase is read from a file descriptor to its end, without its line break', async () => {
  expect(await readFrom('correct horse\n')).toBe('correct horse');
  expect(await readFrom('two\nlines\n\n')).toBe('two\nlines\n');
  expect(await readFrom(' blanks stay \r\n')).toBe(' blanks stay ');
});

test('a file on stdin cannot be read again when the passphrase was taken [adv.P8]', () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { readPassphrase } from ${JSON.stringify(new URL('./passphrase.ts', import.meta.url).href)};
    console.log(JSON.stringify([await readPassphrase(0, () => process.stdin), readFileSync('/proc/self/fd/0', 'utf8')]));
  `;
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-fd-')), 'secret');
  writeFileSync(file, 'correct horse');
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: [openSync(file, 'r'), 'pipe', 'pipe'],
  });

  expect(child.stderr).toBe('');
  expect(JSON.parse(child.stdout)).toEqual(['correct horse', '']);
});

test('descriptor 0 is stdin', async () => {
  expect(await readPassphrase(0, () => Readable.from(['secret\n']))).toBe('secret');
});

test('a descriptor that is not open, holds nothing, or too much is refused as wrong usage', async () => {
  await expect(readPassphrase(987, () => Readable.from([]))).rejects.toMatchObject({
    code: 'usage',
    message: 'file descriptor `987` cannot be read: it is not open',
    hint: expect.stringContaining('`npx` does not pass descriptors on'),
  });
  await expect(readFrom('\n')).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('--passphrase-fd 3 3<FILE'),
  });
  await expect(readFrom('x'.repeat(5000))).rejects.toThrow('over 4096 bytes');
  await expect(readPassphrase(1, () => Readable.from([]))).rejects.toThrow('for output');
});

test('a pipe from another process is read until its writer closes it', () => {
  const script = `
    import { readPassphrase } from ${JSON.stringify(new URL('./passphrase.ts', import.meta.url).href)};
    console.log(JSON.stringify(await readPassphrase(3, () => process.stdin)));
  `;
  const child = spawnSync(
    'sh',
    [
      '-c',
      '(printf "from a "; printf "pipe\\n") | "$0" --input-type=module -e "$1" 3<&0 </dev/null',
      process.execPath,
      script,
    ],
    { encoding: 'utf8' },
  );

  expect(child.stderr).toBe('');
  expect(JSON.parse(child.stdout)).toBe('from a pipe');
});

async function readFrom(text: string): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-fd-')), 'secret');
  writeFileSync(file, text);
  const fd = openSync(file, 'r');
  try {
    return await readPassphrase(fd, () => Readable.from([]));
  } finally {
    // Closed when it was read, whatever came of it: what is started later must not find it.
    expect(() => fstatSync(fd)).toThrow('EBADF');
  }
}
