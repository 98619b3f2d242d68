import type { UnlockedHuman } from '../../../runtime/ports.ts';
import { type PlannedFile, planRemoval, removeSettings } from '../../../settings/installSettings.ts';
import { jsonFile } from '../../../settings/jsonFile.ts';
import { readIn } from '../../../settings/ownFiles.ts';
import { readRecord } from '../../../settings/settingsRecord.ts';
import { planUserRemoval, readUserRecord, removeUserSettings } from '../../../settings/userSettings.ts';
import { Cancelled } from '../cancelled.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { MCP_FILE } from '../setUp/attachClient.ts';
import { atHome, refusedElsewhere, showDiff } from '../setUp/attachHooks.ts';
import { HUMAN_OPTIONS, humanOnceSetUp } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate uninit`: takes back what `init` wrote for clients. */
export const uninit: CliCommand = {
  usage: ['uninit [--yes]'],
  details:
    'Takes the hooks and the MCP server of Phasegate out of the settings of every client, and this project out of the hooks\n' +
    'in your own settings, which go with the last project (see `init --user`). A file that nobody has touched\n' +
    'since is put back as it was; from any other only what is ours is taken. Config, workflows, runs and the audit stay.\n' +
    'Once a human is set up it needs their passphrase. Clients that are running may keep their hooks until they end.',
  examples: ['phasegate uninit', 'phasegate uninit --yes --passphrase-fd 3 3<~/secret'],
  options: { yes: { type: 'flag', summary: 'ask nothing' }, ...HUMAN_OPTIONS },
  positionals: [],
  async run(invocation) {
    const { args, out, prompts } = invocation;
    const { root, stateDir } = await invocation.project();
    const plan = planOf(root, stateDir);
    const users = planUserRemoval(root, stateDir);
    const isInUsers = readUserRecord(stateDir)?.projects.some((project) => project.root === root) === true;
    if (plan.length === 0 && !isInUsers) {
      await out.result({ removed: [], changed: [] }, () => 'no client is set up here');
      return 0;
    }
    const human = await humanOnceSetUp(invocation, { adminFor: 'taking the hooks away' });
    if (!args.flag('yes')) {
      if (prompts === null) throw usageError('nobody can be asked here', 'say that it is meant with `--yes`');
      await showDiff(invocation, [...plan, ...atHome(users)]);
      if (!(await prompts.confirm('Take this out?'))) throw new Cancelled();
    }
    removeUserSettings(root, stateDir, users);
    removeSettings(root, stateDir, plan);
    if (human !== null) await accept(invocation, plan, human);
    const of = (gone: boolean) =>
      [...plan, ...atHome(users)].filter(({ after }) => (after === null) === gone).map(({ path }) => path);
    const warnings = refusedElsewhere(users);
    const told = { removed: of(true), changed: of(false), ...(warnings.length === 0 ? {} : { warnings }) };
    await out.result(told, () =>
      [
        ...of(true).map((path) => `removed  ${path}`),
        ...of(false).map((path) => `changed  ${path}`),
        ...warnings,
      ].join('\n'),
    );
    return 0;
  },
};

function planOf(root: string, stateDir: string): readonly PlannedFile[] {
  const record = readRecord(stateDir);
  const plan = record === null ? [] : planRemoval(root, record);
  const mcp = jsonFile({ path: MCP_FILE, server: { key: 'mcpServers', value: () => ({}) } });
  const before = readIn(root, MCP_FILE);
  const after = before === null ? null : mcp.remove(before);
  const changes = before !== after ? [{ client: 'claude', path: MCP_FILE, before, after }] : [];
  return [...plan, ...changes];
}

/** The guard would put back what it was not told of. By content: what somebody else did meanwhile is not accepted. */
async function accept(
  invocation: Invocation,
  plan: readonly PlannedFile[],
  human: UnlockedHuman,
): Promise<void> {
  const { trust } = await invocation.open();
  for (const { path, change, hash } of await trust.guarded.cards()) {
    const file = plan.find((one) => one.path === path);
    if (file === undefined || (change === 'removed') !== (file.after === null)) continue;
    const { after } = await trust.guarded.texts({ path, hash });
    if (after === file.after) await trust.guarded.accept(path, hash, human);
  }
}
