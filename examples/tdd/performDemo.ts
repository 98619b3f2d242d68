import type { DemoProject } from './demoProject.ts';
import { playDemo } from './playDemo.ts';
import { makeStage, showsColour, showsUnicode } from './stage.ts';

/** Where the demo is shown. */
export interface Screen {
  readonly env: NodeJS.ProcessEnv;
  readonly isTty: boolean;
  print(line: string): void;
}

/** Plays the whole demo on a project, removes it and gives the exit code: 0 where everything went as it must. */
export async function performDemo(project: DemoProject, { env, isTty, print }: Screen): Promise<number> {
  try {
    const stage = makeStage(project, {
      print,
      colour: showsColour(env, isTty),
      unicode: showsUnicode(env),
    });
    print('Five phases, a human, and a scripted agent that cheats wherever it can.\n');
    await playDemo(stage, project);
    const { allowed, cheats, surprises } = stage.counts;
    print(`${cheats} cheats refused, ${allowed} acts allowed, ${surprises} unexpected`);
    if (surprises === 0) {
      print('\nTo install the command, `npm run pack` makes the file and says how. Then hold');
      print('your own agent, in your own project:');
      print('  phasegate init                      a workflow, and you as the one who decides');
      print('  phasegate start tdd "add subtract"  a run with that goal, and its id');
      print('  phasegate mcp                       for your agent (or: phasegate run)');
    }
    return surprises === 0 ? 0 : 1;
  } finally {
    project.remove();
  }
}
