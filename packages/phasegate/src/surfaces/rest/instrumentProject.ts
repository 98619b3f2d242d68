import type { Phasegate, Verdict } from '@phasegate/core';
import type { Claimed, Claims, OpenProject, Toolbox } from '../../runtime/ports.ts';
import type { Metrics } from './metrics.ts';
import type { SpanFields, Tracing } from './tracing.ts';

/**
 * The project with its commands counted and traced. Done here, around the ports, so that no route has to remember
 * it, and none is left out.
 */
export function instrumentProject(project: OpenProject, metrics: Metrics, tracing: Tracing): OpenProject {
  const traced = tracing.request !== null;
  return {
    ...project,
    claims: countClaims(project.claims, metrics, tracing),
    toolbox: countTools(project.toolbox, metrics, tracing),
    as: (principal, around) => {
      const phasegate = project.as(principal, around);
      return traced ? tracePhasegate(phasegate, tracing) : phasegate;
    },
    decide: (runId, choice, human) =>
      tracing.command(
        'decide',
        { 'phasegate.run': runId },
        {
          run: () => project.decide(runId, choice, human),
          attributes: ({ verdict }) => verdictFields(verdict),
        },
      ),
  };
}

function countClaims(claims: Claims, metrics: Metrics, tracing: Tracing): Claims {
  const claiming = async <T extends Claimed | null>(run: () => Promise<T>): Promise<T> => {
    try {
      const claimed = await run();
      metrics.claim(claimed === null ? 'empty' : 'claimed');
      return claimed;
    } catch (error) {
      metrics.claim('refused');
      throw error;
    }
  };
  const toldOf = (claimed: Claimed | null): SpanFields =>
    claimed === null ? {} : { 'phasegate.run': claimed.view.run };
  const counted = (from: Pick<Claims, 'claim' | 'claimRun'>): Pick<Claims, 'claim' | 'claimRun'> => ({
    claim: (agent, capabilities) =>
      tracing.command(
        'claim',
        { 'phasegate.agent': agent.name },
        {
          run: () => claiming(() => from.claim(agent, capabilities)),
          attributes: toldOf,
        },
      ),
    claimRun: (runId, agent, capabilities) =>
      tracing.command<Claimed>(
        'claim',
        { 'phasegate.agent': agent.name, 'phasegate.run': runId },
        {
          run: () => claiming(() => from.claimRun(runId, agent, capabilities)),
          attributes: toldOf,
        },
      ),
  });
  return {
    ...claims,
    ...counted(claims),
    away: counted(claims.away),
    transition: (admitted, request) =>
      tracing.command(
        'transition',
        { 'phasegate.run': admitted.runId },
        {
          run: () => claims.transition(admitted, request),
          attributes: ({ verdict }) => verdictFields(verdict),
        },
      ),
  };
}

function countTools(toolbox: Toolbox, metrics: Metrics, tracing: Tracing): Toolbox {
  const check: Toolbox['check'] = async (admitted, call) => {
    const verdict = await toolbox.check(admitted, call);
    metrics.verdict(call.tool, verdict.allowed);
    return verdict;
  };
  return {
    ...toolbox,
    // Asked all day long: where nobody traces, there is nothing to be said about it.
    check:
      tracing.request === null
        ? check
        : (admitted, call) =>
            tracing.command(
              'check',
              { 'phasegate.run': admitted.runId, 'phasegate.tool': call.tool },
              { run: () => check(admitted, call), attributes: verdictFields },
            ),
    execute: (admitted, calls) =>
      tracing.command(
        'execute',
        { 'phasegate.run': admitted.runId, 'phasegate.calls': calls.length },
        {
          run: async () => {
            const executed = await toolbox.execute(admitted, calls);
            for (const [index, { verdict }] of executed.entries()) {
              metrics.verdict(calls[index]?.tool ?? '', verdict.allowed);
            }
            return executed;
          },
          attributes: (executed) => ({
            'phasegate.allowed': executed.every(({ verdict }) => verdict.allowed),
          }),
        },
      ),
  };
}

function tracePhasegate(phasegate: Phasegate, tracing: Tracing): Phasegate {
  return {
    ...phasegate,
    start: (request) =>
      tracing.command(
        'start',
        { 'phasegate.workflow': request.workflow },
        {
          run: () => phasegate.start(request),
          attributes: ({ verdict }) => verdictFields(verdict),
        },
      ),
    submit: (runId, command) =>
      tracing.command(
        command.kind,
        { 'phasegate.run': runId },
        {
          run: () => phasegate.submit(runId, command),
          attributes: ({ verdict }) => verdictFields(verdict),
        },
      ),
  };
}

function verdictFields(verdict: Verdict): SpanFields {
  return verdict.allowed
    ? { 'phasegate.allowed': true }
    : { 'phasegate.allowed': false, 'phasegate.blocker': verdict.blockers[0].code };
}
