import { parseArgs } from 'node:util';
import { didYouMean } from '@phasegate/core/model';
import type { Arguments, CliCommand, OptionSpec, OptionSpecs } from './command.ts';
import { FD_HINT } from './passphrase.ts';
import { usageError } from './usage.ts';

/** Options every command takes. */
export const GLOBAL_OPTIONS = {
  json: { type: 'flag', summary: 'print one JSON value on stdout' },
  project: {
    type: 'text',
    value: 'DIR',
    summary: 'the project (default: the nearest one upward from here)',
  },
  url: {
    type: 'text',
    value: 'URL',
    summary: 'the server of the project, where it is not to be opened here (also PHASEGATE_URL)',
  },
  'insecure-http': {
    type: 'flag',
    summary:
      'send passphrase, key or token over plain http to another machine (also PHASEGATE_INSECURE_HTTP=1)',
  },
  'no-color': { type: 'flag', summary: 'no colours (also NO_COLOR)' },
  help: { type: 'flag', short: 'h', summary: 'show this help' },
} as const satisfies OptionSpecs;

/** Splits the words into the command's name and the rest; options may stand before the name. */
export function splitCommand(argv: readonly string[]): {
  readonly name: string | undefined;
  readonly rest: readonly string[];
} {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string;
    if (!word.startsWith('-')) return { name: word, rest: argv.toSpliced(index, 1) };
    if (word === '--') break;
    if (word === '--project' || word === '--url') index++;
  }
  return { name: undefined, rest: argv };
}

/** What is known before the words are read. */
export interface Known {
  /** The command's name. */
  readonly name: string;
  /** The run the environment names. */
  readonly run?: string | undefined;
}

/** Parses the words after a command's name; everything wrong with them is a `usage` fault that says what is right. */
export function parseArguments(
  words: readonly string[],
  command: CliCommand,
  { name, run }: Known,
): Arguments {
  const specs: OptionSpecs = { ...command.options, ...GLOBAL_OPTIONS };
  const values = new Map<string, string[]>();
  const flags = new Set<string>();
  const positionals: string[] = [];
  const own: string[] = [];
  let dashes = false;
  // Not strict: parseArgs' own faults name no alternatives and would repeat a secret given as an option's value.
  const { tokens } = parseArgs({
    args: [...words],
    options: forParseArgs(specs),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  for (const token of tokens) {
    if (token.kind === 'option-terminator') dashes = true;
    if (token.kind === 'positional') (dashes && command.takesCommand ? own : positionals).push(token.value);
    if (token.kind !== 'option') continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) throw unknownOption(token.rawName, specs, name);
    const inline = token.inlineValue === true;
    if (spec.type === 'flag') {
      if (inline) throw usageError(`\`${token.rawName}\` takes no value`);
      flags.add(token.name);
    } else {
      take(values, spec, { name: token.name, value: token.value, inline });
    }
  }
  const inserted = takeRun(positionals, command, run);
  if (!flags.has('help')) {
    checkCount(positionals, command, name);
    checkEmpty({ positionals: inserted ? ['RUN', ...positionals.slice(1)] : positionals, values }, command);
    checkActs([...values.keys(), ...flags], { name, command, act: positionals[0] });
  }
  return {
    positionals,
    command: own,
    flag: (option) => flags.has(option),
    text: (option) => values.get(option)?.[0],
    texts: (option) => values.get(option) ?? [],
  };
}

function forParseArgs(specs: OptionSpecs): Record<string, { type: 'boolean' | 'string'; short?: string }> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      name,
      { type: type === 'flag' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) },
    ]),
  );
}

function take(
  values: Map<string, string[]>,
  spec: OptionSpec,
  given: { readonly name: string; readonly value: string | undefined; readonly inline: boolean },
): void {
  const { name, value, inline } = given;
  // A word that begins with a dash is far more often the next option than a value.
  if (value === undefined || (!inline && value.length > 1 && value.startsWith('-'))) {
    const hint = `write \`--${name}=${spec.value ?? 'VALUE'}\` where the value begins with a dash`;
    throw usageError(
      `\`--${name}\` needs a value`,
      value === undefined ? `write \`--${name} ${spec.value ?? 'VALUE'}\`` : hint,
    );
  }
  const before = values.get(name);
  if (before === undefined) values.set(name, [value]);
  else if (spec.type === 'texts') before.push(value);
  else if (before[0] !== value) throw usageError(`\`--${name}\` is given twice with two values`);
}

