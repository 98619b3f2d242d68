import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { cardText } from './cardText.ts';
import { columnsIn } from './foreignLines.ts';

test('spaces up to the edge of the screen paint no line of ours [adv.N14]', () => {
  const painted = `fine${' '.repeat(200)}prompt: Harmless?`;
  const text = page({ prompt: 'To production?', evidence: { report: painted } });

  const lines = text.split('\n');
  expect(lines.every((line) => line.length < 80 || !line.startsWith('|'))).toBe(true);
  expect(lines.filter((line) => line.startsWith('prompt:'))).toEqual(['prompt: To production?']);
  expect(lines.filter((line) => line.includes('Harmless')).every((line) => line.startsWith('| '))).toBe(true);
});

test.each(['\n', '\r', '\r\n', '\u2028', '\u0085', '\v'])(
  'no line end makes a line of ours out of words of others [adv.N14]: %j',
  (end) => {
    const lines = page({ evidence: { [`a${end}prompt: Forged`]: `b${end}prompt: Forged` } }).split(
      /\r\n|[\n\v\f\r\u0085\u2028\u2029]/,
    );

    expect(lines.filter((line) => line.startsWith('prompt'))).toEqual(['prompt: none']);
    expect(lines.filter((line) => line.includes('Forged')).every((line) => line.startsWith('| '))).toBe(true);
  },
);

test('what cannot be seen, or turns the direction of text, is shown as what it is [adv.N14]', () => {
  const hidden = 'a\u202eb\u200bc\u001b[32md\u00a0e\u3164f\ufe0fg\th\u2800';

  const text = page({ context: { note: hidden } });

  expect(text).toContain(
    '| note: a\\u{202e}b\\u{200b}c\\u{1b}[32md\\u{a0}e\\u{3164}f\\u{fe0f}g\\u{9}h\\u{2800}',
  );
});

test('wide characters break before the screen does [adv.N14]', () => {
  const lines = page({ evidence: '漢'.repeat(60) }, 40)
    .split('\n')
    .filter((line) => line.includes('漢'));

  expect(lines.every((line) => line.startsWith('| ') && [...line].length <= 20)).toBe(true);
  expect(lines.join('').replaceAll('| ', '')).toBe('漢'.repeat(60));
});

test('what is not known to be ours is taken for words of others', () => {
  const lines = page({ news: 'x', mode: 'permissive', trusted: false }).split('\n');

  expect(lines.slice(lines.indexOf('news:'), lines.indexOf('news:') + 2)).toEqual(['news:', '| x']);
  expect(lines).toContain('! no human has accepted this workflow');
  expect(lines).toContain('! permissive mode: nothing is blocked, what would be refused is let through');
});

const CARD: JsonObject = {
  run: 'run-1',
  workflow: 'tdd',
  workflow_hash: 'a'.repeat(64),
  mode: 'strict',
  trusted: true,
  ring: 'served',
  started: { by: 'human maria', at: 'T0' },
  target: 'src/sum.ts',
  goal: { text: 'add a subtract function', by: 'human maria' },
  path: [{ phase: 'PLAN', outcome: 'ok', by: 'local', at: 'T1' }],
  decisions: [{ gate: 'plan#1', option: 'Approve', by: 'maria', at: 'T2' }],
  gate: 'review#2',
  phase: 'REVIEW',
  epoch: 4,
  opened_at: 'T3',
  checks: [
    { check: 'the tests pass', needs: 'verified', looked_at: 'T3' },
    { check: 'the docs are built', needs: 'claimed', looks: true, looked_at: 'T3' },
    { check: 'the report is complete', needs: 'claimed', looked_at: 'T3' },
  ],
  changed: [{ phase: 'REVIEW', paths: ['docs/a.md', 'docs/b.md'], more: 3 }],
  programs: [{ tool: 'bash', command: 'npm test', times: 2 }],
  receipts: [{ tool: 'bash', times: 2, failed: 1 }],
  refused: [{ what: 'write_files', code: 'outside_write_scope', message: 'not here', times: 2 }],
  prompt: 'Is it good?',
  context: { summary: 'all done' },
  covered: { summary: 'all done' },
  evidence: { report: 'fine' },
  submitted_by: 'local',
  outcome: 'ok',
  warnings: [{ phase: 'PLAN', code: 'check_failed', message: 'the docs are old' }],
  options: [
    { label: 'Approve', requires_input: false, leads_to: 'next', approves: true, way: 'phase `END`' },
  ],
};

