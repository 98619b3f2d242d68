import type {
  CliCommand,
  CommandEntry,
  OptionSpecs,
} from '../../packages/phasegate/src/surfaces/cli/command.ts';
import { COMMANDS } from '../../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { notesOnUse, optionSummary } from '../../packages/phasegate/src/surfaces/cli/help.ts';
import { GLOBAL_OPTIONS } from '../../packages/phasegate/src/surfaces/cli/parseArguments.ts';
import { VERSION } from '../../packages/phasegate/src/surfaces/cli/version.ts';

/** `packages/phasegate/man/phasegate.1`, made from what the command line itself goes by. */
export async function manPage(): Promise<string> {
  const lines = [
    '.\\" Made by `npx node test/docs/writeMan.ts`. Change the commands, not this file.',
    `.TH PHASEGATE 1 "" "phasegate ${VERSION}" "Phasegate"`,
    '.SH NAME',
    'phasegate \\- workflows an AI agent cannot skip',
    '.SH SYNOPSIS',
    '.B phasegate',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...text(
      'Phasegate holds AI coding agents to a workflow. A workflow is a graph of phases. An agent sees only the phase it ' +
        'is in, and moves on only when the engine has checked for itself. At gates a human decides. Everything is ' +
        'recorded in a tamper-evident audit.',
    ),
    '.PP',
    ...text(
      'RUN is the id that `start` prints. The commands on runs act as the agent whose key is in `PHASEGATE_KEY`, else as ' +
        'the agent `local`; those for humans ask for a passphrase on the terminal, or read it from a file descriptor.',
    ),
    '.SH OPTIONS',
    'Every command takes:',
    ...options(GLOBAL_OPTIONS),
  ];
  for (const [group, entries] of Map.groupBy(COMMANDS, (entry) => entry.group)) {
    lines.push(`.SH ${group.toUpperCase()}`);
    for (const entry of entries) lines.push(...section(entry, await entry.load()));
  }
  lines.push(
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, meaning]) => ['.TP', `.B ${name}`, ...text(meaning)]),
    '.SH EXIT STATUS',
    ...STATUS.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, ...text(meaning)]),
    '.SH SEE ALSO',
    ...text('The guides in `docs/guide`, and `docs/errors.md` for what every refusal means.'),
  );
  return `${lines.join('\n')}\n`;
}

const ENVIRONMENT = [
  ['PHASEGATE_RUN', 'the run that is meant where RUN may be left out'],
  ['PHASEGATE_KEY', 'the key of the agent that calls'],
  ['PHASEGATE_URL', 'the server of the project, as with `--url`'],
  ['PHASEGATE_INSECURE_HTTP', '`1` as with `--insecure-http`'],
  ['PHASEGATE_DEBUG', '`1` prints the causes of a fault'],
  ['XDG_STATE_HOME', 'where state, keys and audit are kept'],
  ['NO_COLOR, FORCE_COLOR', 'no colours, or colours everywhere'],
] as const;

const STATUS = [
  ['0', 'done'],
  ['1', 'refused or failed'],
  ['2', 'wrong usage or an invalid definition'],
] as const;

function section({ name, summary }: CommandEntry, command: CliCommand): readonly string[] {
  const { usage, details, examples } = command;
  const notes = notesOnUse(command);
  return [
    `.SS ${name}`,
    ...text(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    '.PP',
    ...usage.flatMap((line, index) => [...(index === 0 ? [] : ['.br']), ...text(`\`phasegate\` ${line}`)]),
    ...(details === undefined ? [] : paragraphs(details)),
    ...(notes.length === 0 ? [] : ['.PP', ...text(notes.join(' '))]),
    ...options(command.options),
    '.PP',
    examples.length === 1 ? 'Example:' : 'Examples:',
    '.PP',
    '.nf',
    '.RS 4',
    ...examples.flatMap((example) => example.split('\n')).map((line) => guarded(escaped(line))),
    '.RE',
    '.fi',
  ];
}

/** Lines of a list stay lines; others flow. */
function paragraphs(details: string): readonly string[] {
  return details.split(/\n(?:\n|(?=- ))/).flatMap((part) => {
    if (!part.startsWith('- ')) return ['.PP', ...text(part)];
    return ['.IP \\(bu 2', ...text(part.slice(2))];
  });
}

function options(specs: OptionSpecs): readonly string[] {
  return Object.entries(specs).flatMap(([name, spec]) => {
    const { type, short, value } = spec;
    const names =
      short === undefined ? `\\-\\-${escaped(name)}` : `\\-${short}\\fR, \\fB\\-\\-${escaped(name)}`;
    const given = value === undefined ? '' : ` \\fI${escaped(value)}\\fR`;
    return ['.TP', `\\fB${names}\\fR${given}${type === 'texts' ? ' ...' : ''}`, ...text(optionSummary(spec))];
  });
}

/** Text in short lines, each sentence on its own, with what is code in bold. */
function text(words: string): readonly string[] {
  const bold = escaped(words.replaceAll('\n', ' ')).replaceAll(
    /`([^`]+)`/g,
    (_, code: string) => `\\fB${code}\\fR`,
  );
  return bold.split(/(?<=[.?!:]) (?=[A-Z\\])/).flatMap((sentence) => {
    const lines: string[] = [];
    for (const word of sentence.split(' ')) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + word.length < 78) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    return lines.map((line) => guarded(line.trimEnd()));
  });
}

function escaped(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('…', '...')
    .replaceAll(
      /[^\n -~]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** What begins with a dot would be taken for an order. */
function guarded(line: string): string {
  return line.startsWith('.') ? `\\&${line}` : line;
}
