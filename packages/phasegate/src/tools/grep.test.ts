import { describe, expect, test } from 'vitest';
import { outputOf, use, workspaceWith } from './fixtures/workspace.ts';
import { grep } from './grep.ts';

describe('grep', () => {
  test('finds a text as it stands, with its file and line', async () => {
    const workspace = workspaceWith({
      'src/a.ts': 'one\na.b (c)\n',
      'src/b.ts': 'axb (c)\n',
      'x.bin': Buffer.from([0, 97]),
    });

    expect(outputOf(await use(grep, workspace, { pattern: 'a.b (c)' }))).toEqual({
      matches: [{ path: 'src/a.ts', line: 2, text: 'a.b (c)' }],
      skipped: ['x.bin'],
      truncated: false,
    });
  });

  test('takes a regular expression when told so, and one file as well as a folder', async () => {
    const workspace = workspaceWith({ 'src/a.ts': 'Alpha\nbeta\n', 'src/b.ts': 'alpha\n' });
    const ask = { pattern: '^a\\w+$', regex: true };

    expect(outputOf(await use(grep, workspace, { ...ask, path: 'src' })).matches).toEqual([
      { path: 'src/b.ts', line: 1, text: 'alpha' },
    ]);
    expect(
      outputOf(await use(grep, workspace, { ...ask, path: 'src/a.ts', ignore_case: true })).matches,
    ).toEqual([{ path: 'src/a.ts', line: 1, text: 'Alpha' }]);
    expect(await use(grep, workspace, { pattern: '(', regex: true })).toMatchObject({
      ok: false,
      output: { error: 'input_invalid' },
    });
  });

  test('gives each line once, by its number, whatever its ends and letters are', async () => {
    const text = 'ab ab\n\nAB\r\nx\nİ ab\nab';
    const workspace = workspaceWith({ a: text, b: text.replace('İ', 'I') });
    const lines = (ignore_case: boolean, path: string) =>
      use(grep, workspace, { pattern: 'ab', ignore_case, path }).then((result) =>
        (outputOf(result).matches as { line: number; text: string }[]).map(({ line, text }) => [line, text]),
      );

    for (const [path, letter] of [
      ['a', 'İ'],
      ['b', 'I'],
    ] as const) {
      const [first, fifth, last] = [
        [1, 'ab ab'],
        [5, `${letter} ab`],
        [6, 'ab'],
      ];
      expect(await lines(false, path)).toEqual([first, fifth, last]);
      expect(await lines(true, path)).toEqual([first, [3, 'AB\r'], fifth, last]);
    }
    expect(outputOf(await use(grep, workspace, { pattern: 'ab\n' })).matches).toEqual([]);
    expect(outputOf(await use(grep, workspace, { pattern: '\n' })).matches).toEqual([]);
  });

  test('stops at its limit and says that there is more', async () => {
    const workspace = workspaceWith({ a: 'x\nx\nx\n', b: 'x\n' });

    const found = outputOf(await use(grep, workspace, { pattern: 'x', limit: 3 }));

    expect(found.matches).toHaveLength(3);
    expect(found.truncated).toBe(true);
    expect(outputOf(await use(grep, workspace, { pattern: 'x', limit: 4 })).truncated).toBe(false);
  });

  test('shows nothing of files the phase does not let it show', async () => {
    const workspace = workspaceWith({ 'src/a': 'key', 'private/b': 'key' });

    const result = await use(
      grep,
      workspace,
      { pattern: 'key' },
      { mayRead: (path) => path.startsWith('src/') },
    );

    expect(outputOf(result).matches).toEqual([{ path: 'src/a', line: 1, text: 'key' }]);
  });

  test('an expression made to run for ever is ended, and nobody else waits for it', async () => {
    const workspace = workspaceWith({ a: `${'a'.repeat(5_000)}!` });
    const controller = new AbortController();
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
      // The loop goes round while the expression runs; after a few rounds the call is ended from outside.
      if (turns === 5) controller.abort(new Error('enough'));
    }, 20);

    const result = await use(
      grep,
      workspace,
      { pattern: '^(?:a+)+$', regex: true },
      { signal: controller.signal },
    );
    clearInterval(ticking);

    expect(result).toMatchObject({ ok: false, output: { error: 'aborted' } });
  });

  test('is judged as the file it names, or as everything below the folder', () => {
    const { root } = workspaceWith({ 'src/a.ts': '' });

    expect(grep.judged?.({ path: 'src' }, root)).toEqual({ path: 'src/**' });
    expect(grep.judged?.({ path: 'src/a.ts' }, root)).toEqual({ path: 'src/a.ts' });
    expect(grep.judged?.({}, root)).toEqual({ path: '**' });
    expect(grep.judged?.({ path: 'out' }, root)).toEqual({ path: 'out' });
  });
});

test('searches of one agent that never end keep no other agent waiting [adv.O5]', async () => {
  const workspace = workspaceWith({ 'a.txt': `${'a'.repeat(40)}!\n` });
  const ended = new AbortController();
  const endless = Array.from({ length: 60 }, () =>
    use(grep, workspace, { pattern: '^(a+)+$', regex: true }, { agent: 'ada', signal: ended.signal }).catch(
      () => null,
    ),
  );

  const found = await use(grep, workspace, { pattern: '!$', regex: true }, { agent: 'bob' });

  expect(outputOf(found).matches).toHaveLength(1);
  ended.abort();
  await Promise.all(endless);
});

test('an agent has so many searches under way and waiting, and no more [adv.O5]', async () => {
  const workspace = workspaceWith({ 'a.txt': `${'a'.repeat(40)}!\n` });
  const ended = new AbortController();
  const asked = { pattern: '^(a+)+$', regex: true };
  const endless = Array.from({ length: 66 }, () =>
    use(grep, workspace, asked, { agent: 'ada', signal: ended.signal }).catch(() => null),
  );

  await expect(use(grep, workspace, asked, { agent: 'ada', signal: ended.signal })).rejects.toMatchObject({
    code: 'rate_limited',
    message: '`ada` has too many searches under way',
  });

  ended.abort();
  await Promise.all(endless);
});
