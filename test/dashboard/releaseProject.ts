import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';

/** Of `maria`, the one human of these projects. */
export const PASSPHRASE = 'open sesame';

const RELEASE = `workflow: release
phases:
  DRAFT:
    instructions: Write the notes.
    writes: ['docs/**']
    required_artifacts: [{ type: notes, schema: { type: object, required: [summary] } }]
    gate:
      human:
        prompt: Publish these notes?
        options:
          - { label: Publish }
          - { label: Rework, next: DRAFT, requires_input: true }
  PUBLISH:
    instructions: Tag the release.
`;

/** A project with one workflow, accepted by its one human. */
export async function releaseProject(): Promise<TestProject> {
  const project = makeProject({ 'agent_workflow.yaml': RELEASE });
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
  await phasegate(project, ['trust', 'release', '--yes'], { passphrase: PASSPHRASE });
  return project;
}

/** Begins a run of it; the id of the run. */
export async function startRelease(project: TestProject): Promise<string> {
  return String((await phasegate(project, ['start', 'release', 'notes for May', '--json'])).json.run);
}

/** Hands its notes in, so that it waits at its gate. */
export async function handInNotes(project: TestProject, run: string): Promise<void> {
  project.write('docs/notes.md', 'The notes for May.\n');
  await phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{"notes":{"summary":"all of it"}}' });
}
