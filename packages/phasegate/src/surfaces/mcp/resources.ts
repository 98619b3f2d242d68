import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { PhasegateError, type RunView } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { PAGE_LIMIT, spellNext } from '@phasegate/wire';
import { boundText } from './boundResult.ts';
import { MCP } from './spell.ts';
import type { McpParts } from './tool.ts';

const TEMPLATE = 'phasegate://runs/{id}/phase';

/** The current phase of each of the agent's unfinished runs, as a text to read. */
export function serveResources(server: McpServer, { phasegate, run }: McpParts): void {
  const list = async () => {
    // By status and holder, which are found by index: those of others, and those that ended, are never gone over.
    const held = await Promise.all(
      UNFINISHED_STATUSES.map((status) => phasegate.runs({ status, held: true, limit: PAGE_LIMIT })),
    );
    return {
      resources: held
        .flat()
        .filter((one) => run === undefined || one.run === run)
        // The newest first, as in every list of runs.
        .sort((one, other) => other.startedAt.localeCompare(one.startedAt))
        .map((one) => ({
          uri: TEMPLATE.replace('{id}', encodeURIComponent(one.run)),
          name: `${one.workflow} ${one.run}`,
          description: `the current phase of ${one.workflow}`,
          mimeType: 'text/markdown',
        })),
    };
  };
  server.registerResource(
    'current_phase',
    new ResourceTemplate(TEMPLATE, { list }),
    { title: 'Current phase', description: 'the phase a run is in', mimeType: 'text/markdown' },
    async (uri, { id }) => {
      const asked = decodeURIComponent(String(id));
      if (run !== undefined && asked !== run) throw new ResourceNotFoundError(uri.href);
      const view = await phasegate.view(asked).catch((error: unknown) => {
        throw error instanceof PhasegateError && HIDDEN.has(error.code)
          ? new ResourceNotFoundError(uri.href)
          : error;
      });
      return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: boundText(textOf(view)) }] };
    },
  );
}

// A run of another agent is as good as none.
const HIDDEN: ReadonlySet<string> = new Set(['run_unknown', 'not_permitted']);

function textOf(view: RunView): string {
  const content = view.current?.content ?? `The run is ${view.status}.`;
  return `${content.trimEnd()}\n\nNext: ${spellNext(view, MCP)}\n`;
}
