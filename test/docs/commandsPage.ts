import type {
  CliCommand,
  CommandEntry,
  OptionSpecs,
} from '../../packages/phasegate/src/surfaces/cli/command.ts';
import { COMMANDS } from '../../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { notesOnUse, optionSummary } from '../../packages/phasegate/src/surfaces/cli/help.ts';
import { GLOBAL_OPTIONS } from '../../packages/phasegate/src/surfaces/cli/parseArguments.ts';
import { table } from './table.ts';

/** `docs/reference/commands.md`, made from what the command line itself goes by. */
export async function commandsPage(): Promise<string> {
  const lines = [
    '<!-- Made by `npx node test/docs/writeCommands.ts`. Change the commands, not this file. -->',
    '',
    '# Commands',
    '',
    'Exit codes: 0 done, 1 refused or failed, 2 wrong usage or an invalid definition. [Errors](../errors.md) explains every',
    'code. RUN is the id that `start` prints. The commands on runs act as the agent whose key is in `PHASEGATE_KEY`, else as',
    'the agent `local`; those for humans ask for a passphrase on the terminal, or read it from a file descriptor.',
    '',
    'With `--url` or `PHASEGATE_URL` a command asks the server of a project instead of opening the project here, and prints',
    'the same. There an agent always needs its key, and anyone who has none is asked for a passphrase; the session ends with',
    'the command. Commands that use no server refuse `--url`; those that only read files or look at this machine (`doctor`,',
    '`list`, `validate`, `graph`, `tasks`, `import`, `search`, `index`) do not mind `PHASEGATE_URL`, the others refuse it.',
    '',
    'Every command takes:',
    '',
    ...optionTable(GLOBAL_OPTIONS),
  ];
  for (const [group, entries] of Map.groupBy(COMMANDS, (entry) => entry.group)) {
    lines.push('', `## ${group}`);
    for (const entry of entries) lines.push('', ...commandSection(entry, await entry.load()));
  }
  return `${lines.join('\n')}\n`;
}

function commandSection({ name, summary }: CommandEntry, command: CliCommand): readonly string[] {
  const { usage, details, options, examples } = command;
  const notes = notesOnUse(command);
  return [
    `### ${name}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    '',
    '```',
    ...usage.map((line) => `phasegate ${line}`),
    '```',
    ...(details === undefined ? [] : ['', details]),
    ...(notes.length === 0 ? [] : ['', notes.join(' ')]),
    ...(Object.keys(options).length === 0 ? [] : ['', ...optionTable(options)]),
    '',
    examples.length === 1 ? 'Example:' : 'Examples:',
    '',
    '```sh',
    ...examples,
    '```',
  ];
}

function optionTable(options: OptionSpecs): readonly string[] {
  const rows = Object.entries(options).map(([name, spec]) => {
    const { type, short, value } = spec;
    const word = `--${name}${value === undefined ? '' : ` ${value}`}${type === 'texts' ? '…' : ''}`;
    return [short === undefined ? `\`${word}\`` : `\`-${short}\`, \`${word}\``, optionSummary(spec)];
  });
  return table(['option', 'meaning'], rows);
}
