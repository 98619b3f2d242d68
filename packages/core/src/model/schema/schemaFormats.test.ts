import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../json.ts';
import { compileSchema } from './jsonSchema.ts';

describe('formats', () => {
  test.each([
    [
      'date',
      ['2024-02-29', '2000-02-29'],
      ['2023-02-29', '1900-02-29', '2024-13-01', '2024-04-31', '2024-1-1', '2024-01-00', 'x'],
    ],
    [
      'time',
      ['12:30:00Z', '23:59:60Z', '00:00:00.123+01:30', '22:59:60-01:00'],
      ['12:30', '24:00:00Z', '12:60:00Z', '12:30:60Z', '12:30:00', '12:30:00+24:00'],
    ],
    [
      'date-time',
      ['2024-01-31T12:30:00Z', '2024-01-31t12:30:00.5+02:00'],
      ['2024-01-31', '2024-01-31 12:30:00Z', '2024-01-32T12:30:00Z', '2024-01-31T25:30:00Z'],
    ],
    [
      'email',
      ['a@b.de', 'a.b+c@x-y.org', 'a@localhost'],
      ['a', '@b.de', 'a@', 'a@-b.de', 'a b@c.de', '.a@b.de', 'a..b@c.de', 'a@b@c.de', 'a@b..de'],
    ],
    [
      'uri',
      ['https://a.b/c?d#e', 'urn:a:b', 'mailto:a@b'],
      ['a/b', '//a.b', 'http://a b', 'http://a/%zz', '1a:b', 'http://a/\u00e9'],
    ],
    [
      'uuid',
      ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
      ['123e4567e89b12d3a456426614174000', '123e4567-e89b-12d3-a456-42661417400g'],
    ],
    [
      'ipv4',
      ['0.0.0.0', '255.1.20.199'],
      ['256.0.0.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.4.', '1.2.3.'],
    ],
  ])('%s', (format, valid, invalid) => {
    expect(valid.filter((value) => problemsOf({ format }, value).length > 0)).toEqual([]);
    expect(invalid.filter((value) => problemsOf({ format }, value).length === 0)).toEqual([]);
    expect(problemsOf({ format }, 1)).toEqual([]);
  });

  test('a long text takes time in proportion to its length', () => {
    for (const format of ['date', 'time', 'date-time', 'email', 'uri', 'uuid', 'ipv4']) {
      for (const unit of ['1', 'a', '%', '.', 'a@', 'a.', '1:']) problemsOf({ format }, unit.repeat(200_000));
    }
  });
});

function problemsOf(schema: JsonObject | boolean, value: Json) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.validate(value);
}
