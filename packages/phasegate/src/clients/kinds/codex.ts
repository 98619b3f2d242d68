import { join } from 'node:path';
import type { ClientKind } from '../clientKind.ts';
import { openaiResponses } from '../protocols/openaiResponses.ts';

/** Codex CLI. */
export const codex: ClientKind = {
  name: 'codex',
  title: 'Codex CLI',
  package: '@openai/codex',
  protocol: openaiResponses,
  arrange: ({ program, project, home, model, prompt, server, untrusted = false }) => {
    // Values are TOML, in which these texts are written as in JSON.
    const set = (key: string, value: unknown) => ['-c', `${key}=${JSON.stringify(value)}`];
    const attached =
      server === undefined
        ? []
        : [
            ...set(`mcp_servers.${server.name}.command`, server.argv[0]),
            ...set(`mcp_servers.${server.name}.args`, server.argv.slice(1)),
          ];
    return {
      argv: [
        program,
        'exec',
        '--json',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        // Its own question, asked once at a terminal, whether the project's hooks are wanted.
        ...(untrusted ? [] : ['--dangerously-bypass-hook-trust']),
        // A model it knows, as others get no tool for edits.
        ...set('model', 'gpt-5.5'),
        ...set('model_provider', 'scripted'),
        ...set('model_providers.scripted.name', 'scripted'),
        ...set('model_providers.scripted.base_url', `${model}/v1`),
        ...set('model_providers.scripted.wire_api', 'responses'),
        ...set('model_providers.scripted.env_key', 'SCRIPTED_MODEL_KEY'),
        ...set('check_for_update_on_startup', false),
        ...set('analytics.enabled', false),
        ...set(`projects.${JSON.stringify(project)}.trust_level`, 'trusted'),
        ...attached,
        prompt,
      ],
      environment: { HOME: home, CODEX_HOME: join(home, '.codex'), SCRIPTED_MODEL_KEY: 'of-nobody' },
      // It does not make its own home.
      folders: [join(home, '.codex')],
      settings: [],
    };
  },
  words: {
    write: (path, content) => ({
      tool: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${path}\n${lines('+', content)}\n*** End Patch\n`,
    }),
    edit: (path, from, to) => ({
      tool: 'apply_patch',
      input: `*** Begin Patch\n*** Update File: ${path}\n@@\n${lines('-', from)}\n${lines('+', to)}\n*** End Patch\n`,
    }),
    read: (path) => ({ tool: 'exec_command', input: { cmd: `cat ${quoted(path)}` } }),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    // What has not ended by then goes on, and can be written to.
    background: (cmd) => ({ tool: 'exec_command', input: { cmd, yield_time_ms: 250 } }),
    subagent: (message) => ({ tool: 'spawn_agent', group: AGENTS, input: { message } }),
    join: (answer) => {
      const target = /"agent_id":\s*"([^"]+)"/.exec(answer)?.[1] ?? '';
      return { tool: 'wait_agent', group: AGENTS, input: { targets: [target], timeout_ms: 20_000 } };
    },
    mcp: (server, tool, input) => ({ tool, group: `mcp__${server}`, input }),
  },
};

const AGENTS = 'multi_agent_v1';

function lines(mark: string, content: string): string {
  return content
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
