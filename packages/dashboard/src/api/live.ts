import type { EventRecord } from '@phasegate/wire';
import { createParser } from 'eventsource-parser';
import { addressOf } from './ask.ts';

/** How the stream of events is doing. `ended`: the session is over, and only signing in helps. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'ended';

/** Who is told of what happens. */
export interface LiveListener {
  /** One record, in order, none left out. */
  record(record: EventRecord): void;
  /** What was looked at before may be out of date: the stream begins only now. */
  begun(): void;
  state(state: LiveState): void;
}

/** Follows everything that happens until stopped; after a lost connection, from where it was. */
export function followEvents(listener: LiveListener): () => void {
  const stopping = new AbortController();
  void follow(listener, stopping.signal);
  return () => stopping.abort();
}

async function follow(listener: LiveListener, stopping: AbortSignal): Promise<void> {
  let last: string | null = null;
  let failures = 0;
  while (!stopping.aborted) {
    const end = await readOnce({
      last,
      stopping,
      opened() {
        failures = 0;
        listener.state('live');
        if (last === null) listener.begun();
      },
      record(id, record) {
        last = id;
        listener.record(record);
      },
    });
    if (stopping.aborted) return;
    if (end === 'signed_out') return listener.state('ended');
    // The server does not know the place any more: it has another database by now.
    if (end === 'place_unknown') last = null;
    listener.state('lost');
    failures += 1;
    await pause(Math.min(500 * 2 ** (failures - 1), LONGEST_PAUSE_MS), stopping);
  }
}

type End = 'lost' | 'signed_out' | 'place_unknown';

interface Reading {
  readonly last: string | null;
  readonly stopping: AbortSignal;
  opened(): void;
  record(id: string, record: EventRecord): void;
}

/** The server says every 15 seconds that it is there. */
const SILENT_MS = 40_000;
const LONGEST_PAUSE_MS = 10_000;

async function readOnce({ last, stopping, opened, record }: Reading): Promise<End> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  try {
    const response = await fetch(addressOf('/events'), {
      headers: last === null ? {} : { 'last-event-id': last },
      signal: AbortSignal.any([stopping, silence.signal]),
      cache: 'no-store',
      redirect: 'error',
    });
    if (response.status === 401 || response.status === 403) return 'signed_out';
    if (response.status === 422) return 'place_unknown';
    if (!response.ok || response.body === null) return 'lost';
    opened();
    const parser = createParser({
      onEvent({ id, data }) {
        if (id !== undefined) record(id, JSON.parse(data) as EventRecord);
      },
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'lost';
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MS);
      parser.feed(value);
    }
  } catch {
    return 'lost';
  } finally {
    clearTimeout(timer);
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stopping.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
