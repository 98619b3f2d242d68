import type { Called, Calling, DemoProject } from './demoProject.ts';
import { SECRETS } from './evidence.ts';
import { PASSPHRASE } from './honestWalk.ts';

/** One thing somebody tries. */
export interface Act extends Calling {
  /** What is printed of it; an act without words of its own is carried out and compared, and not printed. */
  readonly says?: string;
  readonly words: readonly string[];
  /** `allowed`, or the code it must be refused with. */
  readonly expect: string;
  /** What the refusal must say. */
  readonly because?: string;
}

/** Where acts happen: each is carried out, printed on one line and compared with what must happen. */
export interface Stage {
  /** Begins a part of the transcript. */
  scene(title: string): void;
  agent(act: Act): Promise<Called>;
  human(act: Act): Promise<Called>;
  /** Prints a line of its own. */
  say(text: string): void;
  /** Prints a surprise unless this holds. */
  demand(holds: boolean, what: string): void;
  /** Phases whose text was shown, each after it was entered. */
  readonly seen: ReadonlySet<string>;
  /** What was allowed and printed, what an agent tried and was refused, and what was not as it must be. */
  readonly counts: { readonly allowed: number; readonly cheats: number; readonly surprises: number };
}

/** How a stage writes. */
export interface StageOptions {
  readonly print: (line: string) => void;
  readonly colour: boolean;
  /** Whether a tick and a cross can be shown. */
  readonly unicode: boolean;
}

/** Whether a terminal with this environment shows more than ASCII. */
export function showsUnicode(env: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

/** Whether to colour: NO_COLOR wins, then FORCE_COLOR, else only a terminal that can. */
export function showsColour(env: NodeJS.ProcessEnv, terminal: boolean): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return terminal && env.TERM !== 'dumb';
}

const [GREEN, RED, BOLD, DIM] = [32, 31, 1, 2];

/** Sets up a stage on a project. */
export function makeStage(project: DemoProject, { print, colour, unicode }: StageOptions): Stage {
  const counts = { allowed: 0, cheats: 0, surprises: 0 };
  const entered = new Set<string>();
  const seen = new Set<string>();
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const marks = unicode ? { yes: '✓', no: '✗' } : { yes: '+', no: 'x' };
  // The name of a part stands before its first line.
  let part = '';

  const demand = (holds: boolean, what: string) => {
    if (holds) return;
    counts.surprises++;
    print(paint(RED, `!! ${what}`));
  };

  const show = (who: string, says: string, { code, json }: Called) => {
    // Only what is printed: the ticks can be counted.
    if (code === 0) counts.allowed++;
    const [mark, result] =
      code === 0
        ? [paint(GREEN, marks.yes), paint(DIM, resultOf(json))]
        : [paint(RED, marks.no), paint(RED, String(json.error))];
    print(`${paint(BOLD, part.padEnd(9))}${mark} ${who} ${says.padEnd(32)} ${result}`.trimEnd());
    part = '';
  };

  const act = async (who: 'agent' | 'human', { says, words, expect, because, ...calling }: Act) => {
    const credential = who === 'human' && calling.passphrase === undefined ? { passphrase: PASSPHRASE } : {};
    const called = await project.phasegate(words, { ...calling, ...credential });
    const allowed = called.code === 0;
    if (!allowed && who === 'agent') counts.cheats++;
    if (says !== undefined) show(who, says, called);
    demand(because === undefined || called.text.includes(because), `expected to be told: ${because}`);
    const code = allowed ? 'allowed' : String(called.json.error);
    const exit = expect === 'allowed' ? 0 : expect === 'usage' ? 2 : 1;
    demand(code === expect && called.code === exit, `expected ${expect} (exit ${exit}), got ${code}`);
    if (typeof called.json.current_phase === 'string') entered.add(called.json.current_phase);
    for (const [phase, secret] of Object.entries(SECRETS)) {
      if (!called.text.includes(secret)) continue;
      seen.add(phase);
      demand(entered.has(phase), `text of ${phase} was shown too early`);
    }
    return called;
  };

  return {
    scene: (title) => {
      part = title;
    },
    agent: (one) => act('agent', one),
    human: (one) => act('human', one),
    say: print,
    demand,
    seen,
    counts,
  };
}

/** What came of an act that was allowed, in a few words. */
function resultOf(json: Called['json']): string {
  if (json.workflow_complete === true) return String(json.message);
  if (json.status === 'waiting') return 'waits for a human';
  if (typeof json.next_phase === 'string') return `now in ${json.next_phase}`;
  if (typeof json.run === 'string' && typeof json.phase === 'string') return `now in ${json.phase}`;
  if (typeof json.run === 'string' && typeof json.current_phase === 'string')
    return `now in ${json.current_phase}`;
  return '';
}
