/** A plan that somebody asks for: of the branch as it stands, of another ref, of files at hand. Nothing is applied or recorded. */
import { type Binding, findApproval } from '../../controller/delivery/bindings/index.ts';
import { createKeyedMutex, RepositoryError } from '../../controller/delivery/repository/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import {
  badRequest,
  DomainError,
  preconditionFailed,
  unavailable,
} from '../../controller/platform/operation/errors.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import type { GitPlan, PlanFile, PlanGit } from '../../schemas/api/git-plan.ts';
import { type ComputeOptions, computePlan, SourceProblem } from '../git/plan/compute-plan.ts';
import {
  createScratch,
  createSourceCache,
  GitRepositoryError,
  isRefName,
  openRepository,
  type Repository,
  readCommit,
  resolveRef,
  type SourceCache,
} from '../source/index.ts';
import { manifestsAt, readBefore } from './base-state.ts';
import { viewOf } from './plan-document.ts';
import { policyChanges } from './policy-changes.ts';

export type PlanRequest = Pick<PlanGit, 'ref' | 'files'>;
export interface Planner {
  plan(ctx: Context, binding: Binding, asked: PlanRequest): Promise<GitPlan>;
  /**
   * Of a commit that the copy at hand holds, maybe on no branch, as the merge of a pull request: nothing is fetched. It takes
   * no turn of those that people wait for; whoever asks sees to it that few are made at once.
   */
  planOfCommit(ctx: Context, binding: Binding, commit: string): Promise<GitPlan>;
}

const MOST_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 30_000;
/** Parsed files that are kept for the next plan. */
const FILES_KEPT = 5_000;
/** Of one environment they come one after the other; whoever comes when so many wait is told to come later. */
const MOST_WAITING = 4;

export function createPlanner(options: { deadlineMs?: number } = {}): Planner {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const cache = createSourceCache({ maxFiles: FILES_KEPT, maxScopes: 20 });
  // What one merge looks like says much of the next.
  const merges = withScopesOfItsOwn(cache, 20);
  const turns = createKeyedMutex();
  const waiting = new Map<string, number>();

  async function inTurn<T>(environmentId: string, work: () => Promise<T>): Promise<T> {
    const ahead = waiting.get(environmentId) ?? 0;
    if (ahead >= MOST_WAITING)
      throw new DomainError(
        'TOO_MANY_REQUESTS',
        'Several plans of this environment are under way; try again in a moment',
      );
    waiting.set(environmentId, ahead + 1);
    try {
      return await turns.take(environmentId, work);
    } finally {
      const left = (waiting.get(environmentId) ?? 1) - 1;
      if (left > 0) waiting.set(environmentId, left);
      else waiting.delete(environmentId);
    }
  }

  /** @throws UNAVAILABLE where it takes too long, PRECONDITION_FAILED where git cannot be read. */
  async function bounded<T>(ctx: Context, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const signal = AbortSignal.any([ctx.signal, deadline]);
    try {
      return await unlessAborted(signal, () => work(signal));
    } catch (error) {
      throw deadline.aborted && !ctx.signal.aborted ? late(deadlineMs) : explained(error);
    }
  }

  return {
    async plan(ctx, binding, asked) {
      if (asked.ref !== undefined && asked.files !== undefined)
        throw badRequest('Give either a ref or files, not both');
      if (asked.ref !== undefined && !isRefName(asked.ref)) throw unknownRef(asked.ref);
      const files = asked.files === undefined ? null : soundFiles(asked.files);
      return bounded(ctx, (signal) =>
        inTurn(binding.environmentId, async () => {
          signal.throwIfAborted();
          const handle = ctx.services.repositories.of(binding);
          // What is planned is what the remote has now, not what was fetched last.
          if (handle.kind === 'remote' && files === null) await handle.fetch(signal, asked.ref);
          const repository = openRepository(handle.gitdir);
          const options = { ctx: { ...ctx, signal }, binding, repository, cache, signal };
          try {
            return files === null
              ? await ofRepository(options, asked.ref ?? null)
              : await ofFiles(options, files);
          } finally {
            await repository.close();
          }
        }),
      );
    },
    planOfCommit: (ctx, binding, commit) =>
      bounded(ctx, async (signal) => {
        const repository = openRepository(ctx.services.repositories.of(binding).gitdir);
        const options = { ctx: { ...ctx, signal }, binding, repository, cache: merges, signal };
        try {
          return await view(options, repository, { ref: null, ofRepository: false, commit });
        } finally {
          await repository.close();
        }
      }),
  };
}

