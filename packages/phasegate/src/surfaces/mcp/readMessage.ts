import { REQUEST_LIMIT } from '@phasegate/core/contract';
import { isFarTooDeep } from '../../limits/jsonDepth.ts';

/** A message that was read once: each of those that look at it would read and parse it again. */
export interface ReadMessage {
  readonly request: Request;
  /** Left out where there is none, or none that can be parsed. */
  readonly parsedBody?: unknown;
}

/** Reads the message of a request, no further than the limit; the answer for one that is not taken. */
export async function readMessage(request: Request): Promise<ReadMessage | Response> {
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '');
  if (request.method !== 'POST' || !isJson || request.body === null) return { request };
  const bytes = await bytesOf(request.body);
  if (bytes === null) return refused(413, `the message is larger than ${REQUEST_LIMIT} bytes; send less`);
  if (isFarTooDeep(bytes)) return refused(400, 'the message is nested too deeply; send it flatter');
  try {
    return { request, parsedBody: JSON.parse(bytes.toString()) as unknown };
  } catch {
    const { url, method, headers, signal } = request;
    return { request: new Request(url, { method, headers, signal, body: new Uint8Array(bytes) }) };
  }
}

/** Null where there are too many. */
async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > REQUEST_LIMIT) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refused(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null }, { status });
}

const INVALID_REQUEST = -32_600;
