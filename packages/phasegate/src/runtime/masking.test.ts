import { expect, test } from 'vitest';
import { working } from './fixtures/workingRun.ts';
import { hmacOf } from './hmac.ts';
import { createMasking, maskedCommand } from './masking.ts';

const { mask } = createMasking(hmacOf(Buffer.from('a key')));

/** In parts, so that no tool that looks for keys finds one here. */
const SECRETS = [
  `AKIA${'ABCDEFGH12345678'}`,
  `ghp_${'a1'.repeat(18)}`,
  `github_pat_${'a1'.repeat(30)}`,
  `glpat-${'a1'.repeat(12)}`,
  `xoxb-${'123456789012-abcdef'}`,
  `sk-ant-${'api03-'}${'a1B'.repeat(20)}`,
  `sk_live_${'a1'.repeat(12)}`,
  `npm_${'a1'.repeat(18)}`,
  `eyJ${'hbGciOiJIUzI1'}.eyJ${'zdWIiOiIxMjM0'}.${'c2lnbmF0dXJl'}`,
  `-----BEGIN ${'RSA PRIVATE KEY'}-----\nMIIE\n-----END RSA PRIVATE KEY-----`,
];

test.each(SECRETS)('masks what looks like a key: %#', (secret) => {
  const text = `curl -H "Authorization: Bearer ${secret}" example.org`;

  const seen = mask(text);

  expect(seen).not.toContain(secret.slice(6, 20));
  expect(seen).toMatch(/^curl -H "Authorization: Bearer masked-[0-9a-f]{16}" example\.org$/);
});

test('masks a password in an address, and leaves the address', () => {
  expect(mask('psql postgres://app:hunter22222@db.local/app')).toMatch(
    /^psql postgres:\/\/app:masked-[0-9a-f]{16}@db\.local\/app$/,
  );
});

test('the same secret has the same mask under one key, and another under another', () => {
  const [secret = ''] = SECRETS;
  const other = createMasking(hmacOf(Buffer.from('another key')));

  expect(mask(`${secret} is a key`)).toBe(mask(`${secret} is a key`));
  expect(mask(secret)).not.toBe(other.mask(secret));
});

test('masks texts wherever they are, and what the author names', () => {
  const own = createMasking(hmacOf(Buffer.from('a key')), ['ACME-[0-9]{6,}']);

  expect(own.mask({ a: [{ b: 'the badge ACME-1234567' }], n: 3, z: null })).toEqual({
    a: [{ b: expect.stringMatching(/^the badge masked-[0-9a-f]{16}$/) }],
    n: 3,
    z: null,
  });
});

test.each([
  'git commit -m "fix: password reset sends a token"',
  'const password = process.env.PASSWORD;',
  'sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'run-0123456789abcdef0123',
  'task-sk-learn and sk-short',
  'https://example.org:8080/a@b',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4',
])('leaves ordinary words alone: %s', (text) => {
  expect(mask(text)).toBe(text);
});

test('what an agent hands in is masked, and what a human does is not touched', () => {
  const [secret = ''] = SECRETS;
  const masking = { mask };

  const completed = maskedCommand(
    { kind: 'complete', phase: 'A', evidence: { note: `it is ${secret}` }, reason: secret },
    masking,
  );
  const answered = maskedCommand({ kind: 'answer', question: 0, text: secret }, masking);

  expect(JSON.stringify(completed)).not.toContain(secret);
  expect(answered).toEqual({ kind: 'answer', question: 0, text: secret });
});

test('a secret on a command line is neither in the audit nor in what the program printed', async () => {
  const [secret = ''] = SECRETS;
  const policy = { allowedTools: ['bash'], writes: ['docs/**'] };
  const { execute, history } = await working(policy, [], { masking: { mask } });

  const [done] = await execute([{ tool: 'bash', input: { command: `echo ${secret}` } }]);
  const [refused] = await execute([{ tool: 'bash', input: { command: `echo ${secret}`, extra: secret } }]);

  expect(done?.result?.output).toMatchObject({ stdout: expect.stringMatching(/^masked-[0-9a-f]{16}\n$/) });
  expect(refused?.verdict.allowed).toBe(false);
  const records = JSON.stringify(await history());
  expect(records).toContain('echo masked-');
  expect(records).not.toContain(secret);
});
