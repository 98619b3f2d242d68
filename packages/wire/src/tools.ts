import type { Json, Verdict } from '@phasegate/core';
import type { Receipt, ToolOutcome, ToolVerdict } from './answers.ts';
import { encodeAsk, encodeBlockers, encodeRule } from './blockers.ts';
import { type Dialect, spellAction } from './nextCall.ts';
import { decodeVerdict } from './submitted.ts';

/** The verdict on a tool call. Nothing of the run stands beside it: it is asked all day. */
export function encodeToolVerdict(verdict: Verdict, run: string, dialect: Dialect): ToolVerdict {
  if (verdict.allowed) {
    if (verdict.wouldRefuse === undefined) return { allowed: true };
    return { allowed: true, would_refuse: encodeBlockers(verdict.wouldRefuse, { run }, dialect) };
  }
  const [first] = verdict.blockers;
  const { code, message, nextAction } = first;
  return {
    allowed: false,
    reason: message,
    code,
    ...encodeRule(first),
    next_action: spellAction(nextAction, { run }, dialect),
    ...encodeAsk([first], run, dialect),
  };
}

/** A tool call that was judged and, where it was allowed, carried out. */
export interface ExecutedTool {
  readonly verdict: Verdict;
  readonly result: { readonly ok: boolean; readonly output: Json; readonly exitCode?: number | null } | null;
  readonly receipt: Receipt | null;
}

/** What came of a tool call. */
export function encodeExecuted(
  { verdict, result, receipt }: ExecutedTool,
  run: string,
  dialect: Dialect,
): ToolOutcome {
  const said = encodeToolVerdict(verdict, run, dialect);
  if (result === null) return { ...said, result: null, receipt: null } as ToolOutcome;
  const { ok, output, exitCode } = result;
  const exit = exitCode === undefined ? {} : { exit_code: exitCode };
  return { ...said, result: { ok, output, ...exit }, receipt } as ToolOutcome;
}

/** The verdict on a tool call as the engine says it. */
export function decodeToolVerdict(answer: ToolVerdict): Verdict {
  const { allowed, code = 'tool_not_allowed', reason = '', next_action = '', would_refuse } = answer;
  const { rule, rule_at } = answer;
  const would = would_refuse === undefined ? {} : { would_refuse };
  const by = {
    ...(rule === undefined ? {} : { rule }),
    ...(rule_at === undefined ? {} : { rule_at }),
  };
  return decodeVerdict(would, allowed ? null : [{ code, message: reason, ...by, next_action }]);
}
