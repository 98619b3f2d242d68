import { assign, setup } from 'xstate';
import type { Node } from './generated.ts';

/** What an xstate machine keeps beside the state it is in. */
interface Counted {
  /** How often each loop that can still be reached went back. */
  readonly loops: Readonly<Record<string, number>>;
  /** Whether the last phase was passed: what the property is about. */
  readonly last: '' | 'passed';
}

/**
 * The same graph as an xstate machine with the same states: a phase at its first and at its second attempt, at its
 * gate, with a human because the work failed, and with a human because its loop is exhausted. Counters of loops that
 * cannot be reached any more are dropped, as `phasegate check` does; otherwise xstate would have far more states.
 */
export function machineOf(graph: readonly Node[]) {
  const live = liveLoops(graph);
  const lastId = graph.at(-1)?.id ?? '';
  const entering = (to: string | null, { loops, last }: Counted): Counted => {
    const kept = (live.get(to) ?? []).flatMap((id) => (loops[id] === undefined ? [] : [[id, loops[id]]]));
    return { loops: Object.fromEntries(kept), last };
  };
  const left = (id: string, counted: Counted): Counted =>
    id === lastId ? { ...counted, last: 'passed' } : counted;
  const go = (node: Node, to: string | null, loop = false) => ({
    target: to ?? 'END',
    actions: assign(({ context }: { readonly context: Counted }) => {
      const taken = { ...context.loops, [node.id]: (context.loops[node.id] ?? 0) + 1 };
      return entering(to, left(node.id, loop ? { ...context, loops: taken } : context));
    }),
  });
  // A human who sends the work back has not let the phase pass.
  const sentBack = (to: string) => ({
    target: to,
    actions: assign(({ context }: { readonly context: Counted }) => entering(to, context)),
  });
  const onwards = (node: Node) => {
    const { id, on, back, loops } = node;
    if (loops === null) return { PASS: go(node, on) };
    const mayLoop = ({ context }: { readonly context: Counted }) => (context.loops[id] ?? 0) < loops;
    return {
      GOOD: go(node, on),
      BAD: [{ guard: mayLoop, ...go(node, back, true) }, { target: `${id} exhausted` }],
    };
  };
  const states = graph.flatMap((node) => {
    const { id, back, gate } = node;
    const work = gate ? { PASS: { target: `${id} gate` } } : onwards(node);
    const blocked = { BLOCKED: { target: `${id} human` } };
    const resumed = { on: { RESUME: { target: id } } };
    return [
      [id, { on: { ...work, FAIL: { target: `${id} again` }, ...blocked } }],
      [`${id} again`, { on: { ...work, FAIL: { target: `${id} human` }, ...blocked } }],
      [`${id} human`, resumed],
      ...(node.loops === null ? [] : [[`${id} exhausted`, resumed]]),
      ...(gate ? [[`${id} gate`, { on: { ...onwards(node), AGAIN: sentBack(back) } }]] : []),
    ] as const;
  });
  return setup({
    types: { context: {} as Counted, events: {} as { readonly type: string } },
  }).createMachine({
    context: { loops: {}, last: '' },
    initial: 'P0',
    states: { ...Object.fromEntries(states), END: { type: 'final' as const } },
  });
}

/** The loops that can be reached from each phase, in the order of the graph. */
function liveLoops(graph: readonly Node[]): ReadonlyMap<string | null, readonly string[]> {
  const ways = new Map(
    graph.map(({ id, on, back, loops, gate }) => [id, [on, ...(loops !== null || gate ? [back] : [])]]),
  );
  return new Map(
    graph.map(({ id }) => {
      const reached = new Set<string | null>([id]);
      for (const here of reached) for (const next of ways.get(here ?? '') ?? []) reached.add(next);
      return [id, graph.filter((node) => node.loops !== null && reached.has(node.id)).map((node) => node.id)];
    }),
  );
}
