import { expect, test } from 'vitest';
import { PHASE_PLACEHOLDERS, unresolvedIn } from './templates.ts';

test.each([
  '[TASK_STEPS]',
  '[TASK_STEPS or general guidance from the spec]',
  '[DEPENDENCIES or "None"]',
  'Task [N.1]: see below',
  '[Brief description]',
  '[... list all tasks]',
  '[brief description of it]',
  '{{target_phase}}',
  'phase=x[PHASE_ID]',
])('%s would reach an agent unfilled, so it is found [fail.33]', (template) => {
  expect(unresolvedIn(`Text\n\n${template}\n`, PHASE_PLACEHOLDERS)).toMatchObject([
    { offset: expect.any(Number) },
  ]);
});

test.each([
  '[PHASE_NUMBER] [NEXT_PHASE_NUMBER]',
  '- [ ] open\n- [x] done',
  '[Guide](guide.md) and [Guide][ref] and ![Image](a.png)',
  'See [Guide]\n\n[Guide]: https://example.org',
  'a footnote[^1]',
  '`list[0]`, `x[Y]`, `[a-z]`, `[A-Za-z0-9_]`',
  "```py\nfoo(['a', 'b'], [x, y])\n```",
  '`$' + '{{ secrets }}`',
  '`task_number=[N]`, ``a `[N]` b``',
  '```python\nget_task(phase=[PHASE_NUMBER], task_number=[N])\n```',
  '<!-- [Brief description]\n{{later}} [TASK_STEPS] -->',
  '\\[Brief description] and \\[TASK_STEPS\\]',
  '\\{{name}}',
])('%j has nothing to fill but what is known', (template) => {
  expect(unresolvedIn(template, [...PHASE_PLACEHOLDERS, 'Y'])).toEqual([]);
});
