import { PhasegateClientError } from './PhasegateClientError.ts';

/** The path in an address such as `unix:/run/phasegate/socket`, or null for one of another kind. */
export function socketPathIn(url: string): string | null {
  const path = /^unix:(?:\/\/)?(\/.*)$/s.exec(url)?.[1];
  if (path === undefined) return null;
  if (path.includes('\0') || path.endsWith('/')) {
    throw new PhasegateClientError(
      'usage',
      '`url` names a folder; give the socket in it: `unix:/FOLDER/socket`',
    );
  }
  return path;
}

/**
 * `fetch` over a socket in the file system, as Node's own has no option for one. Only what this client needs of it:
 * a URL, a method, headers, a text as body and a signal. A redirect is an answer like any other.
 */
export function socketFetch(path: string): typeof globalThis.fetch {
  const { process } = globalThis as { readonly process?: PlatformProcess };
  const http = process?.getBuiltinModule?.('node:http');
  const stream = process?.getBuiltinModule?.('node:stream');
  if (http === undefined || stream === undefined) {
    throw new PhasegateClientError('usage', '`unix:` needs Node; give an http or https address here');
  }
  const { Readable } = stream;
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(String(input));
      const body = typeof init.body === 'string' ? init.body : null;
      const asked = http.request(
        {
          socketPath: path,
          path: `${url.pathname}${url.search}`,
          method: init.method ?? 'GET',
          headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
          // A connection for each request: a process that has asked all it wanted is to end.
          agent: false,
          ...(init.signal == null ? {} : { signal: init.signal }),
        },
        (answer) => {
          const headers = new Headers();
          for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
            headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
          }
          const status = answer.statusCode ?? 500;
          if (BODILESS.has(status)) answer.resume();
          resolve(new Response(BODILESS.has(status) ? null : Readable.toWeb(answer), { status, headers }));
        },
      );
      asked.once('error', (error) => reject(init.signal?.aborted === true ? init.signal.reason : error));
      asked.end(body ?? undefined);
    });
}

/** Statuses whose answers have no body; `Response` refuses one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

interface Answer {
  readonly statusCode?: number;
  readonly rawHeaders: readonly string[];
  resume(): void;
}

interface Asked {
  once(event: 'error', listener: (error: Error) => void): void;
  end(body: string | undefined): void;
}

/** What of Node is used here, on platforms that have it. */
interface PlatformProcess {
  getBuiltinModule?: {
    (name: 'node:http'): { request(options: object, answered: (answer: Answer) => void): Asked } | undefined;
    (name: 'node:stream'): { Readable: { toWeb(answer: Answer): ReadableStream<Uint8Array> } } | undefined;
  };
}
