import {
  type AuthInfo,
  isInitializeRequest,
  type McpRequestContext,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

// Far more than one machine's agents, and than one agent needs.
const MOST_SESSIONS = 256;
const MOST_OF_AGENT = 16;

/** What sessions are made with. */
export interface LegacyOptions {
  readonly serverFor: (context: McpRequestContext) => McpServer | Promise<McpServer>;
  readonly newSessionId: () => string;
  readonly maxRequestBodySize: number;
  /** Whose share of the sessions a caller's are counted to. */
  readonly agentOf: (authInfo: AuthInfo | undefined) => string;
}

/** Sessions of clients older than 2026-07-28: a stream back to the client, which forms for its user need. */
export interface LegacySessions {
  /** `parsedBody` is that of the request, where it could be parsed. */
  handle(
    request: Request,
    caller: { readonly authInfo?: AuthInfo; readonly parsedBody?: unknown },
  ): Promise<Response>;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Who opened it; an id in other hands opens nothing. */
  readonly owner: string | undefined;
  readonly agent: string;
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
        sessions.set(id, { transport, owner: authInfo?.clientId, agent: options.agentOf(authInfo) });
        void oneTooMany(sessions, options.agentOf(authInfo))?.transport.close();
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
    async handle(request, caller) {
      const { authInfo, parsedBody } = caller;
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        if (session === undefined || session.owner !== authInfo?.clientId) {
          return failure(404, -32001, 'Session not found');
        }
        sessions.delete(id);
        sessions.set(id, session);
        return session.transport.handleRequest(request, caller);
      }
      if (isInitializeRequest(parsedBody)) return open(request, parsedBody, authInfo);
      return failure(400, -32000, 'Bad Request: no session; send initialize first');
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** An agent with too many loses its own least used; where there are too many in all, the one who has most does. */
function oneTooMany(sessions: ReadonlyMap<string, Session>, agent: string): Session | undefined {
  const counts = new Map<string, number>();
  for (const session of sessions.values()) counts.set(session.agent, (counts.get(session.agent) ?? 0) + 1);
  const [most] = [...counts].sort((one, other) => other[1] - one[1]);
  const isOver = (counts.get(agent) ?? 0) > MOST_OF_AGENT;
  const whose = isOver ? agent : sessions.size > MOST_SESSIONS ? most?.[0] : undefined;
  return [...sessions.values()].find((session) => session.agent === whose);
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
