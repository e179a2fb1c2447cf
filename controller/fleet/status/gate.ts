/**
 * The gate strip: how far a change has come from git through accepted and delivered to running, each with the commit or version
 * that has reached it. Pure.
 */
import type { Condition, Gate, GateSegment, GateState } from '../../../schemas/api/common.ts';
import type { Draining, NodeHealth, NodePipelineStatus, Refusal } from '../../../schemas/api/pipelines.ts';
import { canarySegments, type GateRollout } from './gate-rollout.ts';
import type { BindingRow } from './queries.ts';
import { reasonLine } from './refusal.ts';

export interface GateNode {
  nodeName: string;
  status: NodePipelineStatus;
  version: number | null;
  /** The version that it should run; null for none. */
  desired: number | null;
  /** Whether it is a canary node of the active rollout. */
  canary: boolean;
  health: NodeHealth;
  lastError: string | null;
  /** The failing part of a running engine. */
  degraded: string | null;
  draining: Draining | null;
  since: Date | null;
  /** Set if the intended version does not run on this node. */
  refused: Refusal | null;
}

export interface GateInput {
  managedBy: 'ui' | 'git';
  isDraft: boolean;
  /** Null for a pipeline that git does not own. */
  manifest: {
    seenCommit: string | null;
    appliedCommit: string | null;
    /** The spec in git equals the applied one. */
    upToDate: boolean;
    applied: Condition | null;
    /** The manifest was removed from git, and the object is retained. */
    removed: boolean;
    /** Null if the manifest has no error. */
    problem: string | null;
  } | null;
  deployed: { version: number; commit: string | null; at: Date | null } | null;
  /** The active rollout. */
  rollout: GateRollout | null;
  latestVersion: number | null;
  /** The nodes that should run it. */
  nodes: readonly GateNode[];
}

/** Node names listed in a reason. */
const MAX_NAMES = 5;

const isSilent = ({ health }: GateNode): boolean => health === 'UNREACHABLE' || health === 'UNKNOWN';

/**
 * Names of nodes that should run the deployed version, do not respond, and were not seen running it. Rollouts do not wait for
 * them.
 */
export function silentNodes({ isDraft, deployed, rollout, nodes }: GateInput): string[] {
  if (isDraft || rollout || !deployed) return [];
  return nodes
    .filter((node) => isSilent(node) && !(node.version === deployed.version && node.status === 'RUNNING'))
    .map(({ nodeName }) => nodeName);
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

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

/** The version that a rollout rolled back from its canary nodes while git's spec is held; null if there is none. */
function rolledBackFrom({ manifest, deployed, rollout, latestVersion }: GateInput): number | null {
  if (rollout || !deployed || manifest?.applied?.reason !== 'Held') return null;
  return latestVersion === deployed.version ? null : latestVersion;
}

/** The `running` segment if a version was refused or an engine crashed; null otherwise. */
function failedOn(nodes: readonly GateNode[], running: GateSegment): GateSegment | null {
  const refused = refusedOn(nodes);
  // A node that is being reverted is already reported as refused.
  const crashed = crashedOn(
    nodes.filter((node) => node.refused?.by !== 'CRASH'),
    running,
  );
  if (refused === null) return crashed;
  return { ...running, state: 'failed', reason: [refused, crashed?.reason].filter(Boolean).join('. ') };
}

/** `Version 4 was refused on 2 of 30 nodes by their engine: sink out, option path: …; version 3 keeps running there`. */
function refusedOn(nodes: readonly GateNode[]): string | null {
  const refusals = nodes.flatMap((node) =>
    node.refused ? [{ nodeName: node.nodeName, currentVersion: node.version, refused: node.refused }] : [],
  );
  const groups = Map.groupBy(
    refusals,
    ({ refused }) => `${refused.version} ${refused.by} ${refused.servedVersion}`,
  );
  const sentences = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { version, by, servedVersion, place, fault } = first.refused;
    const names = group.slice(0, MAX_NAMES).map(({ nodeName }) => nodeName);
    if (group.length > names.length) names.push(`${group.length - names.length} more`);
    const problem =
      by === 'NODE_CHECK'
        ? `Version ${version} was refused on ${group.length} of ${plural(nodes.length, 'node')} by their engine`
        : `Version ${version} crashed on ${group.length} of ${plural(nodes.length, 'node')}`;
    const outcome =
      servedVersion !== null
        ? by === 'NODE_CHECK'
          ? `version ${servedVersion} keeps running there`
          : `it was reverted there to version ${servedVersion}`
        : fault !== null
          ? `it could not be reverted: ${fault}`
          : first.currentVersion === version
            ? 'it keeps running there as it was before its secrets changed'
            : `version ${first.currentVersion} keeps running there until its agent restarts`;
    const location = place ? ` (${place.path}:${place.line})` : '';
    return [`${problem} (${names.join(', ')}): ${reasonLine(first.refused)}; ${outcome}${location}`];
  });
  return sentences.length > 0 ? sentences.join('. ') : null;
}

