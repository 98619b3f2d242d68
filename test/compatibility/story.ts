import { type JsonObject, own } from '@phasegate/core';
import type { Made, Place } from './fixture.ts';
import { command, openStage, type Stage } from './stage.ts';

/** Test secrets: they open the fixture and nothing else. */
export const PASSPHRASES = { maria: 'open sesame', joe: 'open barley' } as const;
const PLAN = { plan: { summary: 'Say what is new', scope: ['docs/notes.md'] } };
const NOTES = { path: 'docs/notes.md', content: 'What is new, for whom, and what they have to do.\n' };
const WRITTEN = { file: 'docs/notes.md', words: 11 };

/** Plays everything that is in the fixture: humans, agents, and a run in every status. */
export async function playStory(place: Place): Promise<Omit<Made, 'commit' | 'at'>> {
  const { maria, joe } = PASSPHRASES;
  await command(place, ['humans', 'add', 'maria'], { passphrase: maria });
  await command(place, ['humans', 'add', 'joe', '--as', 'maria'], { passphrase: maria, newPassphrase: joe });
  await command(place, ['trust', '--yes', '--as', 'maria'], { passphrase: maria });
  const agents = { ada: await addAgent(place, 'ada'), bob: await addAgent(place, 'bob') };
  const stage = await openStage(place);
  try {
    const teller: Teller = { stage, agents };
    const planning = await atPlan(teller);
    const halfVoted = await atGate(teller);
    await decide(stage, halfVoted.run, 'maria', ['Approve']);
    const approved = await approvedRun(teller);
    const sentBack = await sentBackRun(teller);
    const questions = await askedRun(teller);
    const escalated = await blockedRun(teller);
    const completed = await completedRun(teller);
    const stopped = await atPlan(teller);
    await stage.command(['stop', stopped.run, '--reason', 'no longer needed', '--as', 'maria'], {
      passphrase: maria,
    });
    const items = await itemsRun(teller);
    const books = await booksRun(stage, 'once more');
    const booksGate = await booksRun(stage, 'approved');
    const markdown = await markdownRun(stage);
    const loose = await looseRun(stage);
    const queued = await stage.command(
      [
        'start',
        'release',
        '--queue',
        '--priority',
        '3',
        '--target',
        'docs/notes.md',
        '--param',
        'mode=quick',
      ],
      {},
    );
    const held = { planning, approved, sentBack, items };
    const ended = { halfVoted, questions, escalated, completed, stopped };
    const runs = Object.entries({ ...held, ...ended }).map(([name, { run }]) => [name, run]);
    return {
      humans: PASSPHRASES,
      agents,
      tokens: Object.fromEntries(Object.entries(held).map(([name, { token }]) => [name, token])),
      runs: { ...Object.fromEntries(runs), books, booksGate, markdown, loose, queued: text(queued, 'run') },
    };
  } finally {
    await stage.close();
  }
}

interface Teller {
  readonly stage: Stage;
  readonly agents: Readonly<Record<'ada' | 'bob', string>>;
}

interface Held {
  readonly run: string;
  readonly token: string;
}

async function addAgent(place: Place, name: string): Promise<string> {
  const words = ['agents', 'add', name, '--capability', 'docs', '--as', 'maria'];
  return text(await command(place, words, { passphrase: PASSPHRASES.maria }), 'key');
}

/** Queues a run of a workflow and has an agent claim it. */
async function claimed({ stage, agents }: Teller, workflow: string, agent: 'ada' | 'bob'): Promise<Held> {
  const { run } = await stage.command(['start', workflow, '--queue']);
  const claim = await stage.ask('POST', '/tasks/claim', { bearer: agents[agent], body: { agent_id: agent } });
  if (own(claim.task, 'id') !== run) throw new Error(`another run was claimed: ${JSON.stringify(claim)}`);
  return { run: String(run), token: text(claim, 'phase_token') };
}

/** A token for where the run stands now, after a human acted. */
async function renewed({ stage, agents }: Teller, run: string): Promise<Held> {
  const answer = await stage.ask('POST', '/tasks/token', { bearer: agents.ada, body: { task_id: run } });
  return { run, token: text(answer, 'phase_token') };
}

/** In its first phase, with its task read and one attempt refused. */
async function atPlan(teller: Teller): Promise<Held> {
  const held = await claimed(teller, 'release', 'ada');
  const { run, token } = held;
  await teller.stage.ask('GET', `/runs/${run}/tasks/PLAN/1`, { bearer: token });
  const empty = { target: 'BUILD', artifacts: { plan: { summary: 'Nothing', scope: [] } } };
  await teller.stage.ask('POST', '/tasks/transition', { bearer: token, body: empty, status: 409 });
  return held;
}

