/** The mirrors of remotes. Bindings with one address and the same credentials share one. */

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import type { TargetGuard } from '../../../platform/net/outgoing/index.ts';
import { NO_PROXIES, type ProxySettings } from '../../../platform/net/proxies.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { createKeyedMutex } from '../../../platform/runtime/keyed-mutex.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import { deleteRef, swapRef } from '../embedded-handle.ts';
import type { BoundRepository, RefUpdate, RepositoryHandle } from '../handle.ts';
import { createSharedRuns } from '../process/shared-runs.ts';
import { createSlots } from '../process/slots.ts';
import { RepositoryError } from '../repository-error.ts';
import { explainRun } from './explain-run.ts';
import type { AppTokenSource } from './github-app.ts';
import {
  dropRef,
  ensureMirror,
  fetchMeeting,
  fetchPaths,
  fetchRef,
  holdsCommit,
  type MirrorRun,
  mirrorRef,
  removeLeftovers,
  repack,
} from './mirror.ts';
import { openRemote, type Remote } from './remote.ts';
import { remoteHeads, remoteRefs } from './remote-refs.ts';
import { runRemote } from './remote-run.ts';

export interface MirrorsOptions {
  /** Holds all mirrors. */
  folder: string;
  keyring: Keyring;
  guard: TargetGuard;
  log: Logger;
  proxies?: ProxySettings;
  appToken?: AppTokenSource;
  deadlineMs?: number;
}

const DEADLINE_MS = 4 * 60_000;
/** Concurrent downloads; one that takes longer than `LONG_MS` frees its slot for others. */
const DOWNLOADS = 8;
const LONG_MS = 10_000;
/** An unused mirror stays this long: another replica may just be creating it. */
const UNUSED_MS = 60 * 60_000;
const MAX_PATHS = 1_000;

export interface Mirrors {
  of(binding: BoundRepository): RepositoryHandle;
  sweep(bindings: readonly BoundRepository[]): Promise<void>;
}

