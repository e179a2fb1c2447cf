/** One pass over the pull requests of one environment: mirrors the forge, checks what changed, publishes the checks. */
import { type Binding, intervalOf } from '../../controller/delivery/bindings/index.ts';
import {
  listPullRequests,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../controller/delivery/pull-requests/index.ts';
import { RepositoryError, type RepositoryHandle } from '../../controller/delivery/repository/index.ts';
import type { Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { KeyedMutex } from '../../controller/platform/runtime/keyed-mutex.ts';
import { type Forge, ForgeError, ForgeReply, type MergeGroup } from '../forges/forge.ts';
import { type Forges, titleOf } from '../forges/index.ts';
import { endWarning } from '../forges/token-expiry.ts';
import type { Copies } from '../git/read/copies.ts';
import type { Clock } from '../loops/clock.ts';
import type { Planner } from '../plan-view/index.ts';
import { GitRepositoryError, type Repository, resolveRef, type SourceCache } from '../source/index.ts';
import { type Checked, type Checking, checksOf, type Faults, makeChecks } from './check/checks.ts';
import { checkMergeGroups } from './check/merge-groups.ts';
import { type PublishOptions, publishChecks, publishPending } from './check/publish-checks.ts';
import { deleteEndedBranches } from './mirror/ended-branches.ts';
import type { ForgeErrors } from './mirror/forge-errors.ts';
import { mirrorForge } from './mirror/mirror-forge.ts';
import { createRefusedWrites, type RefusedWrites } from './mirror/refused-writes.ts';
import { CHANGED_HERE, findActiveBinding, type NextPass, type PassInput } from './pass-types.ts';

export interface PullRequestPassOptions {
  clock: Clock;
  services: Pick<Services, 'repositories'>;
  forges: Pick<Forges, 'of'>;
  planner: Pick<Planner, 'planOfCommit'>;
  copies: Copies;
  cache: SourceCache;
  forgeErrors: ForgeErrors;
  /** Lists of one forge and branch are read one after the other, so that an older answer never replaces a newer one. */
  mutex: KeyedMutex;
}

const TOKEN_CHECK_MS = 24 * 3_600_000;
const MAX_OPEN = 500;
/** Between two lists of one forge. */
const MIN_INTERVAL_MS = 30_000;
/** For Headgate's own pull requests: everything that changes them wakes the loop. */
const OWN_INTERVAL_MS = 60_000;

/** The binding names a forge that cannot be used. */
const UNUSABLE = Symbol('unusable');

/** The last list of one forge and branch, shared by all environments of the repository that use the same token. */
interface LastList {
  /** When it began, in monotonic milliseconds, and after which trigger. Null where there is none, or it failed. */
  began: { at: number; trigger: number } | null;
  /** The number of the last unlisted pull request that was read singly. */
  after: number;
  /** Reports the entries that could not be read. */
  leftOut: string | null;
  /** Heads of the merge queue. */
  groups: readonly MergeGroup[];
}

interface Memory {
  /** The binding and revision that the memory belongs to. */
  key: string;
  /** When the forge and the remote were read last, in monotonic milliseconds. */
  polledAt: number | null;
  faults: Faults;
  /** The last refusal of the forge to publish something. */
  refused: string | null;
  /** Reports the entries of the last list that could not be read. */
  leftOut: string | null;
  /** When the token expires, and when that was read, in monotonic milliseconds. */
  tokenEnd: { at: Date | null; checkedAt: number } | null;
  refusals: RefusedWrites;
  /** Heads of the merge queue in the last list. */
  queue: readonly MergeGroup[];
  /** The statuses published for heads of the merge queue, by head. */
  queueStatuses: Map<string, string>;
}

export function createPullRequestPass(options: PullRequestPassOptions) {
  const { clock, services, forges, planner, copies, cache, forgeErrors, mutex } = options;
  const memories = new Map<string, Memory>();
  const lists = new WeakMap<Forge, Map<string, LastList>>();

  function memoryOf({ environmentId, id, revision }: Binding): Memory {
    const key = `${id} ${revision}`;
    const known = memories.get(environmentId);
    if (known?.key === key) return known;
    // Errors of another configuration do not count for this one.
    if (known) forgeErrors.forget(environmentId);
    const created: Memory = {
      key,
      polledAt: null,
      faults: new Map(),
      refused: null,
      leftOut: null,
      tokenEnd: null,
      refusals: createRefusedWrites(clock),
      queue: [],
      queueStatuses: new Map(),
    };
    memories.set(environmentId, created);
    return created;
  }

  const intervalMs = (binding: Binding): number =>
    binding.forge === 'none'
      ? OWN_INTERVAL_MS
      : Math.max(MIN_INTERVAL_MS, intervalOf(binding.intervalSeconds, binding.manifestPolicy) * 1_000);

  /** Until the forge has to be read again. */
  const dueInMs = (binding: Binding, { polledAt }: Memory): number =>
    polledAt === null ? 0 : Math.max(0, polledAt + intervalMs(binding) - clock.monotonic());

  const isWoken = ({ triggers }: PassInput['pass']): boolean =>
    triggers.some((one) => one !== CHANGED_HERE && one !== 'timer');

  /** Whether the forge has to be read: its time has come, or the trigger is not just a change in Headgate's own database. */
  const isPollDue = (binding: Binding, memory: Memory, pass: PassInput['pass']): boolean =>
    isWoken(pass) || dueInMs(binding, memory) === 0;

  function lastListOf(forge: Forge, key: string): LastList {
    const ofForge = lists.get(forge) ?? new Map<string, LastList>();
    lists.set(forge, ofForge);
    const list = ofForge.get(key) ?? { began: null, after: 0, leftOut: null, groups: [] };
    ofForge.set(key, list);
    return list;
  }

  /** Whether a list that another environment of the repository has read is new enough for this pass. */
  function isCurrent({ began }: LastList, binding: Binding, pass: PassInput['pass']): boolean {
    if (began === null) return false;
    return isWoken(pass) ? began.trigger >= pass.trigger : began.at + intervalMs(binding) > clock.monotonic();
  }

  async function mirror(binding: Binding, forge: Forge, memory: Memory, { ctx, pass }: PassInput) {
    const { repository, base } = pullRequestsOf(binding);
    const key = JSON.stringify([repository, forge.name, base]);
    await pass.aside(() =>
      mutex.runExclusive(key, async () => {
        pass.signal.throwIfAborted();
        const list = lastListOf(forge, key);
        if (!isCurrent(list, binding, pass)) {
          const began = { at: clock.monotonic(), trigger: pass.newestTrigger() };
          list.began = null;
          const { after, leftOut } = await mirrorForge({ ctx, binding, forge, after: list.after });
          const groups = (await forge.mergeGroups?.(base)) ?? [];
          Object.assign(list, { began, after, leftOut, groups });
        }
        memory.leftOut = list.leftOut;
        memory.queue = list.groups;
      }),
    );
  }

  /** The head of the bound branch; null where it cannot be read, which the git pass reports with the binding. */
  async function baseOf(
    binding: Binding,
    { handle, repository }: { handle: RepositoryHandle; repository: Repository },
    isPolling: boolean,
    { pass }: PassInput,
  ): Promise<string | null> {
    const read = () =>
      resolveRef(repository, binding.ref).catch((error: unknown) => {
        if (error instanceof GitRepositoryError) return null;
        throw error;
      });
    const known = isPolling && handle.kind === 'remote' ? null : await read();
    if (known !== null || handle.kind !== 'remote') return known;
    await pass.aside(() => handle.fetch(pass.signal));
    return read();
  }

  async function check(
    binding: Binding,
    pulls: readonly PullRequestRecord[],
    isPolling: boolean,
    publishing: PublishOptions | null,
    input: PassInput,
  ): Promise<Checked | null> {
    const { ctx, pass } = input;
    const { faults } = memoryOf(binding);
    try {
      const handle = services.repositories.of(binding);
      const repository = copies.of(binding.environmentId, handle.gitdir);
      const baseSha = await baseOf(binding, { handle, repository }, isPolling, input);
      if (baseSha === null) return null;
      const checking: Checking = {
        ...{ ctx, binding, handle, repository, cache, planner, baseSha, faults },
        aside: pass.aside,
        forkRef: (pull) => publishing?.forge.headRef(pull) ?? null,
        pending: publishing && ((some) => publishPending(publishing, some)),
      };
      return await makeChecks(checking, pulls);
    } catch (error) {
      // The git pass reports it with the binding, and retries.
      if (!(error instanceof RepositoryError) || pass.signal.aborted) throw error;
      ctx.log.debug({ environment: binding.environmentName, reason: messageOf(error) }, 'no checks made');
      return null;
    }
  }

  async function run(environmentId: string, input: PassInput): Promise<NextPass> {
    const { ctx, pass } = input;
    const binding = await findActiveBinding(ctx.db, environmentId);
    if (!binding) {
      forget(environmentId);
      return null;
    }
    const memory = memoryOf(binding);
    const mark = forgeErrors.mark();
    const paused = forgeErrors.pausedMs(environmentId) > 0;
    const isPolling = isPollDue(binding, memory, pass);
    const found = paused ? null : await forgeOf(binding, input);
    const forge = found === UNUSABLE ? null : found;
    let isWorking = found !== UNUSABLE;
    /** Does nothing without a forge, or after its first error. */
    const withForge = async (work: (forge: Forge) => Promise<void>) => {
      if (forge === null || !isWorking) return;
      try {
        await work(forge);
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        isWorking = false;
        memory.polledAt = null;
        await forgeErrors.failed(ctx, binding, error);
      }
    };
    if (isPolling && !paused) memory.polledAt = clock.monotonic();
    if (isPolling) {
      await withForge((there) => mirror(binding, there, memory, input));
      await withForge((there) => checkToken(there, memory, input));
    }
    if (isWorking && !paused)
      await (forge
        ? withForge((there) => pass.aside(() => deleteEndedBranches(ctx, binding, there)))
        : pass.aside(() => deleteEndedBranches(ctx, binding, null)));
    // In mode push nothing is taken from git, so nothing is planned.
    const pulls =
      binding.mode === 'push'
        ? []
        : await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open', limit: MAX_OPEN });
    const publishing =
      forge && isWorking
        ? { ctx, binding, forge, leads: pass.leads, aside: pass.aside, refusals: memory.refusals }
        : null;
    const checked = pulls.length > 0 ? await check(binding, pulls, isPolling, publishing, input) : null;
    let isMoreToPublish = false;
    if (publishing && pulls.length > 0)
      await withForge(async () => {
        const published = await publishChecks(publishing, pulls, await checksOf(ctx, binding, pulls));
        isMoreToPublish = published.more;
        if (published.calls > 0 || published.refused !== null) memory.refused = published.refused;
      });
    if (isPolling && binding.mode !== 'push')
      await withForge(async (there) => {
        // The rest of a long queue is checked at once.
        if (await checkQueue(binding, there, memory, input)) memory.polledAt = null;
      });
    const expiry = forge && endWarning(titleOf(binding), memory.tokenEnd?.at ?? null, clock.now());
    const remark = [memory.refused, memory.leftOut, expiry].filter((one) => one !== null).join('. ') || null;
    if (isWorking && !paused) await forgeErrors.succeeded(ctx, binding, mark, remark);
    if (checked?.more || (isMoreToPublish && isWorking)) return 0;
    return nextPassInMs(binding, memory, checked);
  }

  /** Whether more of the queue has to be checked. */
  async function checkQueue(
    binding: Binding,
    forge: Forge,
    { queue: groups, queueStatuses: published }: Memory,
    { ctx, pass }: PassInput,
  ): Promise<boolean> {
    if (!forge.mergeGroups) return false;
    const handle = services.repositories.of(binding);
    const repository = copies.of(binding.environmentId, handle.gitdir);
    const checking = { ctx, binding, forge, handle, repository, planner, groups, published };
    const { leads, aside } = pass;
    return (await checkMergeGroups({ ...checking, leads, aside })).more;
  }

  /** Reads the token's expiry once a day. */
  async function checkToken(forge: Forge, memory: Memory, { pass }: PassInput): Promise<void> {
    const now = clock.monotonic();
    if (memory.tokenEnd !== null && now - memory.tokenEnd.checkedAt < TOKEN_CHECK_MS) return;
    const at = await pass
      .aside(() => forge.tokenEnd())
      .catch((error: unknown) => {
        // The forge does not disclose it.
        if (error instanceof ForgeReply) return null;
        throw error;
      });
    memory.tokenEnd = { at, checkedAt: now };
  }

  async function forgeOf(binding: Binding, { ctx }: PassInput): Promise<Forge | null | typeof UNUSABLE> {
    try {
      return forges.of(binding);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      await forgeErrors.failed(ctx, binding, error);
      return UNUSABLE;
    }
  }

  /** The forge is read at its interval, however often other triggers come in between. */
  function nextPassInMs(binding: Binding, memory: Memory, checked: Checked | null): number {
    const pausedMs = forgeErrors.pausedMs(binding.environmentId);
    const listMs = binding.forge === 'none' ? OWN_INTERVAL_MS : Math.max(pausedMs, dueInMs(binding, memory));
    return Math.max(1, Math.min(listMs, checked?.retryInMs ?? Number.POSITIVE_INFINITY));
  }

  function forget(environmentId: string): void {
    memories.delete(environmentId);
    forgeErrors.forget(environmentId);
    void copies.forget(environmentId);
  }

  return { run, forget };
}
