import { describe, expect, test } from 'vitest';
import { asideRanges, fillTemplate, placeholdersIn } from './template.ts';

const values = { NAME: 'Parser', LATER: '[NAME]' };

describe('a template', () => {
  test.each([
    ['# [NAME]', '# Parser'],
    ['a value is not a template: [LATER]', 'a value is not a template: [NAME]'],
    ['\\[NAME] is written \\[NAME\\]', '[NAME] is written [NAME]'],
    ['\\[like this]', '[like this]'],
    ['[NAME](link.md) and [OTHER]', '[NAME](link.md) and [OTHER]'],
    ['`run([NAME], [N])` and `\\[a-z\\]`', '`run(Parser, [N])` and `\\[a-z\\]`'],
    ['```\n[N] \\[x\\] \\[NAME]\n```\n\\[y]', '```\n[N] \\[x\\] [NAME]\n```\n[y]'],
  ])('%j becomes %j', (template, text) => {
    expect(fillTemplate(template, values)).toBe(text);
  });

  test.each([
    ['[A] and [B] and [A]', ['A', 'B']],
    ['\\[A]', []],
    ['`[A]` and ``[B]``', []],
    ['~~~py\n[A]\n~~~\n[B]', ['B']],
    ['<!-- [A] --> [B]', ['B']],
    ['one ` tick [A]', ['A']],
    ['one ` tick [A]\n\nand another ` there', ['A']],
    ['```not a fence` [A]', ['A']],
  ])('%j asks for %j', (template, names) => {
    expect(placeholdersIn(template)).toEqual(names);
  });

  test('of nothing but ticks is read to its end', () => {
    const text = '` `` '.repeat(2000);

    expect(asideRanges(text).length).toBeGreaterThan(0);
    expect(fillTemplate('`'.repeat(50_000), {})).toHaveLength(50_000);
  });
});