/** Waiting for two humans. */
async function atGate(teller: Teller): Promise<Held> {
  const held = await claimed(teller, 'release', 'ada');
  const { run, token } = held;
  await teller.stage.ask('GET', `/runs/${run}/tasks/PLAN/1`, { bearer: token });
  const body = { target: 'BUILD', artifacts: PLAN };
  await teller.stage.ask('POST', '/tasks/transition', { bearer: token, body, status: 202 });
  return held;
}

async function decide(stage: Stage, run: string, human: keyof typeof PASSPHRASES, words: readonly string[]) {
  const [option = '', ...input] = words;
  const given = input.flatMap((note) => ['--input', note]);
  const seen = await stage.command(['status', run, '--as', human], { passphrase: PASSPHRASES[human] });
  const shown = text(seen, 'shown');
  await stage.command(['decide', run, '--option', option, ...given, '--shown', shown, '--as', human], {
    passphrase: PASSPHRASES[human],
  });
}

async function approvedRun(teller: Teller): Promise<Held> {
  const { run } = await atGate(teller);
  await decide(teller.stage, run, 'maria', ['Approve']);
  await decide(teller.stage, run, 'joe', ['Approve']);
  return renewed(teller, run);
}

async function sentBackRun(teller: Teller): Promise<Held> {
  const { run } = await atGate(teller);
  await decide(teller.stage, run, 'maria', ['Rework', 'say who it is for']);
  await decide(teller.stage, run, 'joe', ['Rework', 'and what they have to do']);
  return renewed(teller, run);
}

async function askedRun(teller: Teller): Promise<Held> {
  const held = await claimed(teller, 'release', 'ada');
  const questions = [
    { text: 'For whom is it?', options: ['Users', 'Authors'] },
    { text: 'In which language?', options: ['English', 'German'] },
  ];
  await teller.stage.ask('POST', `/runs/${held.run}/questions`, { bearer: held.token, body: { questions } });
  const words = ['answer', held.run, '--question', '1', '--option', 'Users', '--as', 'maria'];
  await teller.stage.command(words, { passphrase: PASSPHRASES.maria });
  return held;
}

async function blockedRun(teller: Teller): Promise<Held> {
  const held = await claimed(teller, 'release', 'ada');
  const body = { reason: 'the list of changes cannot be reached' };
  await teller.stage.ask('POST', `/runs/${held.run}/blocked`, { bearer: held.token, body });
  return held;
}

async function completedRun(teller: Teller): Promise<Held> {
  const { run, token } = await approvedRun(teller);
  const { stage } = teller;
  await stage.ask('POST', '/tools/execute', { bearer: token, body: { tool: 'write_files', input: NOTES } });
  await stage.ask('POST', '/tools/check', {
    bearer: token,
    body: { tool: 'bash', input: { command: 'ls' } },
  });
  await stage.ask('POST', '/tasks/transition', { bearer: token, body: { target: null, artifacts: WRITTEN } });
  return { run, token };
}

/** Two items, one done and one held. */
async function itemsRun(teller: Teller): Promise<Held> {
  const { stage, agents } = teller;
  const { run, token } = await claimed(teller, 'chapters', 'bob');
  const body = { target: 'WRITE', artifacts: { areas: ['intro', 'outlook'] } };
  const entered = await stage.ask('POST', '/tasks/transition', { bearer: token, body });
  const done = { target: 'READ', artifacts: { chapter: 'chapters/intro.md' } };
  await stage.ask('POST', '/tasks/transition', { bearer: text(entered, 'phase_token'), body: done });
  const next = await stage.ask('POST', '/tasks/claim', { bearer: agents.bob, body: { agent_id: 'bob' } });
  return { run, token: text(next, 'phase_token') };
}

/** Driven, on a database: sent back once by its review and waiting for the agent again, or at its gate. */
async function booksRun(stage: Stage, decision: string): Promise<string> {
  const { run } = await stage.command(['run', 'books', '--param', 'book=moby-dick']);
  const stdin = { decision, filesRead: ['draft'] };
  await stage.command(['done', String(run), '--phase', 'review', '--evidence', '-'], { stdin });
  await stage.command(['run', String(run)]);
  return String(run);
}

async function markdownRun(stage: Stage): Promise<string> {
  const { run } = await stage.command(['start', 'review_v1', '--target', 'books.workflow.ts']);
  await stage.command(['task', String(run), '1', '1']);
  const stdin = { files_read: 1, names: ['books.workflow.ts'], understood: true };
  await stage.command(['done', String(run), '--phase', '1', '--evidence', '-'], { stdin });
  return String(run);
}

/** Permissive: what it would have refused is on record. */
async function looseRun(stage: Stage): Promise<string> {
  const { run } = await stage.command(['start', 'loose']);
  const stdin = { count: 0, remark: 'nobody asked for this' };
  await stage.command(['done', String(run), '--phase', 'TRY', '--evidence', '-'], { stdin });
  return String(run);
}

function text(answer: JsonObject, key: string): string {
  const value = own(answer, key);
  if (typeof value !== 'string') throw new Error(`no \`${key}\` in ${JSON.stringify(answer)}`);
  return value;
}
