import type { Reporter, TestModule } from 'vitest/node';
import { PROGRAMS } from './programs.ts';

/** Says at the end which tests were left out because a program of the system does not work here, and how many. */
export default class LeftOut implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    for (const { name, inTitle, trouble } of PROGRAMS) {
      const left = skipped.filter(({ fullName }) => inTitle.test(fullName));
      const why = left.length === 0 ? null : await trouble();
      if (why === null) continue;
      console.log(`\n${left.length} tests left out, which need ${name} (${why}):`);
      for (const { fullName, module } of left) console.log(`  ${module.relativeModuleId}: ${fullName}`);
      console.log('`npm run test:programs` installs it where it may.');
    }
  }
}
