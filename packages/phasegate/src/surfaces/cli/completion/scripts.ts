import type { CliCommand, CommandEntry } from '../command.ts';
import { GLOBAL_OPTIONS } from '../parseArguments.ts';

/** A shell whose words can be completed. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** Makes the script of each shell. */
export const COMPLETIONS: Readonly<Record<Shell, (commands: readonly CommandEntry[]) => Promise<string>>> = {
  bash: async (commands) => bash(await described(commands)),
  // zsh runs completions of bash by itself.
  zsh: async (commands) => `autoload -Uz bashcompinit && bashcompinit\n${bash(await described(commands))}`,
  fish: async (commands) => fish(await described(commands)),
};

/** Whether a word names one of the shells. */
export function isShell(word: string): word is Shell {
  return Object.hasOwn(COMPLETIONS, word);
}

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly { readonly name: string; readonly summary: string }[];
  /** The names its first word is one of. */
  readonly names: 'workflows' | 'runs' | null;
}

async function described(commands: readonly CommandEntry[]): Promise<readonly Described[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = await load();
      const options = Object.entries({ ...command.options, ...GLOBAL_OPTIONS }).map(([option, spec]) => ({
        name: option,
        summary: spec.summary,
      }));
      return { name, summary, options, names: namesOf(command) };
    }),
  );
}

function namesOf({ positionals: [first = ''] }: CliCommand): Described['names'] {
  if (first.includes('WORKFLOW')) return 'workflows';
  return first.includes('RUN') ? 'runs' : null;
}

function bash(commands: readonly Described[]): string {
  const cases = commands.map(({ name, options, names }) => {
    const flags = options.map((option) => `--${option.name}`).join(' ');
    const asked = names === null ? '' : ` $(phasegate completion ${names} 2>/dev/null)`;
    return `    ${name}) [[ $current == -* ]] && words="${flags}" || words="${asked.trim()}" ;;`;
  });
  return `_phasegate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ "\${COMP_WORDS[index]}" != -* ]] && { command="\${COMP_WORDS[index]}"; break; }
  done
  case "$command" in
    "") words="${commands.map(({ name }) => name).join(' ')} help --help --version" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _phasegate phasegate`;
}

function fish(commands: readonly Described[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const lines = commands.flatMap(({ name, summary, options, names }) => [
    `complete -c phasegate -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...(names === null
      ? []
      : [
          `complete -c phasegate -n '__fish_seen_subcommand_from ${name}' -f -a '(phasegate completion ${names} 2>/dev/null)'`,
        ]),
    ...options.map(
      (option) =>
        `complete -c phasegate -n '__fish_seen_subcommand_from ${name}' -l ${option.name} -d ${quoted(option.summary)}`,
    ),
  ]);
  return lines.join('\n');
}
