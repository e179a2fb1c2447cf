/** What a rollout does next, from what was seen of it. Pure: the loop carries it out. */
import type { RolloutVerdict } from '../../../../schemas/api/delivery/rollouts.ts';
import { isActive, type RolloutRecord } from '../store.ts';
import { compareFigures } from './compare-figures.ts';
import {
  CRASHES,
  figuresOf,
  fromHere,
  isOnVersion,
  type NodeFacts,
  type Observed,
  observe,
  type Versions,
} from './observe-nodes.ts';

export interface Step {
  /** `begin`: the window. */
  act: 'wait' | 'begin' | 'broaden' | 'rollback';
  /** Of an end. */
  reason: string;
  observed: Observed;
  verdict: RolloutVerdict | null;
  heldReason: string | null;
}

export type Rolling = Pick<
  RolloutRecord,
  | 'status'
  | 'canaryVersion'
  | 'previousVersion'
  | 'windowMinutes'
  | 'onPass'
  | 'onFail'
  | 'healthStartedAt'
  | 'observed'
  | 'verdict'
  | 'heldReason'
>;

const MINUTE_MS = 60_000;

/** Null where it has ended. */
export function step(rollout: Rolling, seen: readonly NodeFacts[], now: number): Step | null {
  if (!isActive(rollout)) return null;
  const versions: Versions = { canary: rollout.canaryVersion, control: rollout.previousVersion };
  const observed = observe(rollout.observed, seen, versions, now);
  const verdictOf = (verdict: RolloutVerdict['verdict'], message: string, of = observed): RolloutVerdict => ({
    ...{ verdict, message, at: new Date(now) },
    canary: figuresOf(of, 'canary'),
    control: figuresOf(of, 'control'),
  });
  const wait = (verdict: RolloutVerdict | null, heldReason: string | null = null): Step => ({
    ...{ act: 'wait', reason: '', observed, verdict, heldReason },
  });
  const end = (act: 'broaden' | 'rollback', verdict: RolloutVerdict): Step => ({
    ...{ act, reason: verdict.message, observed, verdict, heldReason: null },
  });
  const fail = (message: string): Step => {
    const verdict = verdictOf('unhealthy', message);
    if (rollout.onFail === 'rollback') return end('rollback', verdict);
    return wait(verdict, `${message}. It waits for a person (onFail: hold)`);
  };

  // A person was asked for: nothing that comes later answers in their place.
  if (rollout.heldReason !== null && rollout.verdict?.verdict === 'unhealthy')
    return wait(rollout.verdict, rollout.heldReason);
  const { crashes } = figuresOf(observed, 'canary');
  if (crashes >= CRASHES) return fail(`Version ${versions.canary} crashed ${crashes} times on canary nodes`);
  const degraded = degradedOf(seen, versions);
  if (degraded !== null) return fail(`Version ${versions.canary} is degraded on canary nodes: ${degraded}`);
  const refused = seen.filter((node) => node.stage === 'canary' && node.refused);
  if (refused[0])
    return fail(
      `Version ${versions.canary} failed on ${refused.length} canary ${refused.length === 1 ? 'node' : 'nodes'}: ${refused[0].refused}`,
    );
  if (rollout.status === 'CANARY_DEPLOYED') {
    if (!hasArrived(seen, versions)) return wait(null);
    const begun = fromHere(observed);
    const verdict = verdictOf('waiting', 'The window has begun', begun);
    return { act: 'begin', reason: '', observed: begun, verdict, heldReason: null };
  }
  const endsAt = (rollout.healthStartedAt?.getTime() ?? now) + rollout.windowMinutes * MINUTE_MS;
  if (now < endsAt) return wait(verdictOf('waiting', 'The window runs'));
  const { verdict, message } = compareFigures(figuresOf(observed, 'canary'), figuresOf(observed, 'control'));
  switch (verdict) {
    case 'unhealthy':
      return fail(message);
    case 'unsure':
      return wait(
        verdictOf(verdict, message),
        `The window is over. ${message}. It goes on as soon as there are enough`,
      );
    case 'healthy': {
      if (!isThere(seen, versions)) {
        const gone = `No canary node that answers runs version ${versions.canary} well at the moment`;
        return wait(
          verdictOf('unsure', gone),
          `The window is over. ${gone}. It goes on as soon as one does; or roll it back`,
        );
      }
      if (isUnread(seen, versions)) {
        const unread = 'The metrics of a canary node are old: its engine could not be read lately';
        return wait(
          verdictOf('unsure', unread),
          `The window is over. ${unread}. It goes on as soon as it can be read; or roll it back`,
        );
      }
      const healthy = verdictOf(verdict, message);
      if (rollout.onPass === 'broaden') return end('broaden', healthy);
      return wait(
        healthy,
        'The window is over and the canary is healthy; it waits for a person to broaden it (onPass: hold)',
      );
    }
  }
}

/** What of the new version does not run on a canary node; null where the version before is no better. */
function degradedOf(seen: readonly NodeFacts[], versions: Versions): string | null {
  const on = (stage: NodeFacts['stage']) =>
    seen.filter((node) => node.stage === stage && node.reachable && isOnVersion(node, versions));
  const text = (node: NodeFacts): string | null => node.report?.degraded ?? null;
  if (on('control').some((node) => text(node) !== null)) return null;
  const first = on('canary').find((node) => text(node) !== null);
  return first ? (text(first)?.slice(0, 500) ?? null) : null;
}

/** Every canary node that can be reached runs the version, and one does. */
function hasArrived(seen: readonly NodeFacts[], versions: Versions): boolean {
  const reachable = seen.filter(({ stage, reachable }) => stage === 'canary' && reachable);
  return (
    reachable.length > 0 &&
    reachable.every((node) => isOnVersion(node, versions) && node.report?.status === 'RUNNING')
  );
}

/** What happened since on a node that is not read is in no figure. */
const isUnread = (seen: readonly NodeFacts[], versions: Versions): boolean =>
  seen.some(
    (node) =>
      node.stage === 'canary' &&
      node.reachable &&
      isOnVersion(node, versions) &&
      node.report?.isStale === true,
  );

/** What was counted before every canary node fell silent, perhaps by this very version, is no reason to give it to the others. */
function isThere(seen: readonly NodeFacts[], versions: Versions): boolean {
  const on = seen.filter((node) => node.stage === 'canary' && node.reachable && isOnVersion(node, versions));
  return (
    on.some(({ report }) => report?.status === 'RUNNING') &&
    on.every(({ report }) => report?.status !== 'CRASHED')
  );
}
