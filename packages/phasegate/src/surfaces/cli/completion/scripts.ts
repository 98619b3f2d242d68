import type { CliCommand, CommandEntry, OptionSpec } from '../command.ts';
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
  readonly options: readonly {
    readonly name: string;
    readonly summary: string;
    readonly choices: readonly string[];
  }[];
  /** What its first word may be: words as they are, and names that the project is asked for. */
  readonly words: readonly string[];
  readonly names: readonly ('workflows' | 'runs')[];
}

async function described(commands: readonly CommandEntry[]): Promise<readonly Described[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = await load();
      const options = Object.entries<OptionSpec>({ ...command.options, ...GLOBAL_OPTIONS }).map(
        ([option, spec]) => ({
          name: option,
          summary: spec.summary,
          choices: spec.choices ?? [],
        }),
      );
      return { name, summary, options, ...firstWord(command) };
    }),
  );
}

/** The first word as the usage has it: `[WORKFLOW|RUN]` stands for names, `verify|export` for itself. */
function firstWord({ positionals: [first = ''] }: CliCommand): Pick<Described, 'words' | 'names'> {
  const parts = first.replaceAll(/[[\]…]/g, '').split('|');
  return {
    words: parts.filter((part) => /^[a-z]+$/.test(part)),
    names: [
      ...(parts.includes('WORKFLOW') ? ['workflows' as const] : []),
      ...(parts.includes('RUN') ? ['runs' as const] : []),
    ],
  };
}

/** What a shell offers for the first word of a command, with calls of ours for names. */
function offered({ words, names }: Described): string {
  return [...words, ...names.map((kind) => `$(phasegate completion ${kind} 2>/dev/null)`)].join(' ');
}

function bash(commands: readonly Described[]): string {
  const cases = commands.flatMap((command) => {
    const { name, options } = command;
    const flags = options.map((option) => `--${option.name}`).join(' ');
    return [
      ...options
        .filter(({ choices }) => choices.length > 0)
        .map((option) => `    "${name} --${option.name}") words="${option.choices.join(' ')}" ;;`),
      `    "${name} "*) [[ $current == -* ]] && words="${flags}" || words="${offered(command)}" ;;`,
    ];
  });
  return `_phasegate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ "\${COMP_WORDS[index]}" != -* ]] && { command="\${COMP_WORDS[index]}"; break; }
  done
  case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
    " "*) words="${commands.map(({ name }) => name).join(' ')} help --help --version" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _phasegate phasegate`;
}

function fish(commands: readonly Described[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const values = (choices: readonly string[]) =>
    choices.length === 0 ? '' : ` -x -a '${choices.join(' ')}'`;
  const lines = commands.flatMap((command) => {
    const { name, summary, options } = command;
    const within = `complete -c phasegate -n '__fish_seen_subcommand_from ${name}'`;
    // Fish calls a program without a dollar sign.
    const first = offered(command).replaceAll('$(', '(');
    return [
      `complete -c phasegate -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(first === '' ? [] : [`${within} -f -a '${first}'`]),
      ...options.map(
        (option) => `${within} -l ${option.name}${values(option.choices)} -d ${quoted(option.summary)}`,
      ),
    ];
  });
  return lines.join('\n');
}
