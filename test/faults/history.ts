/** What an agent asked a node for. */
export type Asked =
  | { readonly kind: 'start'; readonly workflow?: string }
  | { readonly kind: 'claim' }
  | { readonly kind: 'token'; readonly run: string }
  | { readonly kind: 'check'; readonly token: HeldToken; readonly tool: string; readonly mark: string }
  | { readonly kind: 'complete'; readonly token: HeldToken }
  | {
      readonly kind: 'decide';
      readonly run: string;
      readonly gate: string;
      readonly option: string;
      readonly shown: string;
    };

/** What it was answered. */
export type Answered =
  /** A run that is there now, and waits for somebody. */
  | { readonly kind: 'started'; readonly run: string }
  /** What the agent holds from now on. */
  | { readonly kind: 'given'; readonly token: HeldToken }
  /** The run is over. */
  | { readonly kind: 'ended' }
  /** The item of the token is done, and the agent holds nothing of it any more. */
  | { readonly kind: 'item'; readonly item: string }
  /** A human is to decide at this gate. */
  | { readonly kind: 'waits'; readonly gate: string }
  | { readonly kind: 'decided' }
  | { readonly kind: 'judged'; readonly allowed: boolean }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly code: string }
  /** No answer came, or none that says what became of it: it may have happened, may happen later, or never. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A phase token, and what is written in it. */
export interface HeldToken {
  readonly text: string;
  readonly run: string;
  readonly phase: string;
  readonly epoch: number;
  readonly jti: string;
  /** The item it is for; absent where it is for the run. */
  readonly item?: string;
}

/** One question of an agent with its answer. */
export interface Act {
  readonly agent: string;
  /** The node's place among the nodes. */
  readonly node: number;
  readonly asked: Asked;
  readonly answered: Answered;
  /** When it was asked, in milliseconds since 1970. */
  readonly from: number;
  /** When the answer was there. */
  readonly to: number;
}

/** A node as agents see it. What it answers is never thrown. */
export interface FaultNode {
  ask(agent: string, asked: Asked): Promise<Answered>;
  /** What a human sees of the gate that a run waits at; null where there is none, or nobody answers. */
  card?(run: string): Promise<{ readonly gate: string; readonly shown: string } | null>;
  /** Tells the places of all records behind one, in order, until it is stopped or the node is gone. */
  follow(after: number, tell: (place: number) => void, signal: AbortSignal): Promise<void>;
}

/** Writes down what agents ask and are answered. */
export interface Historian {
  readonly acts: readonly Act[];
  /** What was asked and has no answer yet, for the one who finds out why nothing goes on. */
  unanswered(): readonly string[];
  /** Asks a node, and remembers it. */
  ask(agent: string, node: number, asked: Asked): Promise<Answered>;
}

/** A history of what is asked of these nodes. */
export function createHistorian(nodes: readonly FaultNode[]): Historian {
  const acts: Act[] = [];
  const asking = new Set<string>();
  return {
    acts,
    unanswered: () => [...asking],
    async ask(agent, node, asked) {
      const from = wholeTime();
      const what = `${agent} asked node ${node} at ${from}: ${JSON.stringify(asked).slice(0, 200)}`;
      asking.add(what);
      const answered = (await nodes[node]?.ask(agent, asked)) ?? { kind: 'unknown', why: 'no such node' };
      asking.delete(what);
      acts.push({ agent, node, asked, answered, from, to: wholeTime() });
      return answered;
    },
  };
}

/** What is written in a token; nobody here verifies it. */
export function heldToken(text: string): HeldToken {
  const claims = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as {
    readonly task_id: string;
    readonly phase: string;
    readonly epoch: number;
    readonly jti: string;
    readonly item?: string;
  };
  const { task_id: run, phase, epoch, jti, item } = claims;
  return { text, run, phase, epoch, jti, ...(item === undefined ? {} : { item }) };
}

/** By a clock that nobody sets while the test runs. */
function wholeTime(): number {
  return performance.timeOrigin + performance.now();
}
