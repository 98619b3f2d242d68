import { Readable, Writable } from 'node:stream';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import type { Machine } from '../../packages/phasegate/src/surfaces/cli/command.ts';
import { makeShell, type Shell } from '../../packages/phasegate/src/surfaces/cli/fixtures/callCli.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';
import { terminalPicture } from './terminalPicture.ts';

/** The pictures of the guide by their file: what the commands really print, in a project made for it. */
export async function commandPictures(): Promise<Readonly<Record<string, string>>> {
  const shell = makeShell({ 'release.workflow.yaml': RELEASE });
  await shell.callAs(SECRET, ['humans', 'add', 'maria']);
  await shell.callAs(SECRET, ['trust', 'release', '--yes']);
  const key = String((await shell.callAs(SECRET, ['agents', 'add', 'ada', '--json'])).json().key);
  await shell.callAs(SECRET, ['start', 'release', 'publish 2.0', '--queue', '--json']);
  await shell.call(['claim'], '', { PHASEGATE_KEY: key });
  const { run } = (await shell.call(['start', 'release', 'publish 1.4', '--json'])).json();
  const evidence = JSON.stringify({ notes: { summary: 'Subtraction, and two fixes' } });
  await shell.call(['done', String(run), '--evidence', '-'], evidence);

  const watched = await onTerminal(shell, ['watch', '--passphrase-fd', passphrase(shell)], 'active');
  const card = await onTerminal(shell, ['status', String(run), '--passphrase-fd', passphrase(shell)]);
  const flawed = makeShell({ 'release.workflow.yaml': FLAWED });
  const validated = await onTerminal(flawed, ['validate']);
  return {
    'watch.svg': terminalPicture({ title: 'phasegate watch', text: alike(lastFrame(watched)) }),
    'gate.svg': terminalPicture({ title: 'phasegate decide', text: alike(cardOf(card)) }),
    'validate.svg': terminalPicture({ title: 'phasegate validate', text: validated }),
  };
}

const SECRET = 'open sesame';

const RELEASE = `workflow: release
enforcement: { workspace: shared }
phases:
  DRAFT:
    instructions: Write the notes for this release in docs/.
    writes: ["docs/**"]
    required_artifacts: [{ type: notes, schema: { type: object, required: [summary] } }]
    gate:
      human:
        prompt: Publish these notes?
        options: [{ label: Publish }, { label: Rework, next: DRAFT, requires_input: true }]
  PUBLISH:
    instructions: Tag the release.
    writes: []
`;

const FLAWED = `workflow: release
phases:
  DRAFT:
    instructions: Write the notes for this release.
    allowedtools: [read_files, write_files]
    next: { condition: "result.ready === true", on_true: PUBLISH }
  PUBLISH:
    instructions: Tag the release.
    next: { ok: DRAFTS, max_iterations: 0 }
`;

function passphrase(shell: Shell): string {
  return String(shell.descriptor(`${SECRET}\n`));
}

/** All a command writes to a terminal of 80 columns; one that goes on is ended when it has said a word. */
async function onTerminal(shell: Shell, words: readonly string[], until?: string): Promise<string> {
  const stopping = new AbortController();
  let text = '';
  const sink = () =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString('utf8');
          if (until !== undefined && text.includes(until)) stopping.abort();
          done();
        },
      }),
      { isTTY: true, columns: 80, rows: 24 },
    );
  await runCli({
    argv: [...words, '--project', shell.root],
    env: { ...shell.env, TERM: 'xterm', LANG: 'C.UTF-8' },
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    isTty: false,
    openProject: openLocalProject,
    machine: { stopping: () => stopping.signal } as Machine,
  });
  return text;
}

/** The gate's card, as `decide` shows it before it asks; `status` prints lines about the run above it. */
function cardOf(text: string): string {
  return text.slice(text.indexOf('Gate '));
}

/** What stood on the screen last. */
function lastFrame(text: string): string {
  const frames = text.split('\u001b[H').filter((frame) => frame.includes('run-'));
  const frame = (frames.at(-1) ?? '').split('\u001b[J')[0] ?? '';
  return frame.replaceAll('\u001b[K', '').replaceAll('\r', '');
}

/** Ids, ages and times are made the same each time, so that a picture changes only with what the command says. */
function alike(text: string): string {
  const ids = [...new Set(text.match(/run-[0-9a-f]{20}/g))];
  const named = ids.reduce(
    (said, id, index) => said.replaceAll(id, `run-${'4f81'.repeat(4)}${1000 + index}`),
    text,
  );
  return named
    .replaceAll(/\b\d+ (?:s|min)\b/g, '2 min')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-17T12:00:00.000Z')
    .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{12})\b/g, (hash) => '5f'.repeat(hash.length / 2));
}
