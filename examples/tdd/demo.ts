import { makeDemoProject } from './demoProject.ts';
import { playDemo } from './playDemo.ts';
import { makeStage } from './stage.ts';

const colour = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
const project = makeDemoProject();
try {
  const stage = makeStage(project, { print: (line) => console.log(line), colour });
  console.log('Five phases, a human and a scripted agent that cheats wherever it can.');
  await playDemo(stage, project);
  const { allowed, refused, surprises } = stage.counts;
  console.log(`\n${allowed} acts allowed, ${refused} refused, ${surprises} not as they must be`);
  process.exitCode = surprises === 0 ? 0 : 1;
} finally {
  project.remove();
}
