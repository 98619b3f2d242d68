import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { CliCommand } from './command.ts';
import { parseArguments, splitCommand } from './parseArguments.ts';

describe('the name of the command', () => {
  test('may stand after global options', () => {
    expect(splitCommand(['--project', 'here', '--json', 'status', 'r1'])).toEqual({
      name: 'status',
      rest: ['--project', 'here', '--json', 'r1'],
    });
  });

  test('is missing when only options are given', () => {
    expect(splitCommand(['--help']).name).toBeUndefined();
  });
});

describe('arguments', () => {
  test('flags, texts and lists are read, with the value inline or after', () => {
    const args = parse(
      'r1',
      '--reason=-1 is too low',
      '--item',
      'a',
      '--param',
      'k=v',
      '--param=x=y',
      '--force',
    );

    expect(args.positionals).toEqual(['r1']);
    expect(args.text('reason')).toBe('-1 is too low');
    expect(args.text('item')).toBe('a');
    expect(args.texts('param')).toEqual(['k=v', 'x=y']);
    expect(args.flag('force')).toBe(true);
    expect(args.flag('json')).toBe(false);
  });

  test('a lone dash is a value, for stdin', () => {
    expect(parse('r1', '--item', '-').text('item')).toBe('-');
  });

  test('an unknown option is refused with the nearest one', () => {
    expect(fault('r1', '--reasn', 'x')).toMatchObject({
      code: 'usage',
      message: '`phasegate sample` has no option `--reasn` (did you mean `--reason`?)',
    });
  });

  test('an option without its value is refused, also when another option follows', () => {
    expect(fault('r1', '--reason')).toMatchObject({
      message: '`--reason` needs a value',
      hint: 'write `--reason T`',
    });
    expect(fault('r1', '--reason', '--item', 'a').hint).toContain('--reason=T');
  });

  test('a flag with a value is refused', () => {
    expect(fault('r1', '--force=yes').message).toBe('`--force` takes no value');
  });

  test('one option with two values is refused; the same value twice is not', () => {
    expect(fault('r1', '--item', 'a', '--item', 'b').message).toBe('`--item` is given twice with two values');
    expect(parse('r1', '--item', 'a', '--item', 'a').text('item')).toBe('a');
  });

  test('a missing and a superfluous word are named', () => {
    expect(fault().message).toBe('`phasegate sample` needs `RUN`');
    expect(fault('r1', 'x.json', 'more').message).toBe('`phasegate sample` takes no argument `more`');
  });

  test('a passphrase as a plain option is refused without repeating it', () => {
    const { message, hint } = fault('r1', '--passphrase=hunter2');

    expect(message).toContain('never a plain option');
    expect(`${message}${hint}`).not.toContain('hunter2');
  });

  test('the value of an unknown option is never repeated', () => {
    expect(fault('r1', '--passphrse=hunter2').message).not.toContain('hunter2');
  });
});

describe('an empty word', () => {
  test('is refused for an argument, also where RUN is left out, for an option and for one of several', () => {
    const byDefault = { ...SAMPLE, positionals: ['RUN', 'PHASE', 'N'], runByDefault: true as const };

    expect(fault('r1', '').message).toBe('FILE is an empty word');
    expect(fault('').message).toBe('RUN is an empty word');
    expect(() => parseArguments(['', '1'], byDefault, { name: 'sample' })).toThrow('PHASE is an empty word');
    expect(() => parseArguments(['', 'A', '1'], byDefault, { name: 'sample' })).toThrow(
      'RUN is an empty word',
    );
    expect(fault('r1', '--item', '')).toMatchObject({
      code: 'usage',
      message: '`--item` is an empty word',
      hint: 'write `--item KEY`, or leave it out',
    });
    expect(fault('r1', '--param', 'a=b', '--param=').message).toBe('`--param` is an empty word');
    expect(fault('r1', '--project', '').message).toBe('`--project` is an empty word');
  });

  test('is let through where RUN was left out, and among the words of another command', () => {
    const own = { ...SAMPLE, positionals: ['RUN'], runByDefault: true as const, takesCommand: true as const };

    const { positionals, command } = parseArguments(['--', 'echo', ''], own, { name: 'sample' });

    expect([positionals, command]).toEqual([[''], ['echo', '']]);
  });
});

describe('a run the environment names', () => {
  const given = (...words: readonly string[]) =>
    parseArguments(words, { ...SAMPLE, runFromEnvironment: true }, { name: 'sample', run: 'r9' }).positionals;

  test('stands for RUN only where that is left out', () => {
    expect(given()).toEqual(['r9']);
    expect(given('-')).toEqual(['r9', '-']);
    expect(given('r1')).toEqual(['r1']);
    expect(given('r1', '-')).toEqual(['r1', '-']);
  });

  test('is nothing to a command that wants its RUN said', () => {
    expect(() => parseArguments([], SAMPLE, { name: 'sample', run: 'r9' })).toThrow('needs `RUN`');
  });
});

const SAMPLE: CliCommand = {
  usage: ['sample RUN [FILE]'],
  examples: [],
  options: {
    reason: { type: 'text', value: 'T', summary: '' },
    item: { type: 'text', value: 'KEY', summary: '' },
    param: { type: 'texts', value: 'k=v', summary: '' },
    force: { type: 'flag', summary: '' },
  },
  positionals: ['RUN', '[FILE]'],
  run: async () => 0,
};

function parse(...words: readonly string[]) {
  return parseArguments(words, SAMPLE, { name: 'sample' });
}

function fault(...words: readonly string[]): PhasegateError {
  try {
    parse(...words);
  } catch (error) {
    if (error instanceof PhasegateError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
