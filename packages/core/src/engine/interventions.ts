import type { Phase } from '../model/workflow.ts';
import { phaseById } from '../model/workflow.ts';
import { notAtWork, notYours, sequenceBlocker } from './atWork.ts';
import { ALLOWED, blocker, humanActionFor, nextActionFor, refused, SAY_WHY } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { type Considered, escalation, refuseWork, turnAway } from './deciding.ts';
import { holdsAnItem } from './holding.ts';
import { withFailedItems } from './items.ts';
import type { Answer, Question, Run } from './run.ts';
import type { Blocker } from './verdict.ts';

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>;

/** A human lets an escalated run try again, from attempt 0, with a note for the agent. */
export function considerResume(run: Run, command: Of<'resume'>, circumstance: Circumstance): Considered {
  const away = notAHuman(run, circumstance, 'resume');
  if (away !== null) return turnAway([away]);
  if (run.status !== 'escalated') {
    return turnAway([
      blocker('run_not_escalated', `run \`${run.id}\` is ${run.status}, not escalated`, humanActionFor(run)),
    ]);
  }
  const { now, principal } = circumstance;
  return {
    verdict: ALLOWED,
    events: [{ at: now, type: 'run_resumed', note: command.note ?? null, by: principal.name }],
  };
}

/** A human ends a run. */
export function considerStop(run: Run, command: Of<'stop'>, circumstance: Circumstance): Considered {
  const away = notAHuman(run, circumstance, 'stop');
  if (away !== null) return turnAway([away]);
  if (run.phase === null) {
    return turnAway([
      blocker('run_ended', `run \`${run.id}\` is already ${run.status}`, humanActionFor(run)),
    ]);
  }
  if (command.reason.trim() === '') {
    return turnAway([blocker('reason_required', 'stopping a run needs a reason', SAY_WHY)]);
  }
  const { now, principal } = circumstance;
  return {
    verdict: ALLOWED,
    events: [{ at: now, type: 'run_stopped', reason: command.reason, by: principal.name }],
  };
}

/** The agent asks; the run waits. */
export function considerAsk(run: Run, command: Of<'ask'>, circumstance: Circumstance): Considered {
  const away = notAtWork(run, circumstance);
  if (away !== null) return turnAway([away]);
  const problem = questionsProblem(command.questions);
  if (problem !== null) {
    const blockers = [blocker('question_invalid', problem, nextActionFor(run))];
    return refuseWork(run, circumstance.now, { blockers, counted: false });
  }
  return {
    verdict: ALLOWED,
    events: [{ at: circumstance.now, type: 'question_asked', questions: command.questions }],
  };
}

/** A human answers one question; with the last, the agent goes on. */
export function considerAnswer(run: Run, command: Of<'answer'>, circumstance: Circumstance): Considered {
  const { principal, now } = circumstance;
  const elicited = command.elicited === true && principal.kind === 'agent' && principal.name === run.holder;
  const away = elicited ? null : notAHuman(run, circumstance, 'answer');
  if (away !== null) return turnAway([away]);
  const next = elicited ? nextActionFor(run) : humanActionFor(run);
  if (run.status !== 'waiting' || run.wait.for !== 'questions') {
    return turnAway([blocker('run_not_waiting', `run \`${run.id}\` has no open question`, next)]);
  }
  const { questions, answers } = run.wait;
  const question = questions[command.question - 1];
  if (question === undefined || answers.some((given) => given.question === command.question)) {
    return turnAway([blocker('question_unknown', `question ${command.question} is not open`, next)]);
  }
  if (command.text.trim() === '') {
    return turnAway([blocker('input_required', `question ${command.question} needs an answer`, next)]);
  }
  const answer: Answer = {
    question: command.question,
    text: command.text,
    by: principal.name,
    at: now,
    elicited,
    asked: question.text,
  };
  const final = answers.length + 1 === questions.length;
  // Items may have failed while nobody could be handed them.
  return withFailedItems(run, now, {
    verdict: ALLOWED,
    events: [{ at: now, type: 'question_answered', answer, final }],
  });
}

