/** What is the same on every forge: a comment that is there once, and a pull request that is opened once. */
import {
  type Forge,
  ForgeError,
  type ForgePullRequest,
  ForgeReply,
  type LeftOut,
  type OpenRequest,
  type StatusReport,
} from './forge.ts';
import { shortened } from './response-schemas.ts';

export interface Comments {
  /** The oldest of our own that has the text; null for none. */
  find(number: number, text: string): Promise<string | null>;
  /** Answers its id. */
  create(number: number, body: string): Promise<string>;
  /** False where it is gone. */
  update(number: number, id: string, body: string): Promise<boolean>;
}

export interface CommentForm {
  /** In characters. */
  longest: number;
  /** What stands for the marker where HTML comments are shown to people. */
  hidden?: (marker: string) => string;
}

export async function keepComment(
  comments: Comments,
  number: number,
  { marker, body, commentId }: Parameters<Forge['comment']>[1],
  { longest, hidden = (text) => text }: CommentForm,
): Promise<string> {
  const mark = hidden(marker);
  const text = `${mark}\n${shortened(body.replace(marker, '').trim(), longest - mark.length - 1)}`;
  if (commentId !== null && (await comments.update(number, commentId, text))) return commentId;
  const found = await comments.find(number, mark);
  if (found !== null && found !== commentId && (await comments.update(number, found, text))) return found;
  return comments.create(number, text);
}

export interface Opening<T> {
  /** The open one of the same branch and base. */
  find(): Promise<T | null>;
  create(): Promise<T>;
  bringUpToDate(found: T): Promise<T>;
}

/** `lookFirst` is false where looking costs more than being refused. Somebody may be quicker in between. */
export async function openOnce<T>(
  { find, create, bringUpToDate }: Opening<T>,
  { lookFirst = true } = {},
): Promise<T> {
  const found = lookFirst ? await find() : null;
  if (found) return bringUpToDate(found);
  try {
    return await create();
  } catch (error) {
    const there = error instanceof ForgeReply && IS_THERE.has(error.status) ? await find() : null;
    if (!there) throw error;
    return bringUpToDate(there);
  }
}

/** With which forges say that there is one already. */
const IS_THERE = new Set([400, 409, 422]);

/** Null where there is none of the number, which is not the same as a project that is hidden. */
export async function orNull<T>(
  ask: () => Promise<T>,
  isProjectThere: () => Promise<unknown>,
): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!isGone(error)) throw error;
    await isProjectThere();
    return null;
  }
}

export const isGone = (error: unknown): boolean => error instanceof ForgeReply && error.fault === 'not-found';

/** Whether what was to be changed is still there. @throws everything else that goes wrong */
export async function ifThere(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Applies the rest to an open pull request: what the forge does not accept is reported and stops nothing. */
export async function unlessRefused(
  what: string,
  work: () => Promise<unknown>,
  leftOut: LeftOut | undefined,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    leftOut?.(`${what} left out: ${error.message}`);
  }
}

/** Those that are not among the second, in any case. */
export const missingIn = (wanted: readonly string[], found: readonly string[]): string[] => {
  const known = new Set(found.map((name) => name.toLowerCase()));
  return wanted.filter((name) => !known.has(name.toLowerCase()));
};

/** `org/team` names a team. */
export const usersAndTeams = (names: readonly string[]): { people: string[]; teams: string[] } => ({
  people: names.filter((name) => !name.includes('/')),
  teams: names.filter((name) => name.includes('/')).map((name) => name.slice(name.indexOf('/') + 1)),
});

/** Where all reviewers come with the request: opened without them where one of them is rejected, which is reported. */
export async function openWithReviewers<T>(
  { reviewers = [] }: OpenRequest,
  create: (reviewers: readonly string[]) => Promise<T>,
  leftOut: LeftOut | undefined,
): Promise<T> {
  try {
    return await create(reviewers);
  } catch (error) {
    const isTheirs = error instanceof ForgeReply && /review|identit|user/i.test(error.said);
    if (reviewers.length === 0 || !isTheirs) throw error;
    leftOut?.(`Reviewers left out: ${error.message}`);
    return create([]);
  }
}

/** Of a marker where HTML comments are shown to people: a reference that nothing refers to is shown to nobody. */
export const hiddenInMarkdown = (marker: string): string =>
  `[//]: # (${marker.replace(/^<!--\s*|\s*-->$/g, '')})`;

/** Whether there is one in a list that is meant; an entry that cannot be read may be it. */
export async function isAnyIn(
  list: (leftOut: LeftOut) => Promise<readonly ForgePullRequest[]>,
  isMeant: (pull: ForgePullRequest) => boolean = () => true,
): Promise<boolean> {
  let unread = false;
  const pulls = await list(() => {
    unread = true;
  });
  return unread || pulls.some(isMeant);
}

/** Its branch is one of the repository itself. */
export const isOwn = ({ isFork }: ForgePullRequest): boolean => !isFork;

/** Requested once, and again after a failure. */
export function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null;
  return () => {
    known ??= ask().catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
}

/** @throws ForgeError where somebody has pushed since the head was looked at */
export function assertHead(label: string, { headSha }: { headSha: string }, wanted: string): void {
  if (headSha !== wanted)
    throw new ForgeError('refused', `${label}: the branch is at ${headSha.slice(0, 7)} now`);
}

/** Of `assertMay`: a commit and a pull request that nobody has. */
export const NO_COMMIT = '0'.repeat(40);
export const NO_PULL = 2_147_483_647;
export const PROBE: StatusReport = {
  ...{ context: 'headgate/test', state: 'success', description: 'Nothing', url: 'https://example.com' },
};

const IS_NOT_THERE = new Set([400, 404, 410, 422]);

/**
 * Tries what needs a right on something that is not there, which leaves no trace: a token with the right gets "not found", and one
 * may not is refused before. @throws ForgeError where the token lacks the right
 */
export async function assertMay(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ForgeReply && IS_NOT_THERE.has(error.status))) throw error;
  }
}
