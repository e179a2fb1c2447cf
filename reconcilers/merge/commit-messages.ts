/** Renders the messages of the commits that merge pull requests. */
import type { CommitIdentity } from '../write-back/commit/commit.ts';

export interface PullRequestSummary {
  number: number;
  title: string;
  branch: string;
  base: string;
}

const TRAILER = 'Headgate-Pull-Request';
const MAX_SUBJECTS = 50;
const MAX_AUTHORS = 20;
const MAX_SUBJECT_CHARACTERS = 200;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_CHARACTERS);

/** Appends trailers to the last paragraph if that holds trailers already (git-interpret-trailers(1)). */
export function withTrailers(message: string, trailers: readonly string[]): string {
  const text = message.trimEnd();
  const last = text.split(/\n[ \t]*\n/).at(-1) ?? '';
  const endsWithTrailers =
    text.includes('\n') && last !== text && /^(?:[A-Za-z0-9-]+: .*(?:\n|$))+$/.test(last);
  const missing = trailers.filter((line) => !last.split('\n').includes(line));
  return missing.length === 0
    ? `${text}\n`
    : `${text}${endsWithTrailers ? '\n' : '\n\n'}${missing.join('\n')}\n`;
}

const pullRequestTrailer = (number: number): string => `${TRAILER}: #${number}`;

/** The title is its own paragraph, so that its author cannot add trailers through it. */
export const mergeMessage = ({ number, title, branch }: PullRequestSummary): string =>
  `Merge pull request #${number} from ${branch}\n\n${oneLine(title)}\n\n${pullRequestTrailer(number)}\n`;

export function squashMessage(
  { number, title }: PullRequestSummary,
  commits: readonly { author: CommitIdentity; message: string }[],
  author: CommitIdentity,
): string {
  const subjects = commits.map(({ message }) => `* ${oneLine(message.trimStart().split('\n')[0] ?? '')}`);
  const body =
    commits.length < 2
      ? (commits[0]?.message.trim().split('\n').slice(1).join('\n').trim() ?? '')
      : subjects.slice(0, MAX_SUBJECTS).join('\n');
  const others = new Map(
    commits
      .filter((commit) => commit.author.email.toLowerCase() !== author.email.toLowerCase())
      .map((commit) => [commit.author.email.toLowerCase(), commit.author]),
  );
  const coAuthorTrailers = [...others.values()]
    .slice(0, MAX_AUTHORS)
    .map(({ name, email }) => `Co-authored-by: ${oneLine(name)} <${oneLine(email)}>`);
  const text = `${oneLine(title)} (#${number})${body === '' ? '' : `\n\n${body}`}`;
  return withTrailers(text, [...coAuthorTrailers, pullRequestTrailer(number)]);
}

export const rebaseMessage = (message: string, { number }: PullRequestSummary): string =>
  withTrailers(message.trim() === '' ? 'No message' : message, [pullRequestTrailer(number)]);

export const refreshMessage = ({ base, branch, number }: PullRequestSummary): string =>
  withTrailers(`Merge ${base} into ${branch}`, [pullRequestTrailer(number)]);
