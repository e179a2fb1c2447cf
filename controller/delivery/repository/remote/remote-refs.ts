/** The commits of refs on a remote, without a download. */
import { headsOf } from '../embedded-handle.ts';
import { explainRun } from './explain-run.ts';
import type { MirrorRun } from './mirror.ts';
import type { Remote } from './remote.ts';
import { runRemote } from './remote-run.ts';
import { webRefs } from './web-refs.ts';

/** For one request. ssh takes longer to report that nobody answers. */
const DEADLINES_MS = { http: 20_000, https: 20_000, ssh: 30_000 };

/** Ids by full name, for those of `names` that exist. @throws RepositoryError */
export async function remoteRefs(
  remote: Remote,
  names: readonly string[],
  run: MirrorRun,
): Promise<ReadonlyMap<string, string>> {
  const { transport } = remote.address;
  const deadlineMs = Math.min(DEADLINES_MS[transport], run.deadlineMs);
  if (transport !== 'ssh') return webRefs(remote, names, run.signal, deadlineMs);
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

/** The ids of any number of branches, by one request. @throws RepositoryError */
export async function remoteHeads(
  remote: Remote,
  branches: readonly string[],
  run: MirrorRun,
): Promise<ReadonlyMap<string, string>> {
  if (branches.length === 0) return new Map();
  const deadlineMs = Math.min(DEADLINES_MS[remote.address.transport], run.deadlineMs);
  const names = branches.map((branch) => `refs/heads/${branch}`);
  const end = await runRemote(remote, ['ls-remote', '--', remote.address.url, ...names], {
    ...run,
    deadlineMs,
  });
  if (end.code !== 0) throw explainRun(remote, end, deadlineMs);
  return headsOf(end.stdout, '\t', branches);
}
