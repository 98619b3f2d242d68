import { MCP_SECONDS } from '@phasegate/core/contract';

/** A client that Phasegate knows how to start: with its tools attached where that can be said, and nobody to be asked. */
export interface AgentPreset {
  /** As it is named after `--agent`; also its program. */
  readonly name: string;
  readonly title: string;
  /** The command that installs it. */
  readonly install: string;
  /** What it is started with; the prompt comes on standard input. */
  launch(attached: Attached): PresetLaunch;
}

/** How the client reaches Phasegate's tools. */
export interface Attached {
  readonly mcp: McpProgram | McpServer;
  /** What the path of a file for the client begins with; only this user may read there. */
  readonly files: string;
}

/** Phasegate's tools from a program that the client starts. */
export interface McpProgram {
  readonly command: readonly [string, ...string[]];
  /** Names of variables it needs, where the client does not pass its environment on. */
  readonly variables: readonly string[];
}

/** Phasegate's tools from a running server. */
export interface McpServer {
  readonly url: string;
  /** Name of the variable that holds the key. */
  readonly keyVariable: string;
}

/** A client to start. Nothing secret is in it: keys are named by their variable. */
export interface PresetLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** To be written before it starts. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const claude: AgentPreset = {
  name: 'claude',
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code',
  launch({ mcp, files }) {
    const path = `${files}.mcp.json`;
    const server =
      'url' in mcp
        ? { type: 'http', url: mcp.url, headers: { Authorization: `Bearer \${${mcp.keyVariable}}` } }
        : { command: mcp.command[0], args: mcp.command.slice(1) };
    return {
      // Modes that ask refuse where nobody can answer, and the one that allows everything does not start as root.
      argv: [
        'claude',
        '-p',
        '--permission-mode',
        'dontAsk',
        '--allowedTools=mcp__phasegate,Bash,Read,Edit,Write,NotebookEdit,Glob,Grep,TodoWrite,Task',
        '--mcp-config',
        path,
        '--strict-mcp-config',
      ],
      environment: {},
      files: [{ path, text: json({ mcpServers: { phasegate: server } }) }],
    };
  },
};

const codex: AgentPreset = {
  name: 'codex',
  title: 'Codex CLI',
  install: 'npm install -g @openai/codex',
  launch({ mcp }) {
    // Its values are TOML, in which these texts and lists of texts are written as in JSON.
    const set = (key: string, value: unknown) => [
      '-c',
      `mcp_servers.phasegate.${key}=${JSON.stringify(value)}`,
    ];
    const server =
      'url' in mcp
        ? [...set('url', mcp.url), ...set('bearer_token_env_var', mcp.keyVariable)]
        : [
            ...set('command', mcp.command[0]),
            ...set('args', mcp.command.slice(1)),
            ...set('env_vars', mcp.variables),
          ];
    const times = [
      ...set('startup_timeout_sec', MCP_SECONDS.start),
      ...set('tool_timeout_sec', MCP_SECONDS.answer),
    ];
    return {
      argv: [
        'codex',
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        ...server,
        ...times,
        '-',
      ],
      environment: {},
      files: [],
    };
  },
};

const gemini: AgentPreset = {
  name: 'gemini',
  title: 'Gemini CLI',
  install: 'npm install -g @google/gemini-cli',
  // It takes MCP servers from settings files only, and none that another program may put beside the user's: it works
  // with `phasegate` commands, and with the tools where the project's `.gemini/settings.json` names them.
  launch: () => ({
    argv: ['gemini', '--approval-mode', 'yolo', '-o', 'text'],
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    files: [],
  }),
};

const opencode: AgentPreset = {
  name: 'opencode',
  title: 'opencode',
  install: 'npm install -g opencode-ai',
  launch({ mcp }) {
    const server =
      'url' in mcp
        ? { type: 'remote', url: mcp.url, headers: { Authorization: `Bearer {env:${mcp.keyVariable}}` } }
        : { type: 'local', command: mcp.command };
    const timeout = MCP_SECONDS.answer * 1000;
    const config = { permission: 'allow', mcp: { phasegate: { ...server, enabled: true, timeout } } };
    return {
      argv: ['opencode', 'run'],
      environment: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) },
      files: [],
    };
  },
};

/** Every client that can be named after `--agent`. */
export const AGENT_PRESETS: readonly AgentPreset[] = [claude, codex, gemini, opencode];

/** The client of that name; undefined for any other word, which is a command. */
export function presetNamed(name: string): AgentPreset | undefined {
  return AGENT_PRESETS.find((preset) => preset.name === name);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
