import { decide, decideStart, defineWorkflow } from '@phasegate/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { Outcome, outcomeOfStatus, QRStatus } from './outcome.ts';
import { parseNeedsUserInput, QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from './questions.ts';

const QUESTION = '<question><text>Which?</text><option>a</option><option>b</option></question>';

describe('a sub-agent asks', () => {
  test('with one block as its whole answer [S4.48 S4.51 S4.53]', () => {
    const answer = `
      <needs_user_input>
        <question>
          <text>Which database?</text>
          <option>SQLite</option>
          <option>PostgreSQL</option>
        </question>
        <question><text>When?</text><option>now</option><option>later</option><option>never</option></question>
      </needs_user_input>
    `;

    expect(parseNeedsUserInput(answer)).toEqual({
      kind: 'questions',
      questions: [
        { text: 'Which database?', options: ['SQLite', 'PostgreSQL'] },
        { text: 'When?', options: ['now', 'later', 'never'] },
      ],
    });
  });

  test('by the tag, never by question marks [S4.52]', () => {
    for (const prose of [
      '',
      'Should we use SQLite? Or PostgreSQL? I went with SQLite.',
      'I thought about needs_user_input and did without',
      'Had I asked, it would have been with a `<needs_user_input>` block.',
      '{"status":"PASS"}',
    ]) {
      expect(parseNeedsUserInput(prose)).toEqual({ kind: 'none' });
    }
  });

  test('with nothing around the block, or is told so [S4.51]', () => {
    const block = `<needs_user_input>${QUESTION}</needs_user_input>`;
    for (const answer of [
      `Here are my questions:\n${block}`,
      `${block}\nThanks!`,
      `\`\`\`xml\n${block}\n\`\`\``,
      `${block}\n${'{"status":"PASS"}'}`,
      `<needs_user_input>${QUESTION}`,
      '<needs_user_input/>',
      '<needs_user_input urgent="yes"></needs_user_input>',
    ]) {
      expect(parseNeedsUserInput(answer), answer).toEqual({
        kind: 'malformed',
        problems: ['the answer must be one `<needs_user_input>` block and nothing else'],
      });
    }
  });

  test.each([
    ['no question', '', 'ask one to three questions at a time, not 0'],
    ['four questions', QUESTION.repeat(4), 'ask one to three questions at a time, not 4'],
    ['a block in a block', `<needs_user_input>${QUESTION}</needs_user_input>`, 'only `<question>` may stand'],
    ['words between questions', `${QUESTION} and ${QUESTION}`, 'only `<question>` may stand, not `and`'],
    ['a comment', `<!-- x -->${QUESTION}`, 'only `<question>` may stand'],
    ['a question that never ends', '<question><text>Which?</text>', 'a `<question>` is never closed'],
    ['a question in a question', `<question>${QUESTION}</question>`, 'only `<question>` may stand'],
    ['attributes', QUESTION.replace('<text>', '<text lang="en">'), 'only `<text>` or `<option>` may stand'],
    ['an unknown tag', QUESTION.replaceAll('option>', 'answer>'), 'only `<text>` or `<option>` may stand'],
    ['no text', QUESTION.replace('<text>Which?</text>', ''), 'question 1 needs exactly one `<text>`'],
    [
      'two texts',
      QUESTION.replace('<text>', '<text>x</text><text>'),
      'question 1 needs exactly one `<text>`',
    ],
    ['an empty text', QUESTION.replace('Which?', ' '), 'question 1 has an empty `<text>`'],
    ['one option', QUESTION.replace('<option>b</option>', ''), 'needs two or three distinct options'],
    ['the same option twice', QUESTION.replace('>b<', '> a <'), 'needs two or three distinct options'],
    ['an empty option', QUESTION.replace('>b<', '><'), 'question 1 has an empty `<option>`'],
    [
      'four options',
      QUESTION.replace('</question>', '<option>c</option><option>d</option></question>'),
      'needs two or three distinct options',
    ],
    ['a tag in a text', QUESTION.replace('Which?', 'Which <b>one</b>?'), 'holds plain text only'],
    ['a text without end', QUESTION.replace('Which?', 'x'.repeat(2001)), 'more than 2000 characters'],
    ['control characters', QUESTION.replace('Which?', 'W\u001b[2J'), 'has control characters'],
    ['escaped control characters', QUESTION.replace('Which?', 'W&#27;[2J'), 'has control characters'],
    ['a flood', QUESTION.replace('Which?', 'x'.repeat(30_000)), 'longer than 20000 characters'],
  ])('%s is refused, and it is told why [S4.51 S4.53]', (_, inside, problem) => {
    const parsed = parseNeedsUserInput(`<needs_user_input>${inside}</needs_user_input>`);

    expect(parsed.kind).toBe('malformed');
    expect(parsed.kind === 'malformed' && parsed.problems.join('\n')).toContain(problem);
  });

  test('in plain text, whose entities are undone once', () => {
    const inside = QUESTION.replace(
      'Which?',
      'R&D: a &lt;b&gt; &amp;lt; &#x263A; &quot;c&apos; &nbsp; a -> b',
    );
    const parsed = parseNeedsUserInput(`<needs_user_input>${inside}</needs_user_input>`);

    expect(parsed).toMatchObject({ questions: [{ text: 'R&D: a <b> &lt; ☺ "c\' &nbsp; a -> b' }] });
  });

  test('and whatever is read as questions, a run accepts as questions [S4.53]', () => {
    const word = fc.constantFrom('a', 'b', ' ', '', '&lt;', '&#0;', '<b>', 'Which?', '\n', '&#55296;');
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(''));
    const tag = (name: string, inside: string) => `<${name}>${inside}</${name}>`;
    const question = fc
      .tuple(text, fc.array(text, { maxLength: 4 }))
      .map(([asked, options]) =>
        tag('question', tag('text', asked) + options.map((option) => tag('option', option)).join('')),
      );
    const block = fc
      .array(question, { maxLength: 4 })
      .map((questions) => tag('needs_user_input', questions.join('\n')));
    fc.assert(
      fc.property(fc.oneof(block, fc.string(), text), (answer) => {
        const parsed = parseNeedsUserInput(answer);
        if (parsed.kind !== 'questions') return;
        expect(accepted(parsed.questions)).toBe(true);
      }),
      { numRuns: cases({ quick: 400, full: 10_000 }) },
    );
  });

  test('as it is told to, and the example it is shown is one [S4.54 S4.55 S4.56]', () => {
    const example =
      /<needs_user_input>[\s\S]*<\/needs_user_input>/.exec(SUB_AGENT_QUESTION_FORMAT)?.[0] ?? '';

    expect(parseNeedsUserInput(example)).toMatchObject({ kind: 'questions', questions: [{}] });
    // Saving comes before asking, as who asks is not continued.
    expect(SUB_AGENT_QUESTION_FORMAT.indexOf('plan.json')).toBeLessThan(
      SUB_AGENT_QUESTION_FORMAT.indexOf('<needs_user_input>'),
    );
    expect(SUB_AGENT_QUESTION_FORMAT).toContain('entire answer');
    expect(SUB_AGENT_QUESTION_FORMAT).toContain('read it and go on from there');
    expect(QUESTION_RELAY_HANDLER).toContain('`<needs_user_input>`');
    expect(QUESTION_RELAY_HANDLER).toContain('start the sub-agent afresh');
    expect(QUESTION_RELAY_HANDLER).toContain('the same state directory');
  });
});

