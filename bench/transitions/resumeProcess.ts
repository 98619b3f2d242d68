import { openLocalProject } from 'phasegate';

const [projectDir, run] = process.argv.slice(2) as [string, string];
const project = await (await openLocalProject({ projectDir, env: process.env })).open();
const { verdict } = await project
  .as({ kind: 'agent', name: 'local' })
  .submit(run, { kind: 'complete', phase: 'A', evidence: {} });
if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
await project.close();
