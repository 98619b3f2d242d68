import { Readable, type Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { REQUEST_LIMIT } from '@phasegate/core/contract';
import { type DroppedLine, LimitedLines } from './limitedLines.ts';

// Above the limit of evidence, so that too much of it gets an answer that says so.
const TOO_LARGE = 'the message is larger than 2 MB, and evidence may have 1 MB; send less';
const INVALID_REQUEST = -32_600;

/**
 * MCP on two streams. The SDK's own transport drops what is under way when its input ends; here calls that were made
 * are answered first, so that `printf '…' | phasegate mcp` works and nothing done is left untold.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Settles when the connection is over. */
  readonly closed: Promise<void>;
  readonly #input: Readable;
  /** Given to the SDK in place of the input: it hears every chunk, and not the end. */
  readonly #heard = new Readable({ read: () => undefined });
  readonly #inner: StdioServerTransport;
  /** Calls that were made and are not answered. */
  readonly #open = new Set<RequestId>();
  /** Questions of ours to the client; with nobody left to answer them there is nothing to wait for. */
  readonly #asked = new Set<RequestId>();
  #ended = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#inner = new StdioServerTransport(this.#heard, output, { maxBufferSize: 2 * REQUEST_LIMIT });
    this.closed = new Promise((resolve) => {
      this.#inner.onclose = () => {
        this.#input.destroy();
        this.onclose?.();
        resolve();
      };
    });
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#receive(message);
    this.#inner.onerror = (error) => this.onerror?.(error);
    await this.#inner.start();
    const lines = new LimitedLines(REQUEST_LIMIT, (line) => this.#refuse(line));
    const hear = (heard: readonly Buffer[]) => {
      for (const line of heard) this.#heard.emit('data', line);
    };
    const end = () => {
      // The last line may lack its end.
      if (!this.#ended) hear(lines.finish().map((line) => Buffer.concat([line, Buffer.from('\n')])));
      this.#ended = true;
      this.#finish();
    };
    this.#input.on('data', (chunk: Buffer | string) => hear(lines.take(Buffer.from(chunk as Buffer))));
    this.#input.once('error', (error) => this.onerror?.(error));
    this.#input.once('end', end);
    this.#input.once('close', end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) this.#asked.add(message.id);
    await this.#inner.send(message);
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
    this.#finish();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #receive(message: JSONRPCMessage): void {
    // A subscription stays open for as long as the connection does: it is not waited for.
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.#open.add(message.id);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const cancelled = message.params?.requestId;
      if (typeof cancelled === 'string' || typeof cancelled === 'number') this.#open.delete(cancelled);
    }
    if (!('method' in message) && message.id !== undefined) this.#asked.delete(message.id);
    this.onmessage?.(message);
  }

  /** Anyone who sent too much is told so, where the call can be told from what is left of it. */
  #refuse(line: DroppedLine): void {
    this.onerror?.(new Error(TOO_LARGE));
    const id = idIn(line);
    if (id === null) return;
    const error = { code: INVALID_REQUEST, message: TOO_LARGE };
    this.#inner.send({ jsonrpc: '2.0', id, error }).catch((cause: Error) => this.onerror?.(cause));
  }

  #finish(): void {
    if (!this.#ended || (this.#open.size > 0 && this.#asked.size === 0)) return;
    this.#inner.close().catch(() => undefined);
  }
}

const ID = String.raw`"id"\s*:\s*("[^"\\]{1,200}"|\d{1,15})`;
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** The id of a call, where it stands before or after everything else, as clients write it. */
function idIn({ head, tail }: DroppedLine): RequestId | null {
  const found = (FIRST.exec(head) ?? LAST.exec(tail))?.[1];
  return found === undefined ? null : (JSON.parse(found) as RequestId);
}
