import { PhasegateError, type Principal } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { asCheckUser } from './isolation/asCheckUser.ts';
import { type IsolationPlan, placesOf, readPlan } from './isolation/plan.ts';
import { createStanding, type Standing } from './isolation/standing.ts';
import type { Around, OpenProject, Sandbox } from './runtime/ports.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The plan this process was started by, or null. INVARIANT: it names the workspace and the user of this process. */
export function planIn(env: Env, root: string): IsolationPlan | null {
  const { PHASEGATE_ISOLATED: file = '' } = env;
  if (file === '') return null;
  const plan = readPlan(file);
  const uid = process.getuid?.();
  if (uid !== plan.engine.id) {
    throw new PhasegateError(
      'usage',
      `\`${file}\` is for the user \`${plan.engine.name}\`, and this is user ${uid}`,
      {
        hint: `run \`${placesOf(plan).command}\` as root: it changes the user`,
      },
    );
  }
  if (plan.workspace === root) return plan;
  throw new PhasegateError('usage', `\`${file}\` is for \`${plan.workspace}\`, not for \`${root}\``, {
    hint: 'set another one up with `phasegate isolate setup`',
  });
}

/** The same sandboxes, entered as the user of checks. */
export function isolatedSandbox(
  sandbox: Sandbox,
  { env, root }: { readonly env: Env; readonly root: string },
): Sandbox {
  const plan = planIn(env, root);
  if (plan === null) return sandbox;
  const lead = asCheckUser(plan);
  return {
    state: () => sandbox.state(),
    mcp: () => sandbox.mcp(),
    async enclose(program, scope) {
      const environment = { ...program.environment, ...ofGit(plan) };
      const enclosed = await sandbox.enclose({ ...program, environment }, scope);
      return { ...enclosed, argv: lead(enclosed.argv) };
    },
  };
}

/** Git takes the repository of another user for a trap; that this one is not, the one who set it up has said. */
function ofGit({ workspace }: IsolationPlan): Readonly<Record<string, string>> {
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: workspace };
}

/** An isolated engine, and the sockets of its agents. */
export interface Isolated extends Standing {
  readonly sockets: readonly { readonly agent: string; readonly path: string }[];
}

/** The isolation this process serves in, verified, or null. Throws `usage` with what does not hold. */
export function isolationOf(root: string): Isolated | null {
  const plan = planIn(process.env, root);
  return plan === null ? null : openIsolation(plan);
}

/** The operator's own socket, and one for each agent: its folder says who can connect, and that is who they are. */
export function socketsFor(
  { socket }: { readonly socket?: string },
  isolation: Isolated | null,
): readonly { readonly path: string; readonly group: boolean; readonly agent?: string }[] {
  const own = socket === undefined ? [] : [{ path: socket, group: false }];
  return [...own, ...(isolation?.sockets ?? []).map((one) => ({ ...one, group: true }))];
}

function openIsolation(plan: IsolationPlan): Isolated {
  const standing = createStanding(plan, [process.execPath, process.argv[1] ?? '']);
  const problem = standing.problem();
  if (problem !== null) {
    throw new PhasegateError('usage', `the engine is not isolated: ${problem}`, {
      hint: `run \`phasegate isolate check --workspace ${shellWord(plan.workspace)}\` as root`,
    });
  }
  // What tools of the engine write in the workspace is for the group too; the state is behind a folder of mode 700.
  process.umask(0o007);
  const places = placesOf(plan);
  const sockets = plan.agents.map(({ name }) => ({ agent: name, path: places.socket(name) }));
  return { ...standing, sockets };
}

/**
 * The project as an isolated server has it: agents come through their sockets alone, so a run that is started here,
 * by an agent or into the queue, is worked on by one that cannot reach the engine.
 */
export function isolatedProject(open: OpenProject, { problem }: Standing): OpenProject {
  const ring = () => (problem() === null ? { ring: 'isolated' as const } : {});
  return {
    ...open,
    as: (principal: Principal, around: Around = {}) => open.as(principal, { ...ring(), ...around }),
  };
}
