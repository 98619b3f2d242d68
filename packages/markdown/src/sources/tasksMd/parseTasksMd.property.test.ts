import { readdirSync, readFileSync } from 'node:fs';
import type { ParsedSource } from '@phasegate/core/ports';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { outlineText } from '../fixtures/outlineText.ts';
import { parseTasksMd } from './parseTasksMd.ts';

const folder = new URL('../fixtures/', import.meta.url);
const documents = readdirSync(folder)
  .filter((file) => file.endsWith('.md'))
  .map((file) => readFileSync(new URL(file, folder), 'utf8'));
const document = fc.constantFrom(...documents);

/** Ways in which authors differ and mean the same. */
const SAME_MEANING: Readonly<Record<string, (text: string) => string>> = {
  'CRLF and a BOM': (text) => `\uFEFF${text.replace(/\n/g, '\r\n')}`,
  'a BOM': (text) => `\uFEFF${text}`,
  'two spaces at every end of line': (text) => text.replace(/\n/g, '  \n'),
  'stars for bullets': (text) => text.replace(/^([ \t]*)- /gm, '$1* '),
  'twice the indentation': (text) => text.replace(/^( +)/gm, '$1$1'),
  'the colon outside the bold': (text) =>
    text.replace(/^(\s*(?:- )?)\*\*([A-Z][^*\n]*?):\*\*/gm, '$1**$2**:'),
  'a dash after the id': (text) => text.replace(/^(#+ (?:Phase|Task|TASK-|P\d-T)[^:\n]*):/gm, '$1 —'),
  'an emoji before the header': (text) => text.replace(/^(#+) (Phase|Task|TASK|P\d)/gm, '$1 🚀 $2'),
  'headings one level deeper': (text) => text.replace(/^(##+) /gm, '#$1 '),
  'a rule before every task': (text) => text.replace(/^(#+ (?:Task|TASK|P\d))/gm, '---\n\n$1'),
  'a title before it': (text) => text.replace(/^(?=#+ )/, '# One\n# Two\n\n**Date:** today\n\n'),
};

test.each(Object.entries(SAME_MEANING))('%s changes nothing', (_name, change) => {
  const changed = documents.map((text) => shape(parseTasksMd(change(text))));

  expect(changed).toEqual(documents.map((text) => shape(parseTasksMd(text))));
});

test('ticking any boxes changes nothing but `checked` and status [fail.31]', () => {
  fc.assert(
    fc.property(document, fc.infiniteStream(fc.boolean()), (text, ticks) => {
      const ticked = text.replace(/\[[ xX]\](?= )/g, () => (ticks.next().value === true ? '[x]' : '[ ]'));

      expect(withoutTicks(parseTasksMd(ticked))).toEqual(withoutTicks(parseTasksMd(text)));
    }),
    { numRuns: cases({ quick: 60, full: 1500 }) },
  );
});

test('an unclosed fence anywhere loses no later phase [fail.32]', () => {
  const opener = fc.constantFrom('```', '```bash', '```python', '~~~', '````yaml');
  fc.assert(
    fc.property(document, opener, fc.nat(), (text, fence, seed) => {
      const lines = text.split('\n');
      // Not before `# Title` or a section without a phase's name: only strong headers are promised.
      const places = lines.flatMap((line, index) =>
        /^[A-Z*]/.test(line) && hasHeaderAfter(lines, index) ? [index] : [],
      );
      const place = places[seed % Math.max(1, places.length)];
      if (place === undefined) return;
      const broken = [...lines.slice(0, place), fence, ...lines.slice(place)].join('\n');

      const later = headersAfter(lines, place);
      const found = parseTasksMd(broken).phases.map(({ id, name }) => `${id} ${name}`);
      const before = parseTasksMd(text).phases.map(({ id, name }) => `${id} ${name}`);
      expect(found).toEqual(
        expect.arrayContaining(before.filter((phase) => later.has(phase.split(' ')[0] ?? ''))),
      );
    }),
    { numRuns: cases({ quick: 100, full: 2500 }) },
  );
});

test('no text makes it throw, and every warning has a line of the text [S1.35]', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      ...[
        '## Phase 1: A',
        '### Task 1.1: B',
        '- [ ] c',
        '  - [x] **Task 1.2**: d',
        '**Acceptance Criteria:**',
      ],
      ...[
        '```',
        '```md',
        '---',
        '**Dependencies:** Tasks 1.1-1.9, Phase 2',
        '## Validation Gates',
        '1. e',
        '> f',
      ],
      ...[
        '**Phase 1 Gate**:',
        '# G',
        '\t- h',
        'TASK-001 to TASK-9',
        '- [ ] 1. i',
        '  - [ ] 1.1 j',
        '',
        '   ',
      ],
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.constantFrom('\n', '\r\n', '\n\n'), (pieces, end) => {
      const text = pieces.join(end);
      const count = text.split(/\r\n|\n|\r/).length;

      const { phases, warnings } = parseTasksMd(text);

      for (const { line } of warnings) expect(line >= 1 && line <= count).toBe(true);
      for (const { tasks } of phases) for (const { id } of tasks) expect(id).not.toBe('');
    }),
    { numRuns: cases({ quick: 400, full: 10_000 }) },
  );
});

/** Everything but the lines of warnings, which a change may move. */
function shape(parsed: ParsedSource): string {
  return outlineText({ ...parsed, warnings: [] });
}

function withoutTicks({ phases, warnings }: ParsedSource): unknown {
  return {
    warnings,
    phases: phases.map((phase) => ({
      ...phase,
      validationGate: phase.validationGate.map(({ text }) => text),
      tasks: phase.tasks.map(({ status: _status, ...task }) => ({
        ...task,
        acceptanceCriteria: task.acceptanceCriteria.map(({ text }) => text),
      })),
    })),
  };
}

function headersAfter(lines: readonly string[], place: number): ReadonlySet<string> {
  const ids = lines.slice(place).flatMap((line, index) => {
    const id = /^##+ \W*Phase (\w+):/i.exec(line)?.[1];
    return id !== undefined && (lines[place + index - 1] ?? '') === '' ? [id] : [];
  });
  return new Set(ids);
}

function hasHeaderAfter(lines: readonly string[], place: number): boolean {
  return headersAfter(lines, place).size > 0;
}
