import { join } from 'node:path';
import type { ClientName, Launch } from '../../packages/phasegate/src/clients/clientKind.ts';

/** Rules that name what is denied, or rules that name all that is allowed. */
export type RuleKind = 'deny' | 'allow';

/** A file with rules, as the user of a client would write it. */
export interface RuleFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** Where a client works. */
export interface Where {
  readonly project: string;
  readonly home: string;
}

/** The rules of one client. */
export interface ClientRules {
  /** What they are called there. */
  readonly title: string;
  files(where: Where): readonly RuleFile[];
  /** The start of a client that they hold: what says yes to everything is left out where it would win. */
  apply?(launch: Launch): Launch;
}

/**
 * What a careful user would write for a phase that plans, in the client's own words. Denied are the tool for edits,
 * commits, inline programs, what is redirected into the sources and what touches the rules themselves; or everything is
 * denied but reading, searching, looking at the repository and running its tests. Null where the client has no such rules.
 */
export const CLIENT_RULES: Readonly<Record<ClientName, Readonly<Record<RuleKind, ClientRules | null>>>> = {
  claude: {
    deny: {
      title: '`permissions.deny`',
      files: claudeFile('project', {
        deny: [...claudeEdits(), ...patterns().map((pattern) => `Bash(${pattern})`)],
      }),
    },
    allow: {
      title: '`permissions.allow`, mode `dontAsk`',
      files: claudeFile('home', {
        allow: ['Read', 'Glob', 'Grep', 'Agent', ...allowedCommands().map((command) => `Bash(${command})`)],
        deny: claudeEdits(),
      }),
      apply: (launch) => withWords(launch, (words) => words.map((word) => MODES.get(word) ?? word)),
    },
  },
  codex: {
    deny: {
      title: 'rules that forbid commands by their first words',
      files: ({ home }) => [
        {
          path: join(home, '.codex/rules/plan.rules'),
          text: prefixes()
            .map((words) => `prefix_rule(pattern=${JSON.stringify(words)}, decision="forbidden")\n`)
            .join(''),
        },
      ],
    },
    allow: {
      title: '`sandbox_mode = "read-only"`',
      files: ({ home }) => [
        {
          path: join(home, '.codex/config.toml'),
          text: 'sandbox_mode = "read-only"\napproval_policy = "never"\n',
        },
      ],
      apply: (launch) => withWords(launch, (words) => words.filter((word) => word !== CODEX_YES)),
    },
  },
  gemini: {
    deny: {
      title: 'a policy with decision `deny`',
      files: geminiPolicy([
        { toolName: ['write_file', 'replace'], decision: 'deny', priority: 900 },
        {
          toolName: 'run_shell_command',
          commandPrefix: prefixes().map((words) => words.join(' ')),
          decision: 'deny',
          priority: 900,
        },
        {
          toolName: 'run_shell_command',
          commandRegex: '.*(>.*src/|\\.gemini/)',
          decision: 'deny',
          priority: 900,
        },
      ]),
    },
    allow: {
      title: 'a policy that allows commands by their first words',
      files: geminiPolicy([
        { toolName: ['write_file', 'replace', 'run_shell_command'], decision: 'deny', priority: 900 },
        {
          toolName: 'run_shell_command',
          commandPrefix: plainCommands(),
          decision: 'allow',
          priority: 950,
        },
      ]),
    },
  },
  opencode: {
    deny: {
      title: '`permission`, with patterns that deny',
      files: opencodeFile([['*', 'allow'], ...patterns().map((pattern) => [pattern, 'deny'] as const)]),
      apply: withoutPermission,
    },
    allow: {
      title: '`permission`, with patterns that allow',
      files: opencodeFile([
        ['*', 'deny'],
        ...allowedCommands().map((command) => [command, 'allow'] as const),
      ]),
      apply: withoutPermission,
    },
  },
  copilot: {
    deny: {
      title: '`--deny-tool`',
      files: () => [],
      apply: (launch) => {
        const denied = ['write', ...prefixes().map((words) => `shell(${words.join(' ')})`)];
        return withWords(launch, (words) => [...words, ...denied.map((tool) => `--deny-tool=${tool}`)]);
      },
    },
    allow: {
      title: '`--allow-tool`',
      files: () => [],
      apply: (launch) => {
        // It knows programs by their names, and of git the subcommands too.
        const allowed = ['node:*', 'git status', 'git log', 'grep'].map(
          (one) => `--allow-tool=shell(${one})`,
        );
        const rest = launch.argv.slice(1).filter((word) => word !== '--allow-all-tools');
        return withWords(launch, () => [...rest, ...allowed, '--deny-tool=write']);
      },
    },
  },
};

const MODES = new Map([['bypassPermissions', 'dontAsk']]);
const CODEX_YES = '--dangerously-bypass-approvals-and-sandbox';

function claudeEdits(): readonly string[] {
  return ['Edit', 'Write', 'NotebookEdit', 'Edit(/src/**)', 'Edit(/.claude/**)'];
}

/** Commands by pattern; a star is any text. */
function patterns(): readonly string[] {
  return [
    '*>*src/*',
    ...prefixes().map((words) => `${words.join(' ')} *`),
    '*.claude/*',
    '*.gemini/*',
    '*opencode.json*',
  ];
}

/** Commands by their first words. */
function prefixes(): readonly (readonly string[])[] {
  return [
    ['tee'],
    ['sed', '-i'],
    ['cp'],
    ['mv'],
    ['rm'],
    ['python', '-c'],
    ['python3', '-c'],
    ['node', '-e'],
    ['perl', '-e'],
    ['git', 'commit'],
    ['git', '-c'],
    ['git', 'config'],
    ['git', 'push'],
  ];
}

/** All that a phase that plans needs of the shell. */
export function plainCommands(): readonly string[] {
  return ['node --test', 'git status', 'git log', 'grep'];
}

function allowedCommands(): readonly string[] {
  return plainCommands().flatMap((command) => [command, `${command} *`]);
}

/** What a project allows counts only where its folder is trusted; what is denied there is denied from its root. */
function claudeFile(place: keyof Where, permissions: object): ClientRules['files'] {
  return (where) => [{ path: join(where[place], '.claude/settings.json'), text: json({ permissions }) }];
}

function geminiPolicy(rules: readonly Readonly<Record<string, unknown>>[]): ClientRules['files'] {
  // Texts, numbers and lists of texts are written in TOML as in JSON.
  const text = rules.map((rule) =>
    ['[[rule]]', ...Object.entries(rule).map(([key, value]) => `${key} = ${JSON.stringify(value)}`), ''].join(
      '\n',
    ),
  );
  return ({ home }) => [{ path: join(home, '.gemini/policies/plan.toml'), text: text.join('\n') }];
}

function opencodeFile(bash: readonly (readonly [string, string])[]): ClientRules['files'] {
  return ({ project }) => [
    {
      path: join(project, 'opencode.json'),
      text: json({ permission: { edit: 'deny', bash: Object.fromEntries(bash) } }),
    },
  ];
}

function withoutPermission(launch: Launch): Launch {
  const { OPENCODE_CONFIG_CONTENT = '{}', ...environment } = launch.environment;
  const { permission: _, ...settings } = JSON.parse(OPENCODE_CONFIG_CONTENT) as Record<string, unknown>;
  return {
    ...launch,
    environment: { ...environment, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
  };
}

function withWords(launch: Launch, change: (words: readonly string[]) => readonly string[]): Launch {
  const [program, ...words] = launch.argv;
  return { ...launch, argv: [program, ...change(words)] };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