/** The honest way out: the agent says the evidence cannot be provided, and a human takes over. */
export function considerBlocked(
  run: Run,
  command: Of<'report_blocked'>,
  circumstance: Circumstance,
): Considered {
  const away = notAtWork(run, circumstance);
  if (away !== null) return turnAway([away]);
  if (command.reason.trim() === '') {
    const blockers = [blocker('reason_required', 'say what is in the way', nextActionFor(run))];
    return refuseWork(run, circumstance.now, { blockers, counted: false });
  }
  return { verdict: ALLOWED, events: [escalation(circumstance.now, 'blocked', command.reason, [])] };
}

/** The engine hands a run to a human by itself, where going on would be a guess. */
export function considerEscalate(run: Run, command: Of<'escalate'>, circumstance: Circumstance): Considered {
  if (circumstance.principal.kind !== 'engine' || run.phase === null || run.status === 'escalated') {
    return turnAway([
      blocker('run_not_active', 'only the engine escalates, and only a run that goes on', nextActionFor(run)),
    ]);
  }
  const blockers = [
    blocker('escalated', command.message, { act: 'wait_for_human', text: 'wait: a human must act' }),
  ];
  return {
    verdict: refused(blockers),
    events: [escalation(circumstance.now, command.reason, command.message, blockers)],
  };
}

/** A task is read; reading one of the current phase is remembered, since all must have been. */
export function considerTask(run: Run, command: Of<'fetch_task'>, circumstance: Circumstance): Considered {
  const { principal, now } = circumstance;
  if (principal.kind === 'agent' && run.holder !== principal.name) {
    if (!holdsAnItem(run, principal.name)) return turnAway([notYours(run)]);
    // Anyone who works on an item reads what its phase says, and nothing else of the run.
    if (command.phase !== run.phase) return turnAway([sequenceBlocker(run, command.phase)]);
  }
  const reviewable = run.completions.some((completion) => completion.phase === command.phase);
  if (command.phase !== run.phase && !reviewable) {
    const blockers = [sequenceBlocker(run, command.phase)];
    return run.status === 'active' && principal.kind === 'agent'
      ? refuseWork(run, now, { blockers, counted: false })
      : turnAway(blockers);
  }
  const phase = phaseById(run.workflow, command.phase) as Phase;
  if (phase.tasks[command.task - 1] === undefined) {
    const message = `Task ${command.task} not found (phase \`${phase.id}\` has ${phase.tasks.length} tasks)`;
    return turnAway([blocker('task_unknown', message, nextActionFor(run))]);
  }
  const unread =
    run.status === 'active' && command.phase === run.phase && !run.work.fetched.includes(command.task);
  if (!unread || principal.kind !== 'agent') return { verdict: ALLOWED, events: [] };
  return {
    verdict: ALLOWED,
    events: [{ at: now, type: 'task_fetched', phase: phase.id, task: command.task }],
  };
}

function notAHuman(run: Run, { principal }: Circumstance, verb: string): Blocker | null {
  if (principal.kind === 'human') return null;
  return blocker('not_a_human', `only a human may ${verb} a run`, nextActionFor(run));
}

function questionsProblem(questions: readonly Question[]): string | null {
  if (questions.length < 1 || questions.length > 3) return 'ask one to three questions at a time';
  for (const [index, question] of questions.entries()) {
    if (question.text.trim() === '') return `question ${index + 1} has no text`;
    const distinct = new Set(question.options.map((option) => option.trim()));
    if (
      distinct.has('') ||
      distinct.size !== question.options.length ||
      distinct.size < 2 ||
      distinct.size > 3
    ) {
      return `question ${index + 1} needs two or three distinct options`;
    }
  }
  return null;
}
