import { runLaunch } from './agents/runLaunch.ts';
import { openLocalProject } from './localProject.ts';

/**
 * Carries out the order in a folder, in a terminal. A program that is to be held is held from here: what makes the
 * sandbox must be its parent, and the one who left the order is not.
 */
export async function runLocalLaunch(folder: string): Promise<void> {
  await runLaunch(folder, async ({ run, engine }) => {
    // The state is found by what the order says, and not by what the terminal's server was once started with.
    const project = await openLocalProject({ projectDir: engine.cwd, env: engine.environment });
    return (await project.open()).sandboxes.forRun(run);
  });
}
