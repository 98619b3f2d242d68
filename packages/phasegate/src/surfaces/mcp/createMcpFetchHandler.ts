import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpRequestContext,
  type McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { REQUEST_LIMIT } from '@phasegate/core/contract';
import { createLegacySessions } from './legacySessions.ts';
import { readMessage } from './readMessage.ts';

/** What serving over HTTP needs. */
export interface McpFetchOptions {
  /** Makes the server of one request, or of one session of an older client, for the one who was authenticated. */
  readonly serverFor: (context: McpRequestContext) => McpServer | Promise<McpServer>;
  /** Hostnames that may stand in `Host`; default: this machine's own, against rebound names. */
  readonly hosts?: readonly string[];
  /** Hostnames that may stand in `Origin`; default: this machine's own. */
  readonly origins?: readonly string[];
  readonly newSessionId: () => string;
  /** Whose share of the sessions a caller's are counted to; left out, each client has its own. */
  readonly agentOf?: (authInfo: AuthInfo | undefined) => string;
  onerror?(error: Error): void;
}

/** MCP as a web-standard handler, to be mounted on a path of any server. */
export interface McpFetchHandler {
  /** `authInfo` is whom the mounting server authenticated; nothing is read from headers here. */
  fetch(request: Request, caller?: { readonly authInfo?: AuthInfo }): Promise<Response>;
  close(): Promise<void>;
}

/** Serves both protocol eras: 2026-07-28 request by request, older clients by session. */
export function createMcpFetchHandler(options: McpFetchOptions): McpFetchHandler {
  const { serverFor, newSessionId, onerror = () => undefined } = options;
  const hosts = [...(options.hosts ?? localhostAllowedHostnames())];
  const origins = [...(options.origins ?? localhostAllowedOrigins())];
  const limit = { maxRequestBodySize: REQUEST_LIMIT };
  const modern = createMcpHandler(serverFor, { legacy: 'reject', onerror, ...limit });
  const agentOf = options.agentOf ?? ((authInfo) => authInfo?.clientId ?? '');
  const sessions = createLegacySessions({ serverFor, newSessionId, agentOf, ...limit });
  return {
    async fetch(request, { authInfo } = {}) {
      const stranger =
        hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins);
      if (stranger !== undefined) return stranger;
      const read = await readMessage(request);
      if (read instanceof Response) return read;
      const { request: whole, ...message } = read;
      const caller = authInfo === undefined ? message : { ...message, authInfo };
      if (await isLegacyRequest(whole, message.parsedBody, limit)) return sessions.handle(whole, caller);
      return modern.fetch(whole, caller);
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}
