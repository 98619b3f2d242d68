import { expect, test } from 'vitest';
import { maskedUrl } from './maskedUrl.ts';

test.each([
  ['https://hooks.example.com/services/T0/B0/secret', 'https://hooks.example.com/…'],
  ['https://example.com/?token=secret', 'https://example.com/…'],
  ['https://example.com/#secret', 'https://example.com/…'],
  ['https://name:word@example.com/', 'https://example.com/'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
  ['not an address', '…'],
])('%s is shown as %s', (address, shown) => {
  expect(maskedUrl(address)).toBe(shown);
});
