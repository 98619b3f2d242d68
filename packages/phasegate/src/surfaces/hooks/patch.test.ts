import { expect, test } from 'vitest';
import { openHookBed, toldBy } from './fixtures/hookBed.ts';

async function open() {
  const { raw, start, root } = openHookBed();
  await start();
  return async (...lines: readonly string[]) => {
    const command = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
    const tool = { hook_event_name: 'PreToolUse', tool_name: 'apply_patch', tool_input: { command } };
    return toldBy(await raw('codex', { session_id: 'x1', cwd: root, turn_id: 't', ...tool }));
  };
}

/** White space to Rust, to JavaScript, to both, or the end of a line to some. */
const WHITE = ['\u0085', '\u00a0', '\ufeff', '\u200b', '\u2028', '\v', '\f', '\u001c', '\r', '\0', '\u3000'];

test('a patch with a header or a path that programs read differently is refused whole [adv.C3]', async () => {
  const apply = await open();
  expect(await apply('*** Add File: docs/a.md', '+one', '*** Update File: docs/b.md', '@@', ' x')).toBe(
    'allowed',
  );
  for (const odd of WHITE) {
    const name = JSON.stringify(odd);
    expect(await apply('*** Add File: docs/a.md', '+one', `${odd}*** Add File: src/a.ts`), name).not.toBe(
      'allowed',
    );
    if (!/[\u00a0\ufeff\u200b\u3000]/.test(odd))
      expect(await apply('*** Add File: docs/a.md', `+one${odd}*** Add File: docs/b.md`), name).not.toBe(
        'allowed',
      );
    expect(await apply(`*** Add File: docs/.claude/settings.json${odd} `, '+{}'), name).not.toBe('allowed');
    expect(await apply(`***${odd}Add File: docs/a.md`, '+{}'), name).not.toBe('allowed');
    expect(await apply(`*** Add File: ${odd}docs/a.md`, '+{}'), name).not.toBe('allowed');
  }
  for (const header of [
    'Add File:docs/a.md',
    'Add File: src/a.ts:/../../docs/a.md',
    'Add File:  docs/a.md',
    'Copy to: x',
  ])
    expect(await apply('*** Add File: docs/b.md', '+one', `*** ${header}`), header).not.toBe('allowed');
});

test('text of a file that looks like a header is not one, and neither are stars', async () => {
  const apply = await open();
  const body = ['+*** Add File: src/a.ts', '-*** x', ' ***bold***', '+a *** b', ' ***', '@@ *** x'];
  expect(await apply('*** Update File: docs/a.md\r', ...body, '*** End of File')).toBe('allowed');
  expect(await apply('*** Add File: docs/a.md', '+x', '\t *** Add File: src/a.ts  ')).toContain('`src/a.ts`');
});

test('a patch of blanks, stars or very many files is answered at once [adv.E3]', async () => {
  const apply = await open();
  const add = '*** Add File: docs/a.md';
  expect(await apply(add, `+${' '.repeat(1_000_000)}x`)).toBe('allowed');
  expect(await apply(`*** ${' '.repeat(1_000_000)}x`)).not.toBe('allowed');
  expect(await apply(add, `+${'*** \r'.repeat(200_000)}x`)).not.toBe('allowed');
  expect(await apply(...Array.from({ length: 1002 }, () => add))).not.toBe('allowed');
});

test('a patch that is refused for its characters is told which line, and what to write instead', async () => {
  const apply = await open();
  const add = '*** Add File: docs/a.md';
  expect(await apply(add, '+one', '\u00a0*** Add File: src/a.ts')).toContain(
    'this call of `apply_patch` cannot be judged: line 4 of the patch has `***` beside characters that programs read differently',
  );
  expect(await apply('*** Add File: docs/a:b.md', '+one')).toMatch(
    /line 2 of the patch names its file with .* write a path with plain characters .*Next: /,
  );
  expect(await apply(add, '+one', '*** Copy to: x')).toContain('line 4 of the patch begins with `***`');
  expect(await apply()).toContain('the patch names no file');
});
