/** Lines of a scripted client in a sandbox: starts the program it is named, and has `ask(method, params)` then. */
export const SPEAK_MCP = `const [file, ...words] = process.env.PHASEGATE_MCP.split(' ');
const client = spawn(file, words, { stdio: ['pipe', 'pipe', 'inherit'] });
let rest = '';
const waiting = new Map();
client.stdout.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) { const m = JSON.parse(line); waiting.get(m.id)?.(m); }
});
let id = 0;
const ask = (method, params) => new Promise((resolve) => {
  waiting.set(++id, resolve);
  client.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
});
await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } });
client.stdin.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) + '\\n');
`;
