/** Problems of a draft's graph, which may only follow from a way between phases that could not be read. */
export const GRAPH_CODES: readonly string[] = [
  'unreachable_phase',
  'no_end',
  'unbounded_loop',
  'way_around_gate',
];

/** Problems about the whole of something, which may be due to what is broken inside it. */
export const WHOLE_CODES: readonly string[] = ['no_outcomes', 'no_options', 'no_phases', 'no_write_scope'];
