/** Makes plans on request: of the bound branch, of another ref, or of given files. Nothing is applied or recorded. */
import { type Binding, findApproval } from '../../controller/delivery/bindings/index.ts';
import { RepositoryError } from '../../controller/delivery/repository/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import {
  badRequest,
  DomainError,
  preconditionFailed,
  unavailable,
} from '../../controller/platform/operation/errors.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import { createKeyedMutex } from '../../controller/platform/runtime/keyed-mutex.ts';
import type { GitPlan, PlanFile, PlanGit } from '../../schemas/api/delivery/git-plan.ts';
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
import { unlessAborted } from './unless-aborted.ts';

export type PlanRequest = Pick<PlanGit, 'ref' | 'files'>;
export interface PlannedCommit {
  repository: Repository;
  commit: string;
}

export interface Planner {
  plan(ctx: Context, binding: Binding, request: PlanRequest): Promise<GitPlan>;
  /**
   * Plans a commit of the binding's repository, maybe on no branch (the merge of a pull request). Nothing is fetched, and it does
   * not queue with the plans that users wait for: the caller limits how many run at once. The caller's reader is used, since
   * another one would start a git process for each plan.
   */
  planOfCommit(ctx: Context, binding: Binding, source: PlannedCommit): Promise<GitPlan>;
}

const MAX_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 30_000;
/** Parsed files that are cached for the next plan. */
const CACHED_FILES = 5_000;
/** Plans of one environment run one after the other; further requests are refused while this many wait. */
const MAX_WAITING = 4;

/** How long what alert rules would have done is looked for. */
const PREVIEW_MS = 5_000;

export interface PlannerOptions {
  deadlineMs?: number;
  previewMs?: number;
}

type ViewedOptions = ComputeOptions & { previewMs: number };

export function createPlanner({
  deadlineMs = DEADLINE_MS,
  previewMs = PREVIEW_MS,
}: PlannerOptions = {}): Planner {
  const cache = createSourceCache({ maxFiles: CACHED_FILES, maxScopes: 20 });
  // Merges share parsed files with each other, but must not replace the scopes of branches.
  const merges = withOwnScopes(cache, 20);
  const mutex = createKeyedMutex();
  const waiting = new Map<string, number>();

  async function queued<T>(environmentId: string, work: () => Promise<T>): Promise<T> {
    const ahead = waiting.get(environmentId) ?? 0;
    if (ahead >= MAX_WAITING)
      throw new DomainError(
        'TOO_MANY_REQUESTS',
        'Several plans of this environment are under way; try again in a moment',
      );
    waiting.set(environmentId, ahead + 1);
    try {
      return await mutex.runExclusive(environmentId, work);
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
      throw deadline.aborted && !ctx.signal.aborted ? tookTooLong(deadlineMs) : toRequestError(error);
    }
  }

  return {
    async plan(ctx, binding, request) {
      if (request.ref !== undefined && request.files !== undefined)
        throw badRequest('Give either a ref or files, not both');
      if (request.ref !== undefined && !isRefName(request.ref)) throw unknownRef(request.ref);
      const files = request.files === undefined ? null : validFiles(request.files);
      return bounded(ctx, (signal) =>
        queued(binding.environmentId, async () => {
          signal.throwIfAborted();
          const handle = ctx.services.repositories.of(binding);
          // The plan is of what the remote holds now, not of what was fetched last.
          if (handle.kind === 'remote' && files === null) await handle.fetch(signal, request.ref);
          const repository = openRepository(handle.gitdir);
          const options = { ctx: { ...ctx, signal }, binding, repository, cache, signal, previewMs };
          try {
            return files === null
              ? await ofRepository(options, request.ref ?? null)
              : await ofFiles(options, files);
          } finally {
            await repository.close();
          }
        }),
      );
    },
    planOfCommit: (ctx, binding, { repository, commit }) =>
      bounded(ctx, (signal) => {
        const options = { ctx: { ...ctx, signal }, binding, repository, cache: merges, signal, previewMs };
        return view(options, repository, { ref: null, ofRepository: false, commit });
      }),
  };
}