export function createMirrors(options: MirrorsOptions): Mirrors {
  const { folder, keyring, guard, proxies = NO_PROXIES } = options;
  const runs = join(folder, 'runs');
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const mutex = createKeyedMutex();
  const slots = createSlots(DOWNLOADS, LONG_MS);
  const shared = createSharedRuns<{ moved: boolean }>();
  /** Folders of damaged mirrors, which the next fetch replaces. */
  const distrusted = new Set<string>();
  /** By folder: how long the server asked us to wait, in monotonic milliseconds, and its answer. */
  const pauses = new Map<string, { until: number; error: RepositoryError }>();
  /** Heads and anchors whose path was searched. */
  const searched = new Set<string>();
  /** By the columns of a binding: deriving the key of its credentials takes 10 ms. */
  const opened = new Map<string, Remote>();

  const openedAs = ({
    id,
    repositoryUrl,
    sealedCredentials,
    knownHosts,
    caCertificate,
  }: BoundRepository): string =>
    JSON.stringify([id, repositoryUrl, sealedCredentials, knownHosts, caCertificate]);

  function remoteOf(binding: BoundRepository): Remote {
    const key = openedAs(binding);
    const known = opened.get(key);
    if (known) return known;
    const remote = openRemote({ keyring, guard, proxies, appToken: options.appToken }, binding);
    if (opened.size >= MAX_PATHS) opened.clear();
    opened.set(key, remote);
    return remote;
  }

  /** Forgets the credentials, and the notes about mirrors, that no binding has any more. */
  function forgetOthers(bindings: readonly BoundRepository[], gitdirs: ReadonlySet<string>): void {
    const keys = new Set(bindings.map(openedAs));
    for (const key of opened.keys()) if (!keys.has(key)) opened.delete(key);
    for (const noted of [distrusted, pauses])
      for (const gitdir of noted.keys()) if (!gitdirs.has(gitdir)) noted.delete(gitdir);
  }

  const gitdirOf = (remote: Remote) => join(folder, `${remote.key}.git`);

  async function fetchInto(
    remote: Remote,
    gitdir: string,
    ref: string,
    anchors: readonly string[],
    signal: AbortSignal,
  ): Promise<{ moved: boolean }> {
    const run: MirrorRun = { gitdir, runs, signal, deadlineMs };
    const pause = pauses.get(gitdir);
    if (pause && performance.now() < pause.until) throw pause.error;
    pauses.delete(gitdir);
    const isCommit = /^[0-9a-f]{40}$/.test(ref);
    if (isCommit) return mutex.runExclusive(gitdir, () => fetchCommit(remote, run, ref));
    const names = fullNames(ref);
    let remoteIds: ReadonlyMap<string, string>;
    try {
      remoteIds = await remoteRefs(remote, names, run);
    } catch (error) {
      if (error instanceof RepositoryError && error.fault === 'asked-to-wait')
        pauses.set(gitdir, { until: performance.now() + (error.retryAfterMs ?? 0), error });
      throw error;
    }
    const name = names.find((name) => remoteIds.has(name)) ?? null;
    const head = name === null ? null : (remoteIds.get(name) ?? null);
    return mutex.runExclusive(gitdir, async () => {
      if (distrusted.delete(gitdir)) await rm(gitdir, { recursive: true, force: true });
      await ensureMirror(remote, run);
      let moved = false;
      for (const other of names.filter((entry) => entry !== name)) {
        if ((await mirrorRef(gitdir, other)) === null) continue;
        await dropRef(run, other);
        moved = true;
      }
      if (name === null || head === null) return { moved };
      if ((await mirrorRef(gitdir, name)) !== head) {
        await slots.use(() => fetchRef(remote, run, name), signal);
        moved = true;
      }
      await fetchMissingPaths(remote, run, name, anchors);
      if (moved) await repack(run);
      return { moved };
    });
  }

  /** Searches once for each head and anchor: the result does not change. */
  async function fetchMissingPaths(
    remote: Remote,
    run: MirrorRun,
    name: string,
    anchors: readonly string[],
  ): Promise<void> {
    const head = await mirrorRef(run.gitdir, name);
    if (head === null) return;
    const keys = anchors.map((anchor) => `${run.gitdir} ${head} ${anchor}`);
    if (keys.every((key) => searched.has(key))) return;
    await slots.use(() => fetchPaths(remote, run, name, head, anchors), run.signal);
    if (searched.size >= MAX_PATHS) searched.clear();
    for (const key of keys) searched.add(key);
  }

  async function fetchCommit(remote: Remote, run: MirrorRun, sha: string): Promise<{ moved: boolean }> {
    await ensureMirror(remote, run);
    if (await holdsCommit(run, sha)) return { moved: false };
    await slots.use(() => fetchRef(remote, run, sha, `refs/headgate/at/${sha}`), run.signal);
    return { moved: true };
  }

  /** A damaged mirror is replaced once. */
  async function fetchWhole(...args: Parameters<typeof fetchInto>): Promise<{ moved: boolean }> {
    const [remote, gitdir] = args;
    try {
      return await fetchInto(...args);
    } catch (error) {
      await removeLeftovers(gitdir);
      if (!(error instanceof RepositoryError) || error.fault !== 'copy') throw error;
      options.log.warn(
        { host: remote.address.host, reason: error.message },
        'the mirror of a repository is damaged and is fetched again',
      );
      distrusted.add(gitdir);
      await fetchInto(...args);
      return { moved: true };
    }
  }

  /** Fetches both branches, and the commits between them. */
  async function meet(
    remote: Remote,
    gitdir: string,
    { base, head }: { base: string; head: string },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const run: MirrorRun = { gitdir, runs, signal, deadlineMs };
    const remoteIds = await remoteHeads(remote, [base, head], run);
    return mutex.runExclusive(gitdir, async () => {
      await ensureMirror(remote, run);
      for (const [branch, sha] of remoteIds) {
        const ref = `refs/heads/${branch}`;
        const here = await mirrorRef(gitdir, ref);
        if (here === sha) continue;
        // Fetching a known commit again, one commit deep, would cut the history that leads through it.
        if (await holdsCommit(run, sha)) await swapRef(gitdir, { ref, sha, expect: here }, signal);
        else await slots.use(() => fetchRef(remote, run, ref), signal);
      }
      const refs = { base: `refs/heads/${base}`, head: `refs/heads/${head}` };
      const both = await Promise.all([mirrorRef(gitdir, refs.base), mirrorRef(gitdir, refs.head)]);
      if (!both.includes(null) && remoteIds.has(base))
        await slots.use(() => fetchMeeting(remote, run, refs, remoteIds.has(head)), signal);
      return remoteIds;
    });
  }

  /** `sha` is null for a branch that is to be deleted. */
  async function push(
    remote: Remote,
    gitdir: string,
    update: Omit<RefUpdate, 'sha'> & { sha: string | null },
    signal: AbortSignal,
  ) {
    const { ref, sha, expect } = update;
    const run: MirrorRun = { gitdir, runs, signal, deadlineMs };
    return mutex.runExclusive(gitdir, async () => {
      const lease = `--force-with-lease=${ref}:${expect ?? ''}`;
      const args = [
        'push',
        '--porcelain',
        '--no-verify',
        '--no-follow-tags',
        lease,
        '--',
        'origin',
        `${sha ?? ''}:${ref}`,
      ];
      const end = await runRemote(remote, args, run);
      if (end.code === 0) {
        const before = await mirrorRef(gitdir, ref);
        if (sha !== null) await swapRef(gitdir, { ref, sha, expect: before }, signal);
        else if (before !== null) await deleteRef(gitdir, { ref, expect: before }, signal);
        return 'ok' as const;
      }
      const status = /^!\t[^\t]*\t(.*)$/m.exec(end.stdout)?.[1] ?? '';
      if (RACED.test(status)) return 'rejected' as const;
      if (status === '') throw explainRun(remote, end, deadlineMs);
      const why = remote
        .redact(status)
        .replaceAll(/[\0-\x1f\x7f]/g, ' ')
        .slice(0, 300);
      throw new RepositoryError(
        'refused',
        `${remote.address.host} refuses the change of ${ref}: ${why}; give the credentials write access, or check the rules that protect the branch`,
      );
    });
  }

  return {
    of(binding) {
      let remote: Remote;
      try {
        remote = remoteOf(binding);
      } catch (error) {
        return closedHandle(join(folder, 'closed.git'), error);
      }
      const gitdir = gitdirOf(remote);
      const anchors = [binding.appliedCommit?.sha, binding.headCommit?.sha].filter(
        (sha) => sha !== undefined,
      );
      return {
        gitdir,
        kind: 'remote',
        fetch: (signal, ref = binding.ref) =>
          shared.join(
            JSON.stringify([gitdir, ref, anchors]),
            (own) => fetchWhole(remote, gitdir, ref, anchors, own),
            signal,
          ),
        push: (update, signal) => push(remote, gitdir, update, signal),
        remove: (branch, signal) => push(remote, gitdir, { ...branch, sha: null }, signal),
        heads: (branches, signal) => remoteHeads(remote, branches, { gitdir, runs, signal, deadlineMs }),
        meet: (branches, signal) => meet(remote, gitdir, branches, signal),
        serialize: (branch, write) => mutex.runExclusive(`${gitdir}\0${branch}`, write),
        redirectedTo: () => (remote.endpoint === remote.address.url ? null : remote.endpoint),
        distrust: () => void distrusted.add(gitdir),
      };
    },
    async sweep(bindings) {
      const used = new Set<string>();
      for (const binding of bindings) {
        try {
          used.add(`${remoteOf(binding).key}.git`);
        } catch {
          // While its credentials cannot be opened, nobody knows which mirror it uses: nothing is deleted.
          return;
        }
      }
      forgetOthers(bindings, new Set([...used].map((name) => join(folder, name))));
      for (const parent of [folder, runs]) {
        for (const name of await readdir(parent).catch(() => [])) {
          if (used.has(name) || name === 'runs') continue;
          const path = join(parent, name);
          const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
          if (Date.now() - mtimeMs > UNUSED_MS)
            await mutex.runExclusive(path, () => rm(path, { recursive: true, force: true }));
        }
      }
    },
  };
}

const RACED =
  /stale info|fetch first|non-fast-forward|already exists|failed to update ref|cannot lock ref|incorrect old value|reference already exists|but expected/;

/** A branch takes precedence over a tag of the same name. */
function fullNames(ref: string): string[] {
  if (/^refs\/(?:heads|tags)\//.test(ref)) return [ref];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

function closedHandle(gitdir: string, error: unknown): RepositoryHandle {
  const fail = async (): Promise<never> => {
    if (error instanceof RepositoryError) throw error;
    throw new RepositoryError(
      'credentials',
      `the credentials of the binding cannot be opened (${messageOf(error)}); set them again`,
    );
  };
  return {
    ...{ gitdir, kind: 'remote', fetch: fail, push: fail, remove: fail, heads: fail, meet: fail },
    serialize: fail,
    redirectedTo: () => null,
    distrust: () => {},
  };
}
