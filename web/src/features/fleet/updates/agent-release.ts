/** Which file of a release a node needs. */
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { AgentRelease, ReleaseFile, Versions } from '../../../../../schemas/api/fleet/releases.ts';

export type Libc = ReleaseFile['libc'];

export const LIBCS: readonly { value: Libc; word: string }[] = [
  { value: 'glibc', word: 'glibc: Debian, Ubuntu, RHEL and most others' },
  { value: 'musl', word: 'musl: Alpine and alike' },
];

export const releaseFor = (versions: Versions, { channel }: NodeSummary): AgentRelease | null =>
  channel === 'dev' ? versions.devAgent : versions.agent;

/** By what the agent says it runs on, `linux/x64`; it does not say which C library. */
export function fileFor(release: AgentRelease, { os }: NodeSummary, libc: Libc): ReleaseFile | undefined {
  const [system, arch] = (os ?? '').toLowerCase().split('/');
  return release.files.find((file) => file.os === system && file.arch === arch && file.libc === libc);
}

const bare = (version: string): string => version.replace(/^v/, '');

export const isSameVersion = (a: string | null, b: string): boolean => a !== null && bare(a) === bare(b);

/** `linux/x64`, as the agent says it. */
export const systemOf = ({ os }: NodeSummary): string => os ?? 'a system that is not known';

/** Why a node is left out of any update; null where it is not. The controller refuses the rest. */
export function whyNever(node: NodeSummary): string | null {
  if (node.deploymentMode === 'DOCKER') return 'runs in a container: pull a new image instead';
  if (node.enrolledAt === null) return 'has not enrolled yet';
  if (node.revoked) return 'was revoked';
  return null;
}

/** Why a node is left out of an update to the newest release; null where it is not. */
export function whyNotUpdated(node: NodeSummary, versions: Versions, libc: Libc): string | null {
  const never = whyNever(node);
  if (never) return never;
  const release = releaseFor(versions, node);
  if (!release) return `no agent of the channel ${node.channel} is served here`;
  if (isSameVersion(node.agentVersion, release.version)) return `has ${release.version} already`;
  if (!fileFor(release, node, libc))
    return `${release.version} has no file for ${node.os ?? 'its system'}, ${libc}`;
  return null;
}

/** Why a node is left out of an update to a file of that version, which may be empty yet, for that system. */
export function whyNotByFile(node: NodeSummary, version: string, system: string): string | null {
  const never = whyNever(node);
  if (never) return never;
  if (system && systemOf(node) !== system) return `runs on ${systemOf(node)}`;
  if (!version) return null;
  if (isSameVersion(node.agentVersion, version)) return `has ${version} already`;
  const channel = version.startsWith('dev-') ? 'dev' : 'stable';
  return node.channel === channel ? null : `follows the channel ${node.channel}`;
}
