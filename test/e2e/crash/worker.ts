import { writeSync } from 'node:fs';
import { openLocalProject } from 'phasegate';

/** What the worker says once it was answered, one line of JSON each. */
export type Announcement =
  | { readonly act: 'started'; readonly run: string }
  | { readonly act: 'completed'; readonly run: string; readonly phase: string; readonly epoch: number };

const [projectDir, lanes] = process.argv.slice(2) as [string, string];
const project = await (await openLocalProject({ projectDir, env: process.env })).open();
const agent = project.as({ kind: 'agent', name: 'local' });
const left = (await agent.runs({ status: 'active' })).map(({ run }) => run);

// Several runs at a time, so that transitions of different runs share a commit.
await Promise.all(Array.from({ length: Number(lanes) }, walkForEver));

async function walkForEver(): Promise<never> {
  for (;;) {
    const run = left.pop() ?? (await start());
    for (let phase = (await agent.view(run)).phase; phase !== null; ) {
      const { verdict, view } = await agent.submit(run, {
        kind: 'complete',
        phase,
        evidence: { work: { phase: String(phase), by: process.pid } },
      });
      if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
      announce({ act: 'completed', run, phase: String(phase), epoch: view.epoch });
      phase = view.phase;
    }
  }
}

async function start(): Promise<string> {
  const { view } = await agent.start({ workflow: 'walk' });
  if (view === null) throw new Error('no run was made');
  announce({ act: 'started', run: view.run });
  return view.run;
}

/** Written at once and whole: what was said cannot be lost with the process. */
function announce(announcement: Announcement): void {
  writeSync(1, `${JSON.stringify(announcement)}\n`);
}
