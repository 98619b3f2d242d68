import type { IncomingMessage, ServerResponse } from 'node:http';

/** Notices when nothing has used a server for a while. */
export interface IdleEnd {
  /** Counts a request as use until its answer has ended; a stream is use as long as it is open. */
  begin(request: Pick<IncomingMessage, 'url'>, response: Pick<ServerResponse, 'once'>): void;
  /** Settles when the time has passed; never where there is none. */
  readonly passed: Promise<void>;
  stop(): void;
}

/** What only looks whether the server is there keeps nobody's server alive. */
const PROBES = /^\/(?:healthz|readyz|metrics)(?:[?#]|$)/;

/** Watches for that many milliseconds without use. */
export function createIdleEnd(idleMs: number | undefined): IdleEnd {
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;
  let pass = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const rest = () => {
    if (idleMs === undefined || underWay > 0) return;
    clearTimeout(timer);
    // A longer time than a timer can hold would be no time at all.
    timer = setTimeout(pass, Math.min(idleMs, LONGEST_MS));
  };
  rest();
  return {
    passed,
    begin({ url = '' }, response) {
      if (idleMs === undefined || PROBES.test(url)) return;
      underWay += 1;
      clearTimeout(timer);
      response.once('close', () => {
        underWay -= 1;
        rest();
      });
    },
    stop: () => clearTimeout(timer),
  };
}

const LONGEST_MS = 2 ** 31 - 1;
