// The server that all tests of a run share: started by the first that asks, ended when the run's folder is gone.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { startServer } from './startServer.ts';

const [folder = ''] = process.argv.slice(2);
const server = await startServer(['synchronous_commit=on']);
const draft = `${folder}/postgres.draft`;
writeFileSync(draft, server.url());
renameSync(draft, `${folder}/postgres.url`);
const timer = setInterval(async () => {
  if (existsSync(folder)) return;
  clearInterval(timer);
  await server.remove();
  process.exit(0);
}, 200);
