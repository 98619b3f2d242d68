/**
 * Tokens an agent receives over a whole run of `examples/test-generation` by MCP, and how many of them it has to hold at
 * any one time, next to reading all files of the workflow at once. A token is taken as four characters.
 *
 *   npm run bench:context
 */
import { fileURLToPath } from 'node:url';
import { makeMcpProject } from '../examples/test-generation/mcpProject.ts';
import { filesOf } from './context/filesOf.ts';
import { heldByPhase } from './context/heldByPhase.ts';
import { receivedByMcp } from './context/receivedByMcp.ts';
import { print, ratio } from './transitions/measure.ts';

const EXAMPLE = fileURLToPath(new URL('../examples/test-generation', import.meta.url));
const AIM = 0.25;

const files = filesOf(`${EXAMPLE}/workflows/test_generation_v3`);
const whole = files.reduce((sum, text) => sum + text.length, 0);
print(`reading all ${files.length} files of the workflow at once: ${tokens(whole).trim()}`);

const project = makeMcpProject(EXAMPLE, ['workflows']);
try {
  for (const thorough of [false, true]) {
    const received = await receivedByMcp(project, { thorough });
    const { total, largest, byPhase, held } = heldByPhase(received);
    print(
      `\nby MCP, ${thorough ? 'reading every phase with `get_current_phase` too' : 'from `next_action` to `next_action`'}`,
    );
    print(`  over the whole run         ${tokens(total)}  in ${received.length} answers`);
    print(
      `  largest answer             ${tokens(largest.characters)}  ${largest.tool} in phase ${largest.phase}`,
    );
    print(`  most held at any one time  ${tokens(held)}  one phase, its tasks and the answer that led there`);
    print(`  phase by phase             ${[...byPhase.values()].map((sum) => ratio(sum / whole)).join(' ')}`);
    print(
      `  held at any one time: ${percent(held / whole)} of reading it all (aim: at most ${percent(AIM)})`,
    );
  }
  print(
    `\nthe list of tools, which a client holds besides: ${tokens((await project.toolList()).length).trim()}`,
  );
} finally {
  await project.close();
}

function tokens(characters: number): string {
  return `${Math.ceil(characters / 4).toLocaleString('en')} tokens`.padStart(13);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
