import type { Called, Calling, DemoProject } from './demoProject.ts';
import { SECRETS } from './evidence.ts';
import { PASSPHRASE } from './honestWalk.ts';

/** One thing somebody tries. */
export interface Act extends Calling {
  readonly says: string;
  readonly words: readonly string[];
  /** `allowed`, or the code it must be refused with. */
  readonly expect: string;
}

/** Where acts happen: each is carried out, printed on one line and compared with what must happen. */
export interface Stage {
  /** Begins a part of the transcript. */
  scene(title: string): void;
  agent(act: Act): Promise<Called>;
  human(act: Act): Promise<Called>;
  /** Something the agent does without asking anyone. */
  aside(says: string): void;
  /** Prints a surprise unless this holds. */
  demand(holds: boolean, what: string): void;
  /** Phases whose text was shown, each after it was entered. */
  readonly seen: ReadonlySet<string>;
  readonly counts: { readonly allowed: number; readonly refused: number; readonly surprises: number };
}

/** How a stage writes. */
export interface StageOptions {
  readonly print: (line: string) => void;
  readonly colour: boolean;
}

const WIDTH = 110;

/** Sets up a stage on a project. */
export function makeStage(project: DemoProject, { print, colour }: StageOptions): Stage {
  const counts = { allowed: 0, refused: 0, surprises: 0 };
  const entered = new Set<string>();
  const seen = new Set<string>();
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

  const demand = (holds: boolean, what: string) => {
    if (holds) return;
    counts.surprises++;
    print(paint(31, `  !! ${what}`));
  };

  const act = async (who: 'agent' | 'human', { says, words, expect, ...calling }: Act) => {
    const credential = who === 'human' && calling.passphrase === undefined ? { passphrase: PASSPHRASE } : {};
    const called = await project.phasegate(words, { ...calling, ...credential });
    const allowed = called.code === 0;
    counts[allowed ? 'allowed' : 'refused']++;
    const word = allowed ? paint(32, 'allowed') : paint(33, 'refused');
    const line = `  ${who}  ${word}  ${says}`.padEnd(58 + word.length);
    print(`${line} ${paint(2, allowed ? resultOf(called.json) : refusalOf(called.json))}`.trimEnd());
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
    scene: (title) => print(`\n${paint(1, title)}`),
    agent: (one) => act('agent', one),
    human: (one) => act('human', one),
    aside: (says) => print(`  agent  ${paint(2, '.......')}  ${says}`),
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

/** Why an act was refused, on one line. */
function refusalOf(json: Called['json']): string {
  const missing = Array.isArray(json.missing_evidence) ? json.missing_evidence.map(String) : [];
  const message = missing.length > 0 ? missing.join('; ') : String(json.message);
  const [first = '', ...more] = message.replace(/`run-[0-9a-f]+`/g, '`RUN`').split('\n');
  const text = `${json.error}: ${first}`;
  return text.length > WIDTH || more.length > 0 ? `${text.slice(0, WIDTH)}…` : text;
}