test('what a review says becomes an outcome, and anything else none [S4.17]', () => {
  expect(outcomeOfStatus(QRStatus.PASS)).toBe(Outcome.OK);
  expect(outcomeOfStatus(QRStatus.FAIL)).toBe(Outcome.FAIL);
  expect(['PASS', 'FAIL'].map(outcomeOfStatus)).toEqual(['ok', 'fail']);
  expect(['ok', 'passed', '', ' PASS', null, true, undefined, {}].map(outcomeOfStatus)).toEqual(
    Array.from({ length: 8 }, () => undefined),
  );
});

function accepted(questions: Parameters<typeof ask>[0]): boolean {
  return ask(questions).verdict.allowed;
}

function ask(questions: readonly { readonly text: string; readonly options: readonly string[] }[]) {
  const defined = defineWorkflow({ id: 'x', phases: [{ id: 1 }] }, { checks: {} });
  if (!defined.ok) throw new Error('invalid');
  const circumstance = {
    principal: { kind: 'agent', name: 'local' },
    now: '2026-01-01T00:00:00Z',
    facts: {},
  } as const;
  const start = decideStart(
    {
      id: 'r',
      workflow: defined.workflow,
      workflowHash: 'h',
      target: null,
      params: {},
      ring: 'served',
      trusted: false,
      queued: false,
    },
    circumstance,
  );
  if (start.run === null) throw new Error('refused');
  return decide(start.run, { kind: 'ask', questions }, circumstance);
}
