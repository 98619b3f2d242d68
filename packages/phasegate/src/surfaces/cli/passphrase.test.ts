import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
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

test('descriptor 0 is stdin', async () => {
  expect(await readPassphrase(0, Readable.from(['secret\n']))).toBe('secret');
});

test('a descriptor that is not open, holds nothing, or too much is refused as wrong usage', async () => {
  await expect(readPassphrase(987, Readable.from([]))).rejects.toMatchObject({
    code: 'usage',
    message: 'file descriptor `987` cannot be read: EBADF',
  });
  await expect(readFrom('\n')).rejects.toMatchObject({ code: 'usage' });
  await expect(readFrom('x'.repeat(5000))).rejects.toThrow('over 4096 bytes');
  await expect(readPassphrase(1, Readable.from([]))).rejects.toThrow('for output');
});

test('a pipe from another process is read until its writer closes it', () => {
  const script = `
    import { readPassphrase } from ${JSON.stringify(new URL('./passphrase.ts', import.meta.url).href)};
    console.log(JSON.stringify(await readPassphrase(3, process.stdin)));
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
    return await readPassphrase(fd, Readable.from([]));
  } finally {
    closeSync(fd);
  }
}
