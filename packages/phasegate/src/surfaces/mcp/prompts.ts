import {
  type GetPromptResult,
  type McpServer,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { didYouMean } from '@phasegate/core/model';
import type { Catalog, CatalogEntry } from '../../runtime/ports.ts';

/** Every workflow as a prompt that asks the agent to start it. Looked up when asked: files come and go. */
export function servePrompts({ server }: McpServer, catalog: Catalog): void {
  server.setRequestHandler('prompts/list', async () => ({
    prompts: unique(await catalog.list()).map(promptOf),
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const entries = unique(await catalog.list());
    const entry = entries.find(({ id }) => id === params.name);
    if (entry !== undefined) return requestOf(entry, params.arguments ?? {});
    const guess = didYouMean(
      params.name,
      entries.map(({ id }) => id),
    );
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no workflow \`${params.name}\`${guess}`,
    );
  });
}

function promptOf({ id, title, phases }: CatalogEntry): Prompt {
  const count = phases === null ? '' : ` (${phases.length} phases)`;
  return {
    name: id,
    title,
    description: `Start the workflow ${title}${count}`,
    arguments: [
      { name: 'target_file', description: 'what the work is about', required: false },
      { name: 'options', description: 'params of the workflow, as JSON', required: false },
    ],
  };
}

function requestOf({ id, title }: CatalogEntry, given: Readonly<Record<string, string>>): GetPromptResult {
  const words = [
    `workflow_type=${JSON.stringify(id)}`,
    ...['target_file', 'options'].flatMap((name) => {
      const value = given[name];
      return value === undefined || value.trim() === '' ? [] : [`${name}=${JSON.stringify(value)}`];
    }),
  ];
  const text =
    `Follow the workflow "${title}". Call start_workflow(${words.join(', ')}), do what phase_content says, and make ` +
    'the call in next_action. Go on like this, phase by phase, until the run is completed or waits for a human.';
  return { description: title, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

/** Two files may define one id; anyone who starts it is told. One prompt stands for both. */
function unique(entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  return entries.filter((entry, index) => entries.findIndex(({ id }) => id === entry.id) === index);
}
