/**
 * The gate strip: how far a change has come from git through accepted and delivered to running, each with the commit or version
 * that has reached it. Pure.
 */
import type { Gate, GateSegment, GateState } from '../../../../schemas/api/common.ts';
import { type GateInput, type GateNode, isSilent, rolledBackFrom } from './gate-input.ts';
import { canarySegments } from './gate-rollout.ts';
import { degradedOn, drainingText, failedOn, MAX_NAMES, plural } from './node-faults.ts';

export function pipelineGate(input: GateInput): Gate {
  return [gitSegment(input), acceptedSegment(input), ...nodeSegments(input)];
}

function gitSegment({ manifest }: GateInput): GateSegment {
  const base = { point: 'git' as const, version: null, at: null };
  if (!manifest) return { ...base, state: 'unknown', commit: null, reason: 'Owned by the UI, not by git' };
  if (manifest.problem)
    return { ...base, state: 'failed', commit: manifest.seenCommit, reason: manifest.problem };
  if (manifest.removed)
    return { ...base, state: 'held', commit: manifest.seenCommit, reason: 'Its manifest was removed' };
  return { ...base, state: 'done', commit: manifest.seenCommit, reason: 'Read and understood' };
}

function acceptedSegment({ manifest, deployed, rollout, isDraft, latestVersion }: GateInput): GateSegment {
  const segment = (state: GateState, reason: string): GateSegment => ({
    point: 'accepted',
    state,
    commit: manifest ? manifest.appliedCommit : ((rollout ?? deployed)?.commit ?? null),
    version: (rollout ?? deployed)?.version ?? latestVersion,
    at: rollout?.since ?? deployed?.at ?? null,
    reason,
  });
  const current = deployed ? `version ${deployed.version} keeps running` : 'nothing runs';
  if (manifest?.problem) return segment('failed', `The change was rejected; ${current}`);
  if (manifest?.removed)
    return segment('held', manifest.applied?.message || 'Its manifest was removed; the pipeline is retained');
  // After a rollback git still holds the spec applied last; only the hold shows that another version runs.
  if (manifest?.applied?.reason === 'Held') return segment('held', manifest.applied.message);
  if (manifest && !manifest.upToDate) {
    const held = manifest.applied?.status === 'False';
    return segment(held ? 'held' : 'moving', manifest.applied?.message || 'Waiting for the next pass');
  }
  if (isDraft) return segment('done', 'Accepted as a draft, which runs nowhere');
  if (rollout) return segment('done', `Version ${rollout.version} is accepted; canary nodes get it first`);
  if (!manifest && deployed && latestVersion !== null && latestVersion > deployed.version) {
    return segment('held', `Version ${latestVersion} is saved but not deployed`);
  }
  return segment('done', deployed ? `Version ${deployed.version} is deployed` : 'Accepted');
}

function nodeSegments(input: GateInput): [GateSegment, GateSegment] {
  const { isDraft, deployed, rollout, nodes, manifest } = input;
  const rolledBack = rolledBackFrom(input);
  // During a rollout git's commit belongs to the canary, and after a rollback to the version that was rolled back.
  const gitCommit = rollout || rolledBack !== null ? null : manifest?.appliedCommit;
  const commit = gitCommit ?? deployed?.commit ?? null;
  const segment = (
    point: 'delivered' | 'running',
    state: GateState,
    reason: string,
    reached: { version: number | null; at?: Date | null } = { version: null },
  ): GateSegment => ({
    point,
    state,
    reason,
    version: reached.version,
    commit: deployed && reached.version === deployed.version ? commit : null,
    at: reached.at ?? null,
  });
  if (rollout && !isDraft) {
    const [delivered, running] = canarySegments(input, rollout, segment);
    return [delivered, failedOn(nodes, running) ?? degradedOn(nodes, running) ?? running];
  }
  if (isDraft || !deployed) {
    const reason = isDraft ? 'A draft runs nowhere' : 'Nothing is deployed';
    return [segment('delivered', 'unknown', reason), segment('running', 'unknown', reason)];
  }
  const total = nodes.length;
  if (total === 0) {
    const reason = 'No node matches its selector';
    return [segment('delivered', 'unknown', reason), segment('running', 'unknown', reason)];
  }
  const deliveredNodes = nodes.filter((node) => node.version === deployed.version);
  const runningNodes = deliveredNodes.filter((node) => node.status === 'RUNNING');
  const silent = nodes.filter(isSilent);
  const latest = (list: readonly GateNode[]): Date | null =>
    list.reduce<Date | null>(
      (newest, node) => (node.since && (!newest || node.since > newest) ? node.since : newest),
      null,
    );
  const earlier = nodes.reduce<number | null>(
    (highest, node) => (node.version !== null && node.version > (highest ?? 0) ? node.version : highest),
    null,
  );
  const reached = (list: readonly GateNode[]) => ({
    version: list.length > 0 ? deployed.version : earlier,
    at: latest(list),
  });
  /** Held only if every node that lags cannot be reached or has refused the version. */
  const lagging = (arrived: readonly GateNode[]): GateState => {
    const explained = new Set([...arrived, ...silent, ...nodes.filter(({ refused }) => refused !== null)]);
    return nodes.every((node) => explained.has(node)) ? 'held' : 'moving';
  };
  const names = silent.slice(0, MAX_NAMES).map(({ nodeName }) => nodeName);
  if (silent.length > names.length) names.push(`${silent.length - names.length} more`);
  const silentText =
    silent.length > 0 ? `; ${plural(silent.length, 'node')} not reachable (${names.join(', ')})` : '';

  const delivered =
    rolledBack !== null
      ? segment(
          'delivered',
          'failed',
          `Version ${rolledBack} was rolled back; version ${deployed.version} is on ${deliveredNodes.length} of ${plural(total, 'node')}`,
          reached(deliveredNodes),
        )
      : deliveredNodes.length === total
        ? segment(
            'delivered',
            'done',
            `Version ${deployed.version} is on ${plural(total, 'node')}`,
            reached(deliveredNodes),
          )
        : segment(
            'delivered',
            lagging(deliveredNodes),
            `Version ${deployed.version} is on ${deliveredNodes.length} of ${plural(total, 'node')}${silentText}`,
            reached(deliveredNodes),
          );
  const crash = failedOn(nodes, segment('running', 'failed', '', reached(runningNodes)));
  if (crash) return [delivered, crash];
  const degraded = degradedOn(nodes, segment('running', 'held', '', reached(runningNodes)));
  if (degraded) return [delivered, degraded];
  const drains = drainingText(nodes);
  const running =
    runningNodes.length === total
      ? silent.length > 0
        ? segment(
            'running',
            'held',
            `Last seen running on ${plural(total, 'node')}${silentText}`,
            reached(runningNodes),
          )
        : segment('running', 'done', `Runs on ${plural(total, 'node')}`, reached(runningNodes))
      : segment(
          'running',
          lagging(runningNodes),
          `Runs on ${runningNodes.length} of ${plural(total, 'node')}${drains}${silentText}`,
          reached(runningNodes),
        );
  return [delivered, running];
}
