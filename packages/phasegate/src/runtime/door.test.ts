import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const HERE = fileURLToPath(new URL('..', import.meta.url));

test('runs are written by the door alone', () => {
  const files = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|fixtures\/|^stores\/|^testing\//.test(file))
    .filter((file) => /\bstore\.save\(/.test(readFileSync(`${HERE}/${file}`, 'utf8')));
  expect(files.toSorted()).toEqual(['runtime/door.ts']);
});
