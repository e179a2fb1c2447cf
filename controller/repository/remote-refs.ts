/** Where refs of a remote stand now, without a download. */
import { explainRun } from './explain.ts';
import type { MirrorRun } from './mirror.ts';
import type { Remote } from './remote.ts';
import { runRemote } from './remote-run.ts';
import { webRefs } from './web-refs.ts';

/** Of ssh; over HTTP(S) it is 20 seconds. */
const DEADLINE_MS = 30_000;

/** Ids by full name, of those of `names` that are there. @throws RepositoryError */
export async function remoteRefs(
  remote: Remote,
  names: readonly string[],
  run: MirrorRun,
): Promise<ReadonlyMap<string, string>> {
  if (remote.address.transport !== 'ssh') return webRefs(remote, names, run.signal);
  const deadlineMs = Math.min(DEADLINE_MS, run.deadlineMs);
  const end = await runRemote(remote, ['ls-remote', '--', remote.address.url, ...names], {
    ...run,
    deadlineMs,
  });
  if (end.code !== 0) throw explainRun(remote, end, deadlineMs);
  const found = [...end.stdout.matchAll(/^([0-9a-f]{40,64})\t(\S+)$/gm)];
  return new Map(
    found.flatMap(([, sha, name]) => (sha && name && names.includes(name) ? [[name, sha]] : [])),
  );
}