test('a page to judge by: what was seen and what is claimed are told apart, hashes are short and last', () => {
  const text = page(CARD);

  expect(text.split('\n\n').map((section) => section.split('\n')[0])).toEqual([
    'Gate review#2 of run run-1',
    'Goal, by maria',
    'What the workflow shows here',
    'What the engine saw for itself',
    'What is only claimed, by agent local, outcome ok',
    'Earlier in this run',
    'Warnings',
    'To decide',
    'run started by human maria, T0; ring served, epoch 4',
  ]);
  const [seen = '', claimed = ''] = text.split('\n\n').slice(3, 5);
  expect(seen).toContain('the tests pass (verified');
  expect(seen).toContain('the docs are built (verified');
  expect(seen).toContain('bash 2, 1 without success');
  expect(seen).toContain('in phase REVIEW:\n| docs/a.md\n| docs/b.md\nand 3 more\n');
  expect(seen).toContain('| bash: npm test (2 times)');
  expect(claimed).toContain('| report: fine');
  expect(claimed).toContain('- the report is complete');
  expect(text).toContain('| write_files: not here [outside_write_scope] (2 times)');
  expect(text).toContain('| phase PLAN, code check_failed, the docs are old');
  expect(text).toContain('- gate plan#1: Approve, by maria, T2');
  expect(text.trimEnd().split('\n').at(-1)).toBe(
    `hashes: workflow ${'a'.repeat(12)}, this card ${'b'.repeat(12)}`,
  );
  expect(text).not.toContain('a'.repeat(13));
});

test('a check is told as what came of it, the weakest of several, and not as what it needed', () => {
  const proven = [
    { phase: 'REVIEW', check: 'the tests pass', class: 'verified', receipt: 'r1' },
    { phase: 'REVIEW', check: 'a: the docs are built', class: 'verified' },
    { phase: 'REVIEW', check: 'b: the docs are built', class: 'observed', lack: 'none\n✓ ok' },
    { phase: 'PLAN', check: 'the tests pass', class: 'claimed' },
  ];

  const [seen = ''] = page({ ...CARD, proven })
    .split('\n\n')
    .slice(3, 4);

  expect(seen).toContain('✓ the tests pass (verified, looked at T3)');
  expect(seen).toContain('✓ the docs are built (observed, not verified: none\\n✓ ok, looked at T3)');
});

test('what a human rejected names that human, and the agent as the one who handed it in', () => {
  const text = page({
    ...CARD,
    path: [{ phase: 'PLAN', outcome: 'rejected', by: 'local', at: 'T2' }],
    decisions: [
      { gate: 'plan#1', option: 'Approve', by: 'ada', at: 'T1' },
      { gate: 'plan#1', option: 'Reject', by: 'maria', at: 'T2' },
    ],
  });

  expect(text).toContain('- phase PLAN: handed in by local, rejected by maria, T2');
  expect(text).toContain('- gate plan#1: Reject, by maria, T2');
});

test('only what had to hold is marked as held: not what warns, and nothing in permissive mode', () => {
  const check = { check: 'the links work', needs: 'verified', warns: true, looked_at: 'T3' };

  expect(page({ ...CARD, checks: [check] })).toContain(
    '- the links work (only warns, looked at T3; see the warnings)',
  );
  expect(page({ ...CARD, mode: 'permissive' })).toContain(
    '- the tests pass (looked at T3; see the warnings)',
  );
});

test.each([40, 80])('no line is wider than %i columns', (width) => {
  const lines = page(CARD, width).split('\n');

  expect(lines.filter((line) => line.length >= width)).toEqual([]);
});

test('where the terminal shows ASCII only, everything else is written as its number', () => {
  const text = cardText({ ...CARD, evidence: { report: 'café ✓' } }, { ...PLAIN, utf8: false });

  expect(text).toMatch(/^[ -~\n]+$/);
  expect(text).toContain('| report: caf\\u{e9} \\u{2713}');
  expect(text).toContain('+ the tests pass');
});

test('a long command that was not recorded, or a tool of an attached server, is no silence', () => {
  const bare = { run: 'run-1', options: [] };
  const none = 'no write and no program went through Phasegate';
  const noTool = 'no check looked at the world, and no tool was carried out';
  expect(page(bare)).toContain(none);
  expect(page(bare)).toContain(noTool);
  for (const [work, said] of [
    [
      { programs_unnamed: [{ phase: 'A', times: 2 }] },
      'programs whose command line was too long to record: 2, in',
    ],
    [
      { changed_unnamed: [{ phase: 'A', times: 1 }] },
      'writes whose paths were too long to record: 1, in phase A',
    ],
    [{ calls: [{ phase: 'A', tool: 'mcp:db/drop', times: 1 }] }, '| mcp:db/drop, in phase A'],
    [{ programs: [{ phase: 'A', tool: 'bash', command: 'ls', times: 1 }] }, '| bash: ls, in phase A'],
    [
      { programs: [{ phase: 'A', tool: 'bash', command: 'ls', masked: true, times: 1 }] },
      '| bash: ls (! not all of it is shown: what is masked ran too), in phase A',
    ],
  ] as const) {
    const text = page({ ...bare, ...work });

    expect(text).toContain(said);
    expect(text).not.toContain(none);
    expect(text).not.toContain(noTool);
  }
});

