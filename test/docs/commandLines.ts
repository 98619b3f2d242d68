/** A line of a shell block in a document. */
export interface CommandLine {
  readonly page: string;
  readonly text: string;
}

/** Every line of every shell block of a page, without what it says about itself; continued lines are one. */
export function commandLinesIn(page: string, markdown: string): readonly CommandLine[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, '').trim())
      .filter((line) => line !== '')
      .map((text) => ({ page, text })),
  );
}

const STAYS = 'it stays in its terminal: `serve.test.ts`, `readme.test.ts` and `deploy.test.ts` start it';
const LASTS = 'it leaves a server behind: `background.test.ts` starts and ends one';
const README = '`readme.test.ts` and `firstContact.test.ts` run it as it stands';
const GUIDE = '`docs.test.ts` follows the page with its agent';
const SERVER =
  'it needs the server of the page, with a token of its own: `doors.test.ts` and `deploy.test.ts` do the same';
const RUN = 'RUN stands for the id of a run in a state of its own: the tests of the command do the same';
const OWN =
  'it is about a workflow, a file or a program of the reader’s own: the tests of the command do the same';
const HUMAN = 'it needs a passphrase, and what it acts on: the tests of the command do the same';
const CHECKOUT =
  'it is for this checkout: `pack:check`, `firstContact.test.ts` and `examples/tdd` do the same';
const ROOT = 'it changes the machine, as root';
const SANDBOX =
  'it needs the client and bubblewrap: `runSandboxed.test.ts` does the same with a scripted one';
const ISOLATED = 'it needs root, and users of its own: `adversary/isolated.test.ts` does the same';
const DOCTOR = 'it ends with 1 until a human is set up: `doctor.test.ts` runs it';
const COMMITS =
  'it is about commits of the reader’s own: `verifyRange.test.ts` and `githubStep.test.ts` do the same';
const DATABASE = 'it needs a PostgreSQL server and its programs: `postgres.test.ts` has one';
const SHELL = 'it reads what the line before it wrote, with programs that are not ours';

/** Lines that are not run as they stand, each with the reason. What is not here is run. */
export const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^pg_dump/, DATABASE],
  [/^PHASEGATE_DATABASE=/, DATABASE],
  [/^phasegate migrate-store/, DATABASE],
  [/^phasegate serve/, STAYS],
  [/^phasegate deps freeze/, HUMAN],
  [/^phasegate up$/, LASTS],
  [/^phasegate init(?: --template bugfix)?$/, README],
  [/^phasegate (?:run tdd ".*"|agent start --wait) --agent claude$/, README],
  [/^phasegate run tdd ".*" --agent claude --sandbox$/, SANDBOX],
  [/^phasegate agent start --wait --sandbox --agent claude$/, SANDBOX],
  [/^phasegate doctor$/, DOCTOR],
  [/^phasegate agents add ada$/, README],
  [/^(?:export PHASEGATE_KEY|for topic in|node agent\.mjs)/, GUIDE],
  [/^(?:api=|token=|curl |openssl rand -hex 32 > metrics-token)/, SERVER],
  [/^phasegate .*\bRUN\b/, RUN],
  [/^phasegate agent start --wait -- /, OWN],
  [/^phasegate worker --url /, OWN],
  [/^phasegate (?:check|test) notes$/, OWN],
  [/^phasegate check spec_execution_v1/, OWN],
  [/^phasegate (?:coverage|test|graph) (?:release|change)\b/, OWN],
  [/^phasegate import /, OWN],
  [/^phasegate run (?:notes|tdd --agent ")/, OWN],
  [/^phasegate simulate tdd --rates/, OWN],
  [/^phasegate database /, OWN],
  [/^phasegate (?:trust|restore|archive|backup \/mnt)/, HUMAN],
  [/^phasegate audit export --as maria/, HUMAN],
  [/^phasegate attest /, HUMAN],
  [/^phasegate tokens rotate --as maria$/, HUMAN],
  [/^phasegate verify-range main/, COMMITS],
  [/^git (?:notes|push) /, COMMITS],
  [/^phasegate humans add ann --role viewer$/, HUMAN],
  [/^grep /, SHELL],
  [/^npm (?:ci|install)\b/, CHECKOUT],
  [/^(?:sudo phasegate isolate|\/var\/lib\/phasegate|export PHASEGATE_URL=unix)/, ISOLATED],
  [/^phasegate claim$/, ISOLATED],
  [/^(?:apt-get install|useradd|install|systemctl|cd \/srv|openssl rand -hex 32 > \/etc)/, ROOT],
];