/** Reading cannot be broken off everywhere; whoever asks need not wait for its end. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const late = (ms: number) =>
  unavailable(
    `The plan took longer than ${ms / 1_000} s and was given up; plan fewer manifests at once, or look at the next pass`,
  );

/** What whoever asks can mend says so; anything else is a fault of ours. */
function explained(error: unknown): unknown {
  if (error instanceof SourceProblem) return preconditionFailed(error.message);
  if (error instanceof GitRepositoryError) return preconditionFailed(`${error.message}; ${error.advice}`);
  if (error instanceof RepositoryError) return preconditionFailed(toUserRetryMessage(error.message));
  return error;
}

async function ofRepository(options: ComputeOptions, ref: string | null): Promise<GitPlan> {
  const { binding, repository } = options;
  const commit = ref === null ? null : await commitOf(repository, ref);
  return view(options, repository, {
    ref: ref ?? binding.ref,
    ofRepository: true,
    ...(commit === null ? {} : { commit }),
  });
}

/** A branch, a tag, or the id of a commit or its beginning. */
async function commitOf(repository: Repository, ref: string): Promise<string> {
  const found = await resolveRef(repository, ref);
  if (found !== null) return found;
  if (/^[0-9a-f]{7,64}$/.test(ref)) {
    const object = await repository.objects.use((reader) => reader.read(`${ref}^{commit}`, 1024 * 1024));
    if (object?.type === 'commit') return (await readCommit(repository, object.oid)).sha;
  }
  throw unknownRef(ref);
}

const unknownRef = (ref: string) =>
  badRequest(`The repository has no branch, tag or commit "${ref.slice(0, 100)}"`);

async function ofFiles(options: ComputeOptions, files: readonly PlanFile[]): Promise<GitPlan> {
  const scratch = await createScratch(
    files.map(({ path, text, link }) => ({ path, content: text, link: link ?? false })),
    { signal: options.signal },
  );
  try {
    return await view(
      // What is known of a repository that is gone in a moment is kept nowhere.
      {
        ...options,
        repository: scratch.repository,
        cache: withScopesOfItsOwn(options.cache),
        descends: true,
      },
      options.repository,
      { ref: null, ofRepository: false, commit: scratch.commit },
    );
  } finally {
    await scratch.remove();
  }
}

function withScopesOfItsOwn(cache: SourceCache, maxScopes = 1): SourceCache {
  const { scopes, turns } = createSourceCache({ maxScopes });
  return { ...cache, scopes, turns };
}

async function view(
  options: ComputeOptions,
  home: Repository,
  what: { ref: string | null; ofRepository: boolean; commit?: string },
): Promise<GitPlan> {
  const { ctx, binding, cache } = options;
  const computed = await computePlan({
    ...options,
    ...(what.commit === undefined ? {} : { commit: what.commit }),
  });
  ctx.signal.throwIfAborted();
  return viewOf({
    ctx,
    binding,
    computed,
    ref: what.ref,
    ofRepository: what.ofRepository,
    before: (changes) => readBefore({ ctx, binding, repository: home, cache }, computed.looked, changes),
    policies: await policyChanges(binding, computed, (commit) => manifestsAt(home, commit, binding, cache)),
    approvalOf: (hash) => findApproval(ctx.db, binding.id, hash),
  });
}

/** @throws BAD_REQUEST for paths that no repository can hold; PAYLOAD_TOO_LARGE. */
function soundFiles(files: readonly PlanFile[]): readonly PlanFile[] {
  const paths = new Set<string>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, text } of files) {
    bytes += Buffer.byteLength(text);
    const segments = path.split('/');
    const strange = segments.some(
      (one) => one === '' || one === '.' || one === '..' || one.toLowerCase() === '.git',
    );
    if (strange || path.includes('\0'))
      throw badRequest(
        `files: "${path.slice(0, 200)}" is no path from the root of a repository; leave out /, ., .. and .git`,
      );
    if (paths.has(path)) throw badRequest(`files: "${path.slice(0, 200)}" stands there twice`);
    paths.add(path);
    for (let count = 1; count < segments.length; count += 1) folders.add(segments.slice(0, count).join('/'));
  }
  if (bytes > MOST_BYTES)
    throw new DomainError(
      'PAYLOAD_TOO_LARGE',
      `The files are larger than ${MOST_BYTES} bytes together; push them to a branch and plan that`,
    );
  const both = [...paths].find((path) => folders.has(path));
  if (both !== undefined) throw badRequest(`files: "${both.slice(0, 200)}" is both a file and a folder`);
  return files;
}
