import {
  type AuthInfo,
  isInitializeRequest,
  type McpRequestContext,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

// Far more than one machine's agents; the session unused for longest makes room for a new one.
const MOST_SESSIONS = 256;

/** What sessions are made with. */
export interface LegacyOptions {
  readonly serverFor: (context: McpRequestContext) => McpServer | Promise<McpServer>;
  readonly newSessionId: () => string;
  readonly maxRequestBodySize: number;
}

/** Sessions of clients older than 2026-07-28: a stream back to the client, which forms for its user need. */
export interface LegacySessions {
  handle(request: Request, caller: { readonly authInfo?: AuthInfo }): Promise<Response>;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Who opened it; an id in other hands opens nothing. */
  readonly owner: string | undefined;
}

/** Keeps sessions in memory: all they hold is a connection, never the state of a run. */
export function createLegacySessions(options: LegacyOptions): LegacySessions {
  // In the order of last use.
  const sessions = new Map<string, Session>();

  async function open(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const server = await options.serverFor({
      era: 'legacy',
      requestInfo: request,
      ...(authInfo === undefined ? {} : { authInfo }),
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: options.newSessionId,
      maxRequestBodySize: options.maxRequestBodySize,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, owner: authInfo?.clientId });
        const [oldest] = sessions;
        if (sessions.size > MOST_SESSIONS && oldest !== undefined) void oldest[1].transport.close();
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    await server.connect(transport);
    return transport.handleRequest(request, {
      parsedBody: body,
      ...(authInfo === undefined ? {} : { authInfo }),
    });
  }

  return {
    async handle(request, { authInfo }) {
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        if (session === undefined || session.owner !== authInfo?.clientId) {
          return failure(404, -32001, 'Session not found');
        }
        sessions.delete(id);
        sessions.set(id, session);
        return session.transport.handleRequest(request, authInfo === undefined ? {} : { authInfo });
      }
      const body: unknown =
        request.method === 'POST'
          ? await request
              .clone()
              .json()
              .catch(() => undefined)
          : undefined;
      if (isInitializeRequest(body)) return open(request, body, authInfo);
      return failure(400, -32000, 'Bad Request: no session; send initialize first');
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
