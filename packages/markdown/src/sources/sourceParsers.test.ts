import type { SourceParser } from '@phasegate/core/ports';
import { expect, test } from 'vitest';
import { createSourceParsers } from './sourceParsers.ts';

const jira: SourceParser = { name: 'jira_parser', parse: async () => ({ phases: [], warnings: [] }) };

test('a further parser is registered beside ours, and nothing else changes', () => {
  const parsers = createSourceParsers();

  parsers.register(jira);

  expect(parsers.get('jira_parser')).toBe(jira);
  expect(parsers.names()).toEqual(['spec_tasks_parser', 'jira_parser']);
  expect(createSourceParsers().names()).toEqual(['spec_tasks_parser']);
});

test('an unknown name gives nothing, and a name is given once', () => {
  const parsers = createSourceParsers();
  parsers.register(jira);

  expect(parsers.get('toString')).toBeUndefined();
  expect(() => parsers.register(jira)).toThrow('there is already a parser `jira_parser`');
});
