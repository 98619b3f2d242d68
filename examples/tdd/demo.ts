import { makeDemoProject } from './demoProject.ts';
import { performDemo } from './performDemo.ts';

process.exitCode = await performDemo(makeDemoProject(), {
  env: process.env,
  isTty: process.stdout.isTTY === true,
  print: (line) => console.log(line),
});