/**
 * The `running` segment if an engine crashed; null otherwise. Ignores unreachable nodes that report another version than the
 * desired one.
 */
function crashedOn(nodes: readonly GateNode[], running: GateSegment): GateSegment | null {
  const crashed = nodes.filter(
    (node) => node.status === 'CRASHED' && !(isSilent(node) && node.version !== node.desired),
  );
  const first = crashed[0];
  if (!first) return null;
  const detail = first.lastError ? `: ${first.lastError.split('\n')[0]?.slice(0, 200)}` : '';
  const names = crashed.map(({ nodeName }) => nodeName).slice(0, 5);
  return { ...running, state: 'failed', reason: `Crashed on ${names.join(', ')}${detail}` };
}

/** The `running` segment if an engine runs without one of its parts; null otherwise. */
function degradedOn(nodes: readonly GateNode[], running: GateSegment): GateSegment | null {
  const degraded = nodes.filter((node) => node.degraded !== null && !isSilent(node));
  const first = degraded[0];
  if (!first) return null;
  const names = degraded.map(({ nodeName }) => nodeName).slice(0, MAX_NAMES);
  const detail = first.degraded?.split('\n')[0]?.slice(0, 200);
  return { ...running, state: 'held', reason: `Degraded on ${names.join(', ')}: ${detail}` };
}

/** A node that drains its previous version is in progress, which is no fault. */
function drainingText(nodes: readonly GateNode[]): string {
  const draining = nodes.filter((node) => node.draining !== null && !isSilent(node));
  const first = draining[0];
  if (!first?.draining) return '';
  const names = draining.map(({ nodeName }) => nodeName).slice(0, MAX_NAMES);
  const { undeliveredEvents, secondsLeft } = first.draining;
  const events = undeliveredEvents === null ? '' : `${plural(undeliveredEvents, 'event')} left, `;
  return `; draining on ${names.join(', ')} (${events}at most ${Math.round(secondsLeft)} s)`;
}

/** Derives the conditions RolledOut and Healthy from the reports of nodes. */
export function rolloutConditions(gate: Gate, input: GateInput, file: string, line: number): Condition[] {
  const [, , delivered, running] = gate;
  const { rollout, deployed } = input;
  if (!delivered || !running || input.isDraft || (!deployed && !rollout)) return [];
  const at = running.at ?? delivered.at ?? deployed?.at ?? new Date(0);
  const base = { file, line, commit: input.manifest?.appliedCommit ?? null, lastTransition: at };
  // Unreachable nodes are listed, but not waited for.
  const answering = input.nodes.filter((node) => !isSilent(node));
  const arrived =
    answering.every(({ version }) => version === deployed?.version) &&
    (running.state === 'failed' || answering.every(({ status }) => status === 'RUNNING'));
  const hasNoNodes = input.nodes.length === 0;
  const rolledBack = rolledBackFrom(input) !== null;
  const degraded = running.state !== 'failed' && answering.some((node) => node.degraded !== null);
  const refused = input.nodes.some((node) => node.refused !== null);
  const faultReason = degraded ? 'Degraded' : refused ? 'Refused' : 'Crashed';
  const isFaulty = degraded || running.state === 'failed';
  if (rollout || rolledBack)
    return [
      {
        ...base,
        type: 'RolledOut',
        status: rollout && rollout.held === null ? 'Unknown' : 'False',
        reason: !rollout ? 'RolledBack' : rollout.held === null ? 'Canary' : 'CanaryHeld',
        message: delivered.reason,
      },
      {
        ...base,
        type: 'Healthy',
        status: isFaulty ? 'False' : running.state === 'done' ? 'True' : 'Unknown',
        reason: isFaulty ? faultReason : running.state === 'done' ? 'Running' : 'InProgress',
        message: running.reason,
      },
    ];
  return [
    {
      ...base,
      type: 'RolledOut',
      status: hasNoNodes || arrived ? 'True' : 'False',
      reason: hasNoNodes
        ? 'NoNodes'
        : !arrived
          ? refused
            ? 'Refused'
            : 'InProgress'
          : silentNodes(input).length > 0
            ? 'NodesUnreachable'
            : 'AllNodes',
      message: delivered.reason,
    },
    {
      ...base,
      type: 'Healthy',
      status: running.state === 'done' ? 'True' : isFaulty ? 'False' : 'Unknown',
      reason:
        running.state === 'done' ? 'Running' : isFaulty ? faultReason : hasNoNodes ? 'NoNodes' : 'InProgress',
      message: running.reason,
    },
  ];
}

