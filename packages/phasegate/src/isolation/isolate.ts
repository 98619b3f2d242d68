import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import type { Isolate, IsolateRequest, IsolationStep } from '../runtime/ports.ts';
import { readAccounts } from './accounts.ts';
import { placesOf, readPlan } from './plan.ts';
import { propertiesOf } from './properties.ts';
import { demandRoot, planFileFor, planSetup } from './setup.ts';
import { tryOut } from './tryOut.ts';

/** Sets up, checks and removes an isolated engine; `launcher` is this program, as it is to be started. */
export function createIsolate(launcher: readonly [string, string]): Isolate {
  const planOf = (request: IsolateRequest) => readPlan(planFileFor(withRealPath(request)));
  return {
    setup(request) {
      const { steps, carryOut, file } = planSetup(withRealPath(request), launcher);
      return {
        steps,
        carryOut(told) {
          const plan = carryOut(told);
          const { command, unit, socket } = placesOf(plan);
          const sockets = plan.agents.map(({ name }) => ({ user: name, url: `unix:${socket(name)}` }));
          return { plan: file, command, unit, sockets, systemd: existsSync('/run/systemd/system') };
        },
      };
    },
    check(request) {
      const plan = planOf(request);
      const accounts = readAccounts();
      const looked = propertiesOf({ plan, accounts, program: launcher });
      if (process.getuid?.() !== 0) return { findings: looked, tried: false };
      const canTry = looked[0]?.holds === true;
      return { findings: [...looked, ...(canTry ? tryOut(plan, accounts, launcher) : [])], tried: canTry };
    },
    remove(request, { state }) {
      demandRoot();
      const plan = planOf(request);
      const places = placesOf(plan);
      const steps: (IsolationStep & { act(): void })[] = [];
      const drop = (path: string) =>
        steps.push({
          text: `remove \`${path}\``,
          done: !existsSync(path),
          act: () => rmSync(path, { recursive: true, force: true }),
        });
      for (const path of [places.sockets, places.home, places.command, places.unit]) drop(path);
      if (state) {
        drop(places.state);
        for (const made of plan.made.toReversed()) {
          const [kind, name = ''] = made.split(':');
          steps.push({
            text: `remove the ${kind} \`${name}\``,
            done: false,
            act: () => dropAccount(kind, name),
          });
        }
        drop(places.folder);
      } else drop(plan.file);
      return {
        steps: steps.map(({ text, done }) => ({ text, done })),
        carryOut(told) {
          for (const { act, ...step } of steps) {
            if (!step.done) act();
            told(step);
          }
        },
      };
    },
  };
}

function withRealPath(request: IsolateRequest): IsolateRequest {
  return existsSync(request.workspace) ? { ...request, workspace: realpathSync(request.workspace) } : request;
}

function dropAccount(kind: string | undefined, name: string): void {
  const [file, gone] = kind === 'user' ? ['/usr/sbin/userdel', 6] : ['/usr/sbin/groupdel', 6];
  try {
    execFileSync(file, [name], { stdio: 'ignore' });
  } catch (error) {
    // A group goes with its user.
    if (!(error instanceof Error && 'status' in error && error.status === gone)) throw error;
  }
}
