import { makeDemoProject } from './demoProject.ts';
import { playDemo } from './playDemo.ts';
import { makeStage, showsColour, showsUnicode } from './stage.ts';

const project = makeDemoProject();
try {
  const stage = makeStage(project, {
    print: (line) => console.log(line),
    colour: showsColour(process.env, process.stdout.isTTY === true),
    unicode: showsUnicode(process.env),
  });
  console.log('Five phases, a human, and a scripted agent that cheats wherever it can.\n');
  await playDemo(stage, project);
  const { allowed, cheats, surprises } = stage.counts;
  console.log(`${cheats} cheats refused, ${allowed} acts allowed, ${surprises} not as they must be`);
  if (surprises === 0) {
    console.log('\nHold your own agent, in your own project:');
    console.log('  phasegate init                       a config, a workflow, and you who decide');
    console.log('  phasegate start tdd "add subtract"   a run with that goal, and its id');
    console.log('  phasegate mcp                        for your agent (or: phasegate run)');
  }
  process.exitCode = surprises === 0 ? 0 : 1;
} finally {
  project.remove();
}
