/** A program: plays one trial inside a world. The order comes on stdin, the report goes to stdout, both as JSON. */
import { runTrial } from './runTrial.ts';
import type { TrialOrder } from './trial.ts';

let text = '';
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
const report = await runTrial(JSON.parse(text) as TrialOrder);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