function unknownOption(raw: string, specs: OptionSpecs, command: string): Error {
  if (raw === '--passphrase') {
    return usageError('a passphrase is never a plain option: other processes could read it', FD_HINT);
  }
  const known = Object.entries(specs).flatMap(([name, { short }]) =>
    short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
  );
  return usageError(
    `\`phasegate ${command}\` has no option \`${raw}\`${didYouMean(raw, known)}`,
    `see \`phasegate ${command} --help\``,
  );
}

/** Puts RUN in its place where it was left out, and says whether it did. */
function takeRun(positionals: string[], command: CliCommand, run: string | undefined): boolean {
  const named = command.runFromEnvironment === true && run !== undefined && run !== '';
  if ((!named && command.runByDefault !== true) || !lacksRun(positionals, command)) return false;
  positionals.unshift(named ? run : '');
  return true;
}

/**
 * INVARIANT: no empty word reaches a command. A variable was left out by mistake, and the command would take the word for
 * the folder it is in, for everything, or for nothing.
 */
function checkEmpty(
  given: { readonly positionals: readonly string[]; readonly values: ReadonlyMap<string, readonly string[]> },
  { positionals, options }: CliCommand,
): void {
  for (const [place, word] of given.positionals.entries()) {
    if (word !== '') continue;
    const name = positionals[Math.min(place, positionals.length - 1)] ?? '';
    // Said of every goal that none can have.
    if (name === '[GOAL]') continue;
    const bare = name.replace(/[[\]…]/g, '');
    const mayBeLeftOut = name.startsWith('[') || bare === 'RUN';
    throw usageError(`${bare} is an empty word`, mayBeLeftOut ? LEAVE_OUT : NOT_SET);
  }
  for (const [name, words] of given.values) {
    if (!words.includes('')) continue;
    const value = options[name]?.value ?? name.toUpperCase();
    throw usageError(`\`--${name}\` is an empty word`, `write \`--${name} ${value}\`, or leave it out`);
  }
}

const LEAVE_OUT = 'leave it out, or name one';
const NOT_SET = 'name one; a variable of the shell that is not set gives an empty word';

/** Too few words, or `-` where RUN would be, which is not a run. */
function lacksRun(positionals: readonly string[], command: CliCommand): boolean {
  const needed = command.positionals.filter((word) => !word.startsWith('[')).length;
  return positionals.length < needed || positionals[0] === '-';
}

/** An option of another act of the command would be ignored, and its caller would believe that it was not. */
function checkActs(
  given: readonly string[],
  called: { readonly name: string; readonly command: CliCommand; readonly act: string | undefined },
): void {
  const { name, command, act = '' } = called;
  // Of an act that there is not, the command says so itself.
  if (!command.positionals[0]?.split('|').includes(act)) return;
  for (const option of given) {
    const of = command.options[option]?.of;
    if (of === undefined || of.includes(act)) continue;
    const acts = of.map((one) => `\`${name} ${one}\``).join(' and ');
    throw usageError(`\`--${option}\` belongs to ${acts}`, `see \`phasegate ${name} --help\``);
  }
}

function checkCount(positionals: readonly string[], command: CliCommand, name: string): void {
  const [first, ...others] = command.usage.map((line) => `\`phasegate ${line}\``);
  const more =
    others.length > 1
      ? `; \`phasegate ${name} --help\` has ${others.length} more ways`
      : others.map((line) => ` or ${line}`).join('');
  const usage = `usage: ${first}${more}`;
  const missing = command.positionals.slice(positionals.length).find((word) => !word.startsWith('['));
  if (missing !== undefined) throw usageError(`\`phasegate ${name}\` needs \`${missing}\``, usage);
  if (command.positionals.at(-1)?.includes('…')) return;
  const extra = positionals[command.positionals.length];
  if (extra === undefined) return;
  const quote = command.positionals.at(-1) === '[GOAL]' ? 'put the goal in quotes; ' : '';
  throw usageError(`\`phasegate ${name}\` takes no argument \`${extra}\``, `${quote}${usage}`);
}
