import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPeers } from '../peers/install.ts';
import { QUESTIONS, type Question, RULES } from './policy.ts';

/** Somebody else's way of answering the same questions: no token, no audit, nothing on disk. */
export interface Peer {
  readonly name: string;
  judge(question: Question): boolean;
}

/** The peers, installed here and now where they are missing; their versions are exact in `bench/peers`. */
export async function openPeers(): Promise<readonly Peer[]> {
  const require = createRequire(join(installPeers('casbin'), 'package.json'));
  const peers = [
    await casbin(require('casbin') as Casbin),
    cedar(require('@cedar-policy/cedar-wasm/nodejs') as Cedar),
  ];
  for (const peer of peers) {
    for (const question of QUESTIONS) {
      if (peer.judge(question) === question.allowed) continue;
      throw new Error(`${peer.name} judges otherwise: ${JSON.stringify(question)}`);
    }
  }
  return peers;
}

interface Casbin {
  newModelFromString(text: string): unknown;
  StringAdapter: new (policy: string) => unknown;
  newEnforcer(model: unknown, adapter: unknown): Promise<{ enforceSync(...request: string[]): boolean }>;
}

async function casbin({ newModelFromString, StringAdapter, newEnforcer }: Casbin): Promise<Peer> {
  const model = newModelFromString(`
[request_definition]
r = phase, tool, path
[policy_definition]
p = phase, tool, below, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = r.phase == p.phase && r.tool == p.tool && keyMatch(r.path, p.below)
`);
  const lines = RULES.map(({ phase, tool, below, effect }) => `p, ${phase}, ${tool}, ${below}*, ${effect}`);
  const enforcer = await newEnforcer(model, new StringAdapter(lines.join('\n')));
  return {
    name: 'Casbin',
    judge: ({ phase, tool, path }) => enforcer.enforceSync(phase, tool, path),
  };
}

interface Cedar {
  preparsePolicySet(id: string, policies: { readonly staticPolicies: string }): { readonly type: string };
  statefulIsAuthorized(call: object): {
    readonly type: string;
    readonly response?: { readonly decision: string };
  };
}

/** With the policies parsed beforehand, which is the fastest way it has. */
function cedar({ preparsePolicySet, statefulIsAuthorized }: Cedar): Peer {
  const policies = RULES.map(
    ({ phase, tool, below, effect }) =>
      `${effect === 'allow' ? 'permit' : 'forbid'}(principal == Phase::"${phase}", action == Action::"${tool}", resource) ` +
      `when { context.path like "${below}*" };`,
  );
  const { type } = preparsePolicySet('bench', { staticPolicies: policies.join('\n') });
  if (type !== 'success') throw new Error('Cedar cannot read the policy');
  return {
    name: 'Cedar (wasm)',
    judge({ phase, tool, path }) {
      const answer = statefulIsAuthorized({
        principal: { type: 'Phase', id: phase },
        action: { type: 'Action', id: tool },
        resource: { type: 'Workspace', id: 'here' },
        context: { path },
        preparsedPolicySetId: 'bench',
        validateRequest: false,
        entities: [],
      });
      if (answer.response === undefined) throw new Error(JSON.stringify(answer));
      return answer.response.decision === 'allow';
    },
  };
}
