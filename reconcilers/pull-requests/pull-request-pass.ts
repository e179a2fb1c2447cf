/** One pass over the pull requests of one environment: look at the forge, check what changed, tell it. */
import { type Binding, intervalOf } from '../../controller/delivery/bindings/index.ts';
import {
  listPullRequests,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../controller/delivery/pull-requests/index.ts';
import {
  type KeyedMutex,
  RepositoryError,
  type RepositoryHandle,
} from '../../controller/delivery/repository/index.ts';
import type { Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Clock } from '../engine/clock.ts';
import { type Forge, ForgeError, ForgeReply, type MergeGroup } from '../forges/forge.ts';
import { type Forges, titleOf } from '../forges/index.ts';
import { endWarning } from '../forges/token-expiry.ts';
import type { Copies } from '../git/read/copies.ts';
import type { Planner } from '../plan-view/index.ts';
import { GitRepositoryError, type Repository, resolveRef, type SourceCache } from '../source/index.ts';
import { type Checked, type Checking, checksOf, type Faults, makeChecks } from './check/checks.ts';
import { checkMergeGroups } from './check/merge-groups.ts';
import { type PublishOptions, publishChecks, publishPending } from './check/publish-checks.ts';
import { deleteEndedBranches } from './mirror/ended-branches.ts';
import type { ForgeErrors } from './mirror/forge-errors.ts';
import { mirrorForge } from './mirror/mirror-forge.ts';
import { createRefusedWrites, type RefusedWrites } from './mirror/refused-writes.ts';
import { boundTo, CHANGED_HERE, type Leading, type NextPass } from './pass-types.ts';

export interface PullRequestPassOptions {
  clock: Clock;
  services: Pick<Services, 'repositories'>;
  forges: Pick<Forges, 'of'>;
  planner: Pick<Planner, 'planOfCommit'>;
  copies: Copies;
  cache: SourceCache;
  troubles: ForgeErrors;
  /** Who asks one forge for one branch does so one after the other, so that an older answer is not taken for the newer. */
  turns: KeyedMutex;
}

const TOKEN_LOOK_MS = 24 * 3_600_000;
const MOST_OPEN = 500;
/** Between two questions to a forge. */
const LEAST_INTERVAL_MS = 30_000;
/** Of what is kept here: everything that changes it wakes the loop. */
const HERE_INTERVAL_MS = 60_000;

/** There is a forge, and no way to it. */
const TROUBLE = Symbol('trouble');

/** The last list of one forge and branch, which all environments of the repository share that go there by the same token. */
interface LastList {
  /** When it began, in monotonic milliseconds, and after which trigger. Null: there is none, or it failed. */
  began: { at: number; trigger: number } | null;
  /** The number after which it stopped asking about those that were not listed. */
  after: number;
  /** Entries that could not be read. */
  leftOut: string | null;
  /** Heads of the merge queue. */
  groups: readonly MergeGroup[];
}

interface Memory {
  /** Of which binding. */
  of: string;
  /** When the forge and the remote were asked last, in monotonic milliseconds. */
  askedAt: number | null;
  faults: Faults;
  /** What the forge did not take when it was told something last. */
  refused: string | null;
  /** Entries of the last list that could not be read. */
  leftOut: string | null;
  /** When the token ends, and when that was asked, in monotonic milliseconds. */
  tokenEnd: { at: Date | null; askedAt: number } | null;
  refusals: RefusedWrites;
  /** Heads of the merge queue, as they were listed last, and those that were told. */
  queue: readonly MergeGroup[];
  groups: Map<string, string>;
}

export function createPullRequestPass(options: PullRequestPassOptions) {
  const { clock, services, forges, planner, copies, cache, troubles, turns } = options;
  const memories = new Map<string, Memory>();
  const lists = new WeakMap<Forge, Map<string, LastList>>();

  function memoryOf({ environmentId, id, revision }: Binding): Memory {
    const of = `${id} ${revision}`;
    const known = memories.get(environmentId);
    if (known?.of === of) return known;
    // What was wrong with another configuration is not wrong with this one.
    if (known) troubles.forget(environmentId);
    const made: Memory = {
      of,
      askedAt: null,
      faults: new Map(),
      refused: null,
      leftOut: null,
      tokenEnd: null,
      refusals: createRefusedWrites(clock),
      queue: [],
      groups: new Map(),
    };
    memories.set(environmentId, made);
    return made;
  }

  const intervalMs = (binding: Binding): number =>
    binding.forge === 'none'
      ? HERE_INTERVAL_MS
      : Math.max(LEAST_INTERVAL_MS, intervalOf(binding.intervalSeconds, binding.manifestPolicy) * 1_000);

  /** Until the forge is to be asked again. */
  const dueInMs = (binding: Binding, { askedAt }: Memory): number =>
    askedAt === null ? 0 : Math.max(0, askedAt + intervalMs(binding) - clock.monotonic());

  const isWoken = ({ triggers }: Leading['pass']): boolean =>
    triggers.some((one) => one !== CHANGED_HERE && one !== 'timer');

  /** Something else than a page that is out of date has woken us, or it is time. */
  const asks = (binding: Binding, memory: Memory, pass: Leading['pass']): boolean =>
    isWoken(pass) || dueInMs(binding, memory) === 0;

  function lastListOf(forge: Forge, of: string): LastList {
    const ofForge = lists.get(forge) ?? new Map<string, LastList>();
    lists.set(forge, ofForge);
    const list = ofForge.get(of) ?? { began: null, after: 0, leftOut: null, groups: [] };
    ofForge.set(of, list);
    return list;
  }

  /** Whether what wakes this pass is answered by a list that another environment of the repository asked for. */
  function isAnswered({ began }: LastList, binding: Binding, pass: Leading['pass']): boolean {
    if (began === null) return false;
    return isWoken(pass) ? began.trigger >= pass.trigger : began.at + intervalMs(binding) > clock.monotonic();
  }

  async function mirror(binding: Binding, forge: Forge, memory: Memory, { ctx, pass }: Leading) {
    const { repository, base } = pullRequestsOf(binding);
    const of = JSON.stringify([repository, forge.name, base]);
    await pass.aside(() =>
      turns.take(of, async () => {
        pass.signal.throwIfAborted();
        const list = lastListOf(forge, of);
        if (!isAnswered(list, binding, pass)) {
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

  /** Null where nobody knows where the branch stands; the binding says why. */
  async function baseOf(
    binding: Binding,
    { handle, repository }: { handle: RepositoryHandle; repository: Repository },
    asking: boolean,
    { pass }: Leading,
  ): Promise<string | null> {
    const standing = () =>
      resolveRef(repository, binding.ref).catch((error: unknown) => {
        if (error instanceof GitRepositoryError) return null;
        throw error;
      });
    const known = asking && handle.kind === 'remote' ? null : await standing();
    if (known !== null || handle.kind !== 'remote') return known;
    await pass.aside(() => handle.fetch(pass.signal));
    return standing();
  }

  async function check(
    binding: Binding,
    pulls: readonly PullRequestRecord[],
    asking: boolean,
    telling: PublishOptions | null,
    leading: Leading,
  ): Promise<Checked | null> {
    const { ctx, pass } = leading;
    const { faults } = memoryOf(binding);
    try {
      const handle = services.repositories.of(binding);
      const repository = copies.of(binding.environmentId, handle.gitdir);
      const baseSha = await baseOf(binding, { handle, repository }, asking, leading);
      if (baseSha === null) return null;
      const checking: Checking = {
        ...{ ctx, binding, handle, repository, cache, planner, baseSha, faults },
        aside: pass.aside,
        forkRef: (pull) => telling?.forge.headRef(pull) ?? null,
        pending: telling && ((some) => publishPending(telling, some)),
      };
      return await makeChecks(checking, pulls);
    } catch (error) {
      // The pass of git tells it with the binding, and looks again by itself.
      if (!(error instanceof RepositoryError) || pass.signal.aborted) throw error;
      ctx.log.debug({ environment: binding.environmentName, reason: messageOf(error) }, 'no checks made');
      return null;
    }
  }

  async function run(environmentId: string, leading: Leading): Promise<NextPass> {
    const { ctx, pass, leads } = leading;
    const binding = await boundTo(ctx.db, environmentId);
    if (!binding) {
      forget(environmentId);
      return null;
    }
    const memory = memoryOf(binding);
    const mark = troubles.mark();
    const paused = troubles.pausedMs(environmentId) > 0;
    const asking = asks(binding, memory, pass);
    const found = paused ? null : await forgeOf(binding, leading);
    const forge = found === TROUBLE ? null : found;
    let well = found !== TROUBLE;
    const asked = async (work: (forge: Forge) => Promise<void>) => {
      if (forge === null || !well) return;
      try {
        await work(forge);
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        well = false;
        memory.askedAt = null;
        await troubles.failed(ctx, binding, error);
      }
    };
    if (asking && !paused) memory.askedAt = clock.monotonic();
    if (asking) {
      await asked((there) => mirror(binding, there, memory, leading));
      await asked((there) => lookAtToken(there, memory, leading));
    }
    if (well && !paused)
      await (forge
        ? asked((there) => pass.aside(() => deleteEndedBranches(ctx, binding, there)))
        : pass.aside(() => deleteEndedBranches(ctx, binding, null)));
    // What is written to git from here is not taken from there: nothing is planned.
    const pulls =
      binding.mode === 'push'
        ? []
        : await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open', limit: MOST_OPEN });
    const telling =
      forge && well ? { ctx, binding, forge, leads, aside: pass.aside, refusals: memory.refusals } : null;
    const checked = pulls.length > 0 ? await check(binding, pulls, asking, telling, leading) : null;
    let untold = false;
    if (telling && pulls.length > 0)
      await asked(async () => {
        const told = await publishChecks(telling, pulls, await checksOf(ctx, binding, pulls));
        untold = told.more;
        if (told.calls > 0 || told.refused !== null) memory.refused = told.refused;
      });
    if (asking && binding.mode !== 'push')
      await asked(async (there) => {
        // The rest of a long queue has its turn at once.
        if (await lookAtQueue(binding, there, memory, leading)) memory.askedAt = null;
      });
    const ending = forge && endWarning(titleOf(binding), memory.tokenEnd?.at ?? null, clock.now());
    const remark = [memory.refused, memory.leftOut, ending].filter((one) => one !== null).join('. ') || null;
    if (well && !paused) await troubles.went(ctx, binding, mark, remark);
    if (checked?.more || (untold && well)) return 0;
    return nextLook(binding, memory, checked);
  }

  /** Whether more of it is to be looked at. */
  async function lookAtQueue(
    binding: Binding,
    forge: Forge,
    { queue: groups, groups: told }: Memory,
    { ctx, pass, leads }: Leading,
  ): Promise<boolean> {
    if (!forge.mergeGroups) return false;
    const handle = services.repositories.of(binding);
    const checking = { ctx, binding, forge, handle, planner, groups, told, leads, aside: pass.aside };
    return (await checkMergeGroups(checking)).more;
  }

  /** Once a day: what it does not say may be asked again then. */
  async function lookAtToken(forge: Forge, memory: Memory, { pass }: Leading): Promise<void> {
    const now = clock.monotonic();
    if (memory.tokenEnd !== null && now - memory.tokenEnd.askedAt < TOKEN_LOOK_MS) return;
    const at = await pass
      .aside(() => forge.tokenEnd())
      .catch((error: unknown) => {
        // It does not want to say.
        if (error instanceof ForgeReply) return null;
        throw error;
      });
    memory.tokenEnd = { at, askedAt: now };
  }

  async function forgeOf(binding: Binding, { ctx }: Leading): Promise<Forge | null | typeof TROUBLE> {
    try {
      return forges.of(binding);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      await troubles.failed(ctx, binding, error);
      return TROUBLE;
    }
  }

  /** The forge is asked at its time, however often something else wakes us until then. */
  function nextLook(binding: Binding, memory: Memory, checked: Checked | null): number {
    const pausedMs = troubles.pausedMs(binding.environmentId);
    const listMs = binding.forge === 'none' ? HERE_INTERVAL_MS : Math.max(pausedMs, dueInMs(binding, memory));
    return Math.max(1, Math.min(listMs, checked?.retryInMs ?? Number.POSITIVE_INFINITY));
  }

  function forget(environmentId: string): void {
    memories.delete(environmentId);
    troubles.forget(environmentId);
    void copies.forget(environmentId);
  }

  return { run, forget };
}
