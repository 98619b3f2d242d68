/** A program: plays one session inside a sandbox. The order is in the file it is named; the report is written beside it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { playSession, type SessionOrder, type SessionReport } from './session.ts';

const [, , file = ''] = process.argv;
const report = `${file}.report`;
const order = JSON.parse(readFileSync(file, 'utf8')) as SessionOrder;
if (existsSync(report)) {
  // An agent that ended without having done its work is started again: that is what it was sent back by.
  const first = JSON.parse(readFileSync(report, 'utf8')) as object;
  writeFileSync(report, JSON.stringify({ ...first, sentBack: 1 }));
} else {
  for (const folder of [order.home, order.files]) mkdirSync(folder, { recursive: true });
  const [program = '', ...words] = (process.env.PHASEGATE_MCP ?? '').split(' ');
  const server = { name: 'phasegate', argv: [program, ...words] } as const;
  const run = process.env.PHASEGATE_RUN ?? '';
  const environment = { ...order.environment, PHASEGATE_RUN: run };
  const save = (played: SessionReport) => {
    writeFileSync(`${report}.new`, JSON.stringify(played));
    renameSync(`${report}.new`, report);
  };
  // A sandbox ends with its phase, and so does this program, at any time: what is known by then is kept before each turn,
  // and never half of it.
  await playSession({ ...order, server, run, environment }, save).then(save, (error: unknown) =>
    save({ end: String(error), calls: [], sentBack: 0 }),
  );
}
process.exit(0);
