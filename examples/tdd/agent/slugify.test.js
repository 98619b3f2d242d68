import assert from 'node:assert/strict';
import test from 'node:test';
import { slugify } from '../src/slugify.js';

test('AC-1 words become lower case, joined by hyphens', () => {
  assert.equal(slugify('Hello Wide World'), 'hello-wide-world');
});

test('AC-2 what is neither letter nor digit is left out', () => {
  assert.equal(slugify('  What?! Again… '), 'what-again');
});

test('AC-3 accents are taken off', () => {
  assert.equal(slugify('Crème brûlée'), 'creme-brulee');
});
