/** What goes wrong on the nodes that should run a pipeline, in one sentence that names a few of them. */
import type { GateSegment } from '../../../../schemas/api/common.ts';
import { reasonLine } from '../refusal.ts';
import { type GateNode, isSilent } from './gate-input.ts';

/** Node names listed in a reason. */
export const MAX_NAMES = 5;

export const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The `running` segment if a version was refused or an engine crashed; null otherwise. */
export function failedOn(nodes: readonly GateNode[], running: GateSegment): GateSegment | null {
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
export function degradedOn(nodes: readonly GateNode[], running: GateSegment): GateSegment | null {
  const degraded = nodes.filter((node) => node.degraded !== null && !isSilent(node));
  const first = degraded[0];
  if (!first) return null;
  const names = degraded.map(({ nodeName }) => nodeName).slice(0, MAX_NAMES);
  const detail = first.degraded?.split('\n')[0]?.slice(0, 200);
  return { ...running, state: 'held', reason: `Degraded on ${names.join(', ')}: ${detail}` };
}

/** A node that drains its previous version is in progress, which is no fault. */
export function drainingText(nodes: readonly GateNode[]): string {
  const draining = nodes.filter((node) => node.draining !== null && !isSilent(node));
  const first = draining[0];
  if (!first?.draining) return '';
  const names = draining.map(({ nodeName }) => nodeName).slice(0, MAX_NAMES);
  const { undeliveredEvents, secondsLeft } = first.draining;
  const events = undeliveredEvents === null ? '' : `${plural(undeliveredEvents, 'event')} left, `;
  return `; draining on ${names.join(', ')} (${events}at most ${Math.round(secondsLeft)} s)`;
}
