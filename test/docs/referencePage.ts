import { OpenAPIHono } from '@hono/zod-openapi';
import { VERSION } from '../../packages/phasegate/src/surfaces/cli/version.ts';
import { apiReferenceMarkdown } from '../../packages/phasegate/src/surfaces/rest/apiPage.ts';
import { openApiDocument } from '../../packages/phasegate/src/surfaces/rest/openapi.ts';
import type { RestEnv, RouteParts } from '../../packages/phasegate/src/surfaces/rest/parts.ts';
import { registerRoutes } from '../../packages/phasegate/src/surfaces/rest/routes/index.ts';

/** `docs/reference/api.md`, made from the document the server itself hands out. */
export function referencePage(): string {
  const app = new OpenAPIHono<RestEnv>();
  // Nothing is called: the routes only have to be there to be described.
  registerRoutes(app, { version: VERSION } as RouteParts, async (_c, caller) => caller);
  return `${NOTE}\n\n${apiReferenceMarkdown(openApiDocument(app, { version: VERSION }))}`;
}

const NOTE = '<!-- Made by `npx node test/docs/writeApi.ts`. Change the routes, not this file. -->';
