/** A JSON object, not yet looked at. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * What a workflow's function is given: params by their own names, the evidence of this step, and the run's state.
 * A param the workflow declares and nobody gave is null, so that `ctx.book !== null` asks what it seems to ask.
 */
export function contextOf(given: Fields, declared: readonly string[]): Fields {
  const params = freeze(fieldsOf(given.params));
  const state = structuredClone(fieldsOf(given.state));
  const { phase, params: _params, state: _state, checkpoint, ...rest } = given;
  return {
    ...Object.fromEntries(declared.map((name) => [name, null])),
    ...params,
    ...rest,
    result: freeze(given.result),
    artifacts: freeze(fieldsOf(given.artifacts)),
    step: phase,
    step_id: phase,
    params,
    workflow_params: params,
    state,
    step_state: state,
    checkpoint: checkpointOf(fieldsOf(checkpoint)),
    db: undefined,
  };
}

/** The checkpoint, whose completed steps can be asked for by name too. */
function checkpointOf(checkpoint: Fields): Fields {
  const completed = Array.isArray(checkpoint.completedSteps) ? [...checkpoint.completedSteps] : [];
  Object.defineProperty(completed, 'includes', {
    enumerable: false,
    value: (wanted: unknown) =>
      typeof wanted === 'object'
        ? Array.prototype.includes.call(completed, wanted)
        : completed.some((result) => String(fieldsOf(result).step) === String(wanted)),
  });
  return freeze({ ...checkpoint, completedSteps: completed });
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
  return value;
}
