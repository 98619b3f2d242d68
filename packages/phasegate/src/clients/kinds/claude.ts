import type { AttachedServer, ClientKind } from '../clientKind.ts';
import { anthropicMessages } from '../protocols/anthropicMessages.ts';

/** Claude Code. */
export const claude: ClientKind = {
  name: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  protocol: anthropicMessages,
  arrange: ({ program, home, files, model, prompt, server }) => ({
    // Everything is allowed, so that what is refused was refused by a hook.
    argv: [
      program,
      '-p',
      prompt,
      '--output-format',
      'stream-json',
      '--verbose',
      '--model',
      'claude-sonnet-4-5',
      '--permission-mode',
      'bypassPermissions',
      ...(server === undefined ? [] : ['--mcp-config', JSON.stringify(serversOf(server))]),
    ],
    environment: {
      HOME: home,
      TMPDIR: files,
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'of-nobody',
      // Without it, it does not start as root with everything allowed.
      IS_SANDBOX: '1',
      // Tools of MCP servers are shown at once instead of being searched for.
      ENABLE_TOOL_SEARCH: 'false',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_BUG_COMMAND: '1',
      DO_NOT_TRACK: '1',
    },
    folders: [],
    settings: [],
  }),
  words: {
    write: (file_path, content) => ({ tool: 'Write', input: { file_path, content } }),
    edit: (file_path, old_string, new_string) => ({
      tool: 'Edit',
      input: { file_path, old_string, new_string },
    }),
    read: (file_path) => ({ tool: 'Read', input: { file_path } }),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'as the script says' } }),
    background: (command) => ({
      tool: 'Bash',
      input: { command, description: 'as the script says', run_in_background: true },
    }),
    subagent: (prompt) => ({
      tool: 'Agent',
      input: {
        description: 'a part of it',
        prompt,
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
    }),
    mcp: (server, tool, input) => ({ tool: `mcp__${server}__${tool}`, input }),
  },
};

function serversOf({ name, argv: [command, ...args] }: AttachedServer) {
  return { mcpServers: { [name]: { type: 'stdio', command, args } } };
}
