import { createParser } from 'eventsource-parser';
import { type Answered, type Asked, type FaultNode, type HeldToken, heldToken } from './history.ts';

/** Where a node is now, and what is known about it. */
export interface NodeAddress {
  readonly url: string;
  /** The secret of a human's session at this node; it has none before it was started. */
  session(): string | undefined;
  /** Of an agent, by its name. */
  key(agent: string): string;
  /** The name of that human. */
  readonly human?: string;
  /** What an agent hands in for the phase of a token. */
  artifacts?(token: HeldToken): object;
  /** How long an answer is waited for, in milliseconds. */
  readonly patienceMs: number;
}

/** A node that is asked by HTTP. */
export function httpNode(address: NodeAddress): FaultNode {
  async function send(method: string, path: string, { bearer, body }: Sent): Promise<Response> {
    return fetch(`${address.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(address.patienceMs),
    });
  }

  function request(agent: string, asked: Asked): readonly [path: string, sent: Sent] {
    const key = () => address.key(agent);
    const human = () => address.session() ?? '';
    switch (asked.kind) {
      case 'start':
        return ['/runs', { bearer: human(), body: { workflow: asked.workflow ?? 'errand', queue: true } }];
      case 'claim':
        return ['/tasks/claim', { bearer: key(), body: { agent_id: agent } }];
      case 'token':
        return ['/tasks/token', { bearer: key(), body: { task_id: asked.run } }];
      case 'check':
        return [
          '/tools/check',
          { bearer: asked.token.text, body: { tool: asked.tool, input: { path: asked.mark } } },
        ];
      case 'complete':
        return [
          '/tasks/transition',
          { bearer: asked.token.text, body: { artifacts: address.artifacts?.(asked.token) ?? {} } },
        ];
      case 'decide': {
        const { run, kind: _, ...body } = asked;
        // Anybody may knock at the door of the humans: with the key they have.
        return [`/runs/${run}/decisions`, { bearer: agent === address.human ? human() : key(), body }];
      }
    }
  }

  return {
    async ask(agent, asked) {
      try {
        const response = await send('POST', ...request(agent, asked));
        const text = await response.text();
        return answeredBy(asked, response.status, text === '' ? {} : JSON.parse(text));
      } catch (error) {
        return { kind: 'unknown', why: error instanceof Error ? error.message : String(error) };
      }
    },
    async card(run) {
      try {
        const response = await send('GET', `/runs/${run}/gate`, { bearer: address.session() ?? '' });
        if (!response.ok) return null;
        const { gate, shown } = (await response.json()) as { readonly gate: string; readonly shown: string };
        return { gate, shown };
      } catch {
        return null;
      }
    },
    async follow(after, tell, signal) {
      const parser = createParser({ onEvent: ({ id }) => (id === undefined ? undefined : tell(Number(id))) });
      const response = await fetch(`${address.url}/api/v1/events`, {
        headers: { authorization: `Bearer ${address.session() ?? ''}`, 'last-event-id': String(after) },
        signal,
      });
      if (!response.ok || response.body === null) throw new Error(`the feed answered ${response.status}`);
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) parser.feed(chunk);
    },
  };
}

interface Sent {
  readonly bearer: string;
  readonly body?: object;
}

function answeredBy(asked: Asked, status: number, body: Readonly<Record<string, unknown>>): Answered {
  // The store did not say what became of it.
  if (status >= 500 && body.error !== 'internal') return { kind: 'unknown', why: String(body.message) };
  if (status >= 400) return { kind: 'refused', code: String(body.error) };
  if (status === 204) return { kind: 'nothing' };
  if (asked.kind === 'start') return { kind: 'started', run: String(body.run) };
  if (asked.kind === 'check') return { kind: 'judged', allowed: body.allowed === true };
  if (asked.kind === 'decide') return { kind: 'decided' };
  if (typeof body.item_completed === 'string' && typeof body.phase_token !== 'string')
    return { kind: 'item', item: body.item_completed };
  if (status === 202) return { kind: 'waits', gate: String(Object(body.gate).id) };
  if (typeof body.phase_token === 'string') return { kind: 'given', token: heldToken(body.phase_token) };
  return body.status === 'completed' ? { kind: 'ended' } : { kind: 'unknown', why: JSON.stringify(body) };
}
