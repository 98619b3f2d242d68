import type { CliCommand, CommandEntry, OptionSpec, OptionSpecs } from './command.ts';
import { COMMANDS } from './commandTable.ts';
import type { Paint } from './paint.ts';
import { GLOBAL_OPTIONS } from './parseArguments.ts';

/** What is said of a command beside its details: where RUN may be left out, and whether it uses a server. */
export function notesOnUse({ runFromEnvironment, runByDefault, server }: CliCommand): readonly string[] {
  const leftOut = [
    ...(runFromEnvironment === true ? ['PHASEGATE_RUN names it'] : []),
    ...(runByDefault === true ? ['only one run can be meant'] : []),
  ];
  const short = runByDefault === true ? '; the beginning of its id is enough where no other begins so' : '';
  return [
    ...(leftOut.length === 0 ? [] : [`RUN may be left out where ${leftOut.join(', or where ')}${short}.`]),
    ...(server === 'used' ? [] : ['Works where the project is, not over `--url`.']),
  ];
}

/** The list of commands. */
export function overview(paint: Paint): string {
  const lines = [
    'Workflows an AI agent cannot skip',
    '',
    `${paint.bold('Usage:')} phasegate <command> [options]`,
  ];
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  for (const [group, entries] of Map.groupBy(COMMANDS, (entry) => entry.group)) {
    lines.push('', paint.bold(`${group}:`));
    for (const { name, summary } of entries) lines.push(`  ${paint.cyan(name.padEnd(width))}  ${summary}`);
  }
  lines.push('', paint.bold('Every command takes:'), ...optionLines(GLOBAL_OPTIONS, paint));
  lines.push('', 'Exit codes: 0 done, 1 refused or failed, 2 wrong usage or invalid definition');
  lines.push(`See \`phasegate <command> --help\` for one command, \`phasegate --version\` for the version`);
  return lines.join('\n');
}

/** All about one command. */
export function commandHelp(entry: CommandEntry, command: CliCommand, paint: Paint): string {
  const lines = [capital(entry.summary), '', paint.bold('Usage:')];
  lines.push(...command.usage.flatMap((line) => folded(`  phasegate ${line}`, 6)));
  if (command.details !== undefined) {
    lines.push(
      '',
      ...command.details.split('\n').flatMap((line) => folded(line, line.startsWith('- ') ? 2 : 0)),
    );
  }
  for (const note of notesOnUse(command)) lines.push('', ...folded(note, 0));
  if (Object.keys(command.options).length > 0) {
    lines.push('', paint.bold('Options:'), ...optionLines(command.options, paint));
  }
  lines.push('', paint.bold('Every command takes:'), ...optionLines(GLOBAL_OPTIONS, paint));
  lines.push('', paint.bold('Examples:'), ...command.examples.map((example) => `  ${example}`));
  return lines.join('\n');
}

/** What an option is for, and first with which acts of its command it goes, where not with all. */
export function optionSummary({ of, summary }: OptionSpec): string {
  return of === undefined ? summary : `${of.join(', ')}: ${summary}`;
}

function optionLines(options: OptionSpecs, paint: Paint): readonly string[] {
  const rows = Object.entries(options).map(([name, spec]) => {
    const { type, short, value } = spec;
    const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
    const word = `${names}${value === undefined ? '' : ` ${value}`}${type === 'texts' ? '…' : ''}`;
    return { word, summary: optionSummary(spec) };
  });
  const width = Math.max(...rows.map(({ word }) => word.length));
  return rows.map(({ word, summary }) => `  ${paint.cyan(word.padEnd(width))}  ${summary}`);
}

const COLUMNS = 120;

/** A line that is too long for a screen as several, each but the first at this indent. */
function folded(line: string, indent: number): readonly string[] {
  const end = line.lastIndexOf(' ', COLUMNS);
  if (line.length <= COLUMNS || end <= indent) return [line];
  return [line.slice(0, end), ...folded(' '.repeat(indent) + line.slice(end + 1), indent)];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
