import type { Json, Run, Verdict } from '@phasegate/core';
import type { Completion } from '@phasegate/core/engine';
import type { State, Told } from './state.ts';

/** Everything both know, as text: the verdict and what the run is then. */
export function runSummary(verdict: Verdict, run: Run | null): string {
  const codes = verdict.allowed ? [] : verdict.blockers.map(({ code }) => code);
  const would = verdict.allowed ? (verdict.wouldRefuse ?? []).map(({ code }) => code) : [];
  if (run === null) return JSON.stringify({ codes, would });
  const { work } = run;
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait : null;
  const questions = run.status === 'waiting' && run.wait.for === 'questions' ? run.wait : null;
  const items = Object.entries(work.items ?? {}).map(([key, item]) => [
    key,
    item.status,
    item.evidence,
    item.outcome ?? 'ok',
    item.state ?? {},
    item.word ?? null,
    item.letThrough ?? false,
    item.attempts,
    item.crashes ?? 0,
    item.holder ?? null,
  ]);
  return JSON.stringify({
    codes,
    would,
    status: run.status,
    phase: run.phase,
    holder: run.holder,
    epoch: run.epoch,
    params: run.params,
    state: run.state,
    done: [run.completions.length, lastOf(run.completions)],
    visits: run.visits,
    iterations: run.iterations,
    gates: run.gates ?? 0,
    settled: (run.settled ?? []).map((one) => [one.gate, one.phase, one.option, one.input, one.approves]),
    owed: run.owed ?? {},
    work:
      run.phase === null
        ? null
        : [
            work.attempts,
            work.crashes ?? 0,
            work.refusal?.count ?? 0,
            allOf(work.refusal),
            work.fetched,
            items,
          ],
    gate: gate && [
      gate.gate,
      gate.outcome,
      gate.evidence,
      gate.state,
      gate.by,
      gate.word ?? null,
      gate.letThrough ?? false,
      gate.votes.map(({ by, option }) => [by, option]),
      gate.wouldRefuse.map(({ code }) => code),
    ],
    questions: questions && [questions.questions.length, questions.answers.map(({ question }) => question)],
    escalated: run.status === 'escalated' ? run.escalation.reason : '',
  });
}

/** The same of the interpreter's state. */
export function stateSummary({ codes, would }: Told, s: State | null): string {
  if (s === null) return JSON.stringify({ codes, would });
  const items = Object.entries(Object.fromEntries(s.items)).map(([key, item]) => [
    key,
    item.status,
    item.evidence,
    item.outcome,
    item.update,
    item.word ?? null,
    item.letThrough,
    item.attempts,
    item.crashes,
    item.holder,
  ]);
  const { gate, questions } = s;
  return JSON.stringify({
    codes,
    would,
    status: s.status,
    phase: s.phase,
    holder: s.holder,
    epoch: s.epoch,
    params: s.params,
    state: s.state,
    done: [s.done.length, lastOf(s.done)],
    visits: Object.fromEntries(s.visits),
    iterations: Object.fromEntries(s.iterations),
    gates: s.gates,
    settled: s.settled.map((one) => [one.gate, one.phase, one.option, one.input, one.approves]),
    owed: Object.fromEntries(s.owed),
    work: s.phase === null ? null : [s.attempts, s.crashes, s.refusals, s.refused, s.fetched, items],
    gate: gate && [
      gate.name,
      gate.done.outcome,
      gate.done.evidence,
      gate.done.update,
      gate.done.by,
      gate.done.word ?? null,
      gate.done.letThrough ?? false,
      gate.votes.map(({ by, option }) => [by, option]),
      gate.done.would,
    ],
    questions: questions && [questions.count, questions.answered],
    escalated: s.escalated,
  });
}

/** The first refusal of a visit is not written as one of one. */
const allOf = (refusal: Run['work']['refusal']) => (refusal === null ? 0 : (refusal.all ?? 1));

/** Those before were compared when they came. */
function lastOf(completions: readonly Ended[]): Json {
  const last = completions.at(-1);
  if (last === undefined) return null;
  const { phase, visit, outcome, evidence, by, word, letThrough, outcomes, approved, judged } = last;
  // The engine keeps only those that are not `ok`.
  const others = Object.entries(outcomes ?? {}).filter(([, one]) => one !== 'ok');
  const more = [
    word ?? null,
    letThrough ?? false,
    Object.fromEntries(others),
    approved ?? null,
    judged ?? false,
  ];
  return [phase, visit, outcome, evidence, by, ...more];
}

type Ended = Completion | State['done'][number];
