import type { Goal } from '@phasegate/core/engine';

/** What a run is to achieve, and whose words that is; both or neither. */
export type GoalFields = {
  readonly goal?: string;
  /** `human NAME` or `agent NAME`: who started the run with it. */
  readonly goal_by?: string;
};

/** The goal of a run, where it has one. */
export function encodeGoal({ goal }: { readonly goal?: Goal }): GoalFields {
  return goal === undefined ? {} : { goal: goal.text, goal_by: `${goal.by.kind} ${goal.by.name}` };
}

/** The same as the engine has it. */
export function decodeGoal({ goal, goal_by }: GoalFields): { readonly goal?: Goal } {
  if (goal === undefined || goal_by === undefined) return {};
  const [kind = '', ...name] = goal_by.split(' ');
  return { goal: { text: goal, by: { kind: kind as Goal['by']['kind'], name: name.join(' ') } } };
}
