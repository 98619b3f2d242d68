import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Conversation, Protocol } from './protocol.ts';
import type { Exchange, Script, Step, Turn } from './script.ts';

/** A model that plays a script to a real client, on this machine alone. */
export interface ScriptedModel {
  readonly url: string;
  /** Every turn that was asked for, in order. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

const OVER: Turn = { text: 'the script has ended' };
const ASIDE = 'ok';

/** Listens on loopback and answers as the protocol's server would, with the turns of the script. */
export async function openScriptedModel(protocol: Protocol, script: Script): Promise<ScriptedModel> {
  const opened = performance.now();
  const exchanges: Exchange[] = [];
  const threads = new Map<string, Played>();
  let spoken = 0;

  async function say(conversation: Conversation, turn: Turn): Promise<Answer> {
    if (turn.status !== undefined) return protocol.fail(turn.status);
    spoken += 1;
    const { text = '', calls = [], tokens = 10 } = turn;
    return protocol.write(conversation, { id: spoken, text, calls, tokens });
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const asked = {
      method: request.method ?? '',
      path: new URL(request.url ?? '/', 'http://model').pathname,
      body: await bodyOf(request),
    };
    const conversation = protocol.read(asked);
    if (conversation === null) return protocol.aside(asked);
    const { name, turns } = threadOf(conversation, script);
    if (conversation.aside && name === MAIN) return say(conversation, { text: script.aside ?? ASIDE });
    const played = threads.get(name) ?? { next: 0, seen: 0, sum: '', saying: Promise.resolve(OVER) };
    threads.set(name, played);
    // A client that heard no answer asks again, with the same words.
    const sum = sumOf(conversation);
    if (sum !== played.sum) {
      const exchange = exchangeOf(conversation, { name, played, at: performance.now() - opened });
      exchanges.push(exchange);
      played.sum = sum;
      played.seen = conversation.messages.length;
      played.saying = take(turns[played.next] ?? OVER, exchange);
      played.next += 1;
    }
    return say(conversation, await played.saying);
  }

  const server = createServer(async (request, response) => {
    const { status, type, text } = await answer(request).catch(() => protocol.fail(500));
    response.writeHead(status, { 'content-type': type }).end(request.method === 'HEAD' ? undefined : text);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

const MAIN = 'main';

/** How far one thread has come. */
interface Played {
  next: number;
  /** Messages that were there at the last request. */
  seen: number;
  sum: string;
  saying: Promise<Turn>;
}

async function take(step: Step, shown: Exchange): Promise<Turn> {
  return typeof step === 'function' ? step(shown) : step;
}

/** Whose conversation this is. What the model itself said, and what tools answered, may quote any opening. */
function threadOf({ messages }: Conversation, { turns, threads = [] }: Script) {
  const first = messages.findIndex(({ by }) => by === 'model');
  const opening = messages.slice(0, first < 0 ? undefined : first).flatMap(({ texts }) => texts);
  const found = threads.find((thread) => opening.some((text) => text.includes(thread.opening)));
  return found ?? { name: MAIN, turns };
}

function exchangeOf(
  { tools, messages, instructions }: Conversation,
  { name, played, at }: { readonly name: string; readonly played: Played; readonly at: number },
): Exchange {
  // A client that summed its conversation up sends fewer messages than before: all of them are new then.
  const fresh = messages
    .slice(played.seen < messages.length ? played.seen : 0)
    .filter(({ by }) => by === 'user');
  return {
    thread: name,
    turn: played.next,
    at,
    tools,
    results: fresh.flatMap(({ results }) => results),
    texts: fresh.flatMap(({ texts }) => texts),
    instructions,
  };
}

function sumOf({ messages }: Conversation): string {
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex');
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