const tookTooLong = (ms: number) =>
  unavailable(
    `The plan took longer than ${ms / 1_000} s and was given up; plan fewer manifests at once, or see the next pass`,
  );

/** Faults of the repository become PRECONDITION_FAILED; others stay as they are. */
function toRequestError(error: unknown): unknown {
  if (error instanceof SourceProblem) return preconditionFailed(error.message);
  if (error instanceof GitRepositoryError) return preconditionFailed(`${error.message}; ${error.advice}`);
  if (error instanceof RepositoryError) return preconditionFailed(toUserRetryMessage(error.message));
  return error;
}

async function ofRepository(options: ViewedOptions, ref: string | null): Promise<GitPlan> {
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

async function ofFiles(options: ViewedOptions, files: readonly PlanFile[]): Promise<GitPlan> {
  const scratch = await createScratch(
    files.map(({ path, text, link }) => ({ path, content: text, link: link ?? false })),
    { signal: options.signal },
  );
  try {
    return await view(
      // The scratch repository is removed below, so nothing of it may stay in a shared cache.
      {
        ...options,
        repository: scratch.repository,
        cache: withOwnScopes(options.cache),
        descends: true,
      },
      options.repository,
      { ref: null, ofRepository: false, commit: scratch.commit },
    );
  } finally {
    await scratch.remove();
  }
}

function withOwnScopes(cache: SourceCache, maxScopes = 1): SourceCache {
  const { scopes, reads } = createSourceCache({ maxScopes });
  return { ...cache, scopes, reads };
}

async function view(
  options: ViewedOptions,
  home: Repository,
  source: { ref: string | null; ofRepository: boolean; commit?: string },
): Promise<GitPlan> {
  const { ctx, binding, cache } = options;
  const computed = await computePlan({
    ...options,
    ...(source.commit === undefined ? {} : { commit: source.commit }),
  });
  ctx.signal.throwIfAborted();
  return viewOf({
    ctx,
    binding,
    computed,
    previewMs: options.previewMs,
    ref: source.ref,
    ofRepository: source.ofRepository,
    before: (changes) => readBefore({ ctx, binding, repository: home, cache }, computed.observed, changes),
    policies: await policyChanges(binding, computed, (commit) => manifestsAt(home, commit, binding, cache)),
    approvalOf: (hash) => findApproval(ctx.db, binding.id, hash),
  });
}

/** @throws BAD_REQUEST for paths that no repository can hold; PAYLOAD_TOO_LARGE. */
function validFiles(files: readonly PlanFile[]): readonly PlanFile[] {
  const paths = new Set<string>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, text } of files) {
    bytes += Buffer.byteLength(text);
    const segments = path.split('/');
    const isInvalid = segments.some(
      (one) => one === '' || one === '.' || one === '..' || one.toLowerCase() === '.git',
    );
    if (isInvalid || path.includes('\0'))
      throw badRequest(
        `files: "${path.slice(0, 200)}" is no path from the root of a repository; leave out /, ., .. and .git`,
      );
    if (paths.has(path)) throw badRequest(`files: "${path.slice(0, 200)}" stands there twice`);
    paths.add(path);
    for (let count = 1; count < segments.length; count += 1) folders.add(segments.slice(0, count).join('/'));
  }
  if (bytes > MAX_BYTES)
    throw new DomainError(
      'PAYLOAD_TOO_LARGE',
      `The files are larger than ${MAX_BYTES} bytes together; push them to a branch and plan that`,
    );
  const both = [...paths].find((path) => folders.has(path));
  if (both !== undefined) throw badRequest(`files: "${both.slice(0, 200)}" is both a file and a folder`);
  return files;
}
