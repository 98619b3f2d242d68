import { expect, test } from 'vitest';
import { demandSafeBinding } from './safeBinding.ts';

test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]'])(
  'plain HTTP is served on `%s`, which only this machine reaches [C7]',
  (host) => {
    expect(() => demandSafeBinding({ host, tls: false, behindProxy: false })).not.toThrow();
  },
);

test.each([
  '0.0.0.0',
  '::',
  '192.168.1.5',
  'example.com',
  '127.0.0.1.example.com',
  'localhost.example.com',
  '',
])('plain HTTP on `%s` is refused unless TLS or a proxy protects it [C7]', (host) => {
  expect(() => demandSafeBinding({ host, tls: false, behindProxy: false })).toThrow(
    expect.objectContaining({ code: 'usage', hint: expect.stringContaining('--behind-proxy') }),
  );
  expect(() => demandSafeBinding({ host, tls: true, behindProxy: false })).not.toThrow();
  expect(() => demandSafeBinding({ host, tls: false, behindProxy: true })).not.toThrow();
});