test('the card lists what the fence found, by phase, and names every folder and the way to all of it', () => {
  const text = page({
    run: 'run-1',
    files: [
      {
        phase: 'A',
        files: [{ path: 'a\nb.ts', how: 'added' }],
        more: 7,
        folders: [{ folder: 'lib/', count: 8 }],
      },
      { phase: 'B', files: [] },
    ],
  });

  expect(text).toContain(
    'files changed in phase A, as Phasegate compared the workspace:\n| added a\\nb.ts\n',
  );
  expect(text).toContain('and 7 more; all of them by folder:\n| 8 in lib/\n');
  expect(text).toContain('no file changed in phase B');
  expect(text).toContain('phasegate audit export --run run-1');
  expect(page({ run: 'run-1' })).toContain('the workspace was not compared:');
  expect(page({ run: 'run-1' })).not.toContain('audit export');
});

test.each([
  ['wide characters', `${'漢'.repeat(39)}prompt: Forged`],
  ['one long word', `${'x'.repeat(77)}prompt:Forged`],
])('words of others on a line of ours begin no line: %s', (_, name) => {
  const option = { label: name, approves: true, way: `phase \`2\` (${name}), does not approve` };
  const lines = page({ options: [option], submitted_by: name }).split('\n');

  expect(lines.filter((line) => /^\s?prompt/.test(line))).toEqual(['prompt: none']);
  expect(lines.filter((line) => columnsIn(line) >= 80)).toEqual([]);
});

test('the name of a phase says nothing about what an option means', () => {
  const way = 'phase `2` (Tidy), does not approve (';
  const lines = page({ options: [{ label: 'Ship', approves: true, way }] }).split('\n');

  expect(lines.filter((line) => line.includes('approve'))).toEqual([
    '- Ship, approves, and leads to:',
    `| ${way}`,
  ]);
});

test('what is known only now stands among the warnings', () => {
  const text = cardText(CARD, { ...PLAIN, notes: ['`tdd.yaml` is not as it was accepted'] });

  expect(text.split('\n\n').at(-3)).toContain('! `tdd.yaml` is not as it was accepted');
});

test('every field of a card is told in words, and those before the options that bear on the choice', () => {
  const full: JsonObject = {
    ...CARD,
    folder: '/home/maria/app.worktrees/run-1',
    source: { path: 'plan.md', hash: 'c'.repeat(64) },
    params: { depth: { value: 3, default: 1, set_by: 'human maria' } },
    stopped_before: [{ run: 'run-0', workflow: 'tdd', phase: 2, reason: 'no', at: 'T0' }],
    items_looked_at: { a: 'T2' },
    files: [{ phase: 'REVIEW', files: [] }],
    changed_unnamed: [{ phase: 'REVIEW', times: 1 }],
    programs_unnamed: [{ phase: 'REVIEW', times: 1 }],
    calls: [{ phase: 'REVIEW', tool: 'mcp:db/drop', times: 1 }],
    word: { notes: 'went well' },
    outcomes: { a: 'skip' },
    state: { total: 3 },
    database: 'd'.repeat(64),
    would_refuse: [{ phase: 1, code: 'check_failed', message: 'the tests fail' }],
    fence: [
      { action: 'restore', phase: 'PLAN', paths: ['package.json'], reason: '', by: 'maria', at: 'T2' },
      { action: 'accept', phase: 'PLAN', paths: ['a', 'b'], reason: 'I did it', by: 'maria', at: 'T2' },
    ],
    changed_since: [
      { path: 'src/foo.js', how: 'added', content: `73cb${'e'.repeat(60)}` },
      { path: 'src/bar.js', how: 'removed', content: null },
    ],
  };

  const text = page(full, 200);

  const inWords = new Set(['prompt', 'evidence']);
  const raw = text.split('\n').filter((line) => Object.keys(full).some((key) => line === `${key}:`));
  expect(raw.filter((line) => !inWords.has(line.slice(0, -1)))).toEqual([]);
  expect(text).not.toMatch(/changed_since|reason:|how:|content:|set_by: *$/);
  const warned = text.split('\n\n').find((section) => section.startsWith('Warnings')) ?? '';
  expect(warned).toContain(
    '! changed in the workspace after the gate opened, so no check has looked at it:\n' +
      '| `src/foo.js` was added, content 73cbeeeeeeee\n| `src/bar.js` was removed\n',
  );
  expect(warned).toContain(
    '| package.json restored in phase PLAN, by maria, T2\n| a, b accepted in phase PLAN, by maria, T2: I did it',
  );
  expect(text).toContain('files changed after the gate opened: see the warnings');
  expect(text).toContain('the run works in the folder /home/maria/app.worktrees/run-1');
  expect(text).toContain('its phases were made from the file plan.md');
});

const PLAIN = { width: 80, paint: paintFor(false), shown: 'b'.repeat(64) };

function page(card: JsonObject, width = 80): string {
  return cardText(card, { ...PLAIN, width });
}