const WORST_FIRST: readonly GateState[] = ['failed', 'moving', 'held', 'unknown', 'done'];

/** Sums up several strips: at each point the worst state, and how many strips are in it. */
export function sumGates(
  gates: readonly Gate[],
  ends: { git: Omit<GateSegment, 'point'>; accepted: Omit<GateSegment, 'point'> },
): Gate {
  const sum = (point: 'delivered' | 'running', index: number, hasArrived = true): GateSegment => {
    const counted = gates.map((gate) => gate[index]).filter((segment) => segment !== undefined);
    const relevant = counted.filter((segment) => segment.state !== 'unknown');
    const state =
      WORST_FIRST.find((candidate) => relevant.some((segment) => segment.state === candidate)) ?? 'unknown';
    const inState = relevant.filter((segment) => segment.state === state);
    const reason =
      relevant.length === 0
        ? 'Nothing is deployed'
        : state === 'done'
          ? `${plural(relevant.length, 'pipeline')}`
          : `${inState.length} of ${plural(relevant.length, 'pipeline')}: ${inState[0]?.reason ?? ''}`;
    const newest = relevant.reduce<Date | null>(
      (at, segment) => (segment.at && (!at || segment.at > at) ? segment.at : at),
      null,
    );
    return {
      point,
      state,
      commit: state === 'done' && hasArrived ? ends.accepted.commit : null,
      version: null,
      at: newest,
      reason,
    };
  };
  const delivered = sum('delivered', 2);
  // After a rollback the nodes are healthy, but with the version that the commit was to replace.
  const running = sum('running', 3, delivered.state === 'done');
  return [{ point: 'git', ...ends.git }, { point: 'accepted', ...ends.accepted }, delivered, running];
}

/** The strip of a node: the git and accepted segments are those of its environment, the others describe the node itself. */
export function nodeGate(
  binding: BindingRow | null,
  node: { health: NodeHealth; pipelines: readonly GateNode[]; desired: readonly (number | null)[] },
): Gate {
  const empty = { commit: null, version: null, at: null };
  const git: GateSegment = !binding
    ? { point: 'git', ...empty, state: 'unknown', reason: 'Not bound to git' }
    : {
        point: 'git',
        state: binding.lastError ? 'failed' : binding.headCommit ? 'done' : 'unknown',
        commit: binding.headCommit,
        version: null,
        at: binding.headAt ? new Date(binding.headAt) : null,
        reason: binding.lastError ?? (binding.headCommit ? 'Read' : 'Nothing has been read yet'),
      };
  const accepted: GateSegment = !binding
    ? { point: 'accepted', ...empty, state: 'unknown', reason: 'Not bound to git' }
    : {
        point: 'accepted',
        state:
          binding.importErrors > 0
            ? 'failed'
            : binding.headCommit === binding.appliedCommit
              ? 'done'
              : 'moving',
        commit: binding.appliedCommit,
        version: null,
        at: binding.appliedAt,
        reason:
          binding.importErrors > 0
            ? `${plural(binding.importErrors, 'import error')} in the environment`
            : 'Accepted',
      };
  const desired = node.pipelines.filter((_, index) => node.desired[index] !== null);
  const total = desired.length;
  const deliveredNodes = node.pipelines.filter(
    (entry, index) => node.desired[index] !== null && entry.version === node.desired[index],
  );
  const runningNodes = deliveredNodes.filter((entry) => entry.status === 'RUNNING');
  const crashed = desired.filter((entry) => entry.status === 'CRASHED');
  const silent = node.health === 'UNREACHABLE' || node.health === 'UNKNOWN';
  const segment = (point: 'delivered' | 'running', reached: readonly GateNode[]): GateSegment => {
    const at = reached.reduce<Date | null>(
      (newest, entry) => (entry.since && (!newest || entry.since > newest) ? entry.since : newest),
      null,
    );
    const base = {
      point,
      version: null,
      at,
      commit: reached.length === total && total > 0 ? (binding?.appliedCommit ?? null) : null,
    };
    if (total === 0) return { ...base, state: 'unknown', reason: 'No pipeline targets this node' };
    const count = `${reached.length} of ${plural(total, 'pipeline')}`;
    if (point === 'running' && crashed.length > 0)
      return { ...base, state: 'failed', reason: `${crashed.length} crashed, ${count} run` };
    if (silent) return { ...base, state: 'held', reason: `Not reachable; last seen with ${count}` };
    return { ...base, state: reached.length === total ? 'done' : 'moving', reason: count };
  };
  return [git, accepted, segment('delivered', deliveredNodes), segment('running', runningNodes)];
}
