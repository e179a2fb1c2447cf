/** What the commits of merged pull requests say. */
import type { CommitIdentity } from '../write-back/commit/commit.ts';

export interface Named {
  number: number;
  title: string;
  branch: string;
  base: string;
}

const TRAILER = 'Headgate-Pull-Request';
const MOST_SUBJECTS = 50;
const MOST_AUTHORS = 20;
const SUBJECT = 200;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, SUBJECT);

/** Trailers stand together in the last paragraph (git-interpret-trailers(1)). */
export function withTrailers(message: string, trailers: readonly string[]): string {
  const text = message.trimEnd();
  const last = text.split(/\n[ \t]*\n/).at(-1) ?? '';
  const isTrailers = text.includes('\n') && last !== text && /^(?:[A-Za-z0-9-]+: .*(?:\n|$))+$/.test(last);
  const fresh = trailers.filter((line) => !last.split('\n').includes(line));
  return fresh.length === 0 ? `${text}\n` : `${text}${isTrailers ? '\n' : '\n\n'}${fresh.join('\n')}\n`;
}

const numbered = (number: number): string => `${TRAILER}: #${number}`;

/** The title stays a paragraph of its own: whoever may write one must not write trailers by it. */
export const mergeMessage = ({ number, title, branch }: Named): string =>
  `Merge pull request #${number} from ${branch}\n\n${oneLine(title)}\n\n${numbered(number)}\n`;

export function squashMessage(
  { number, title }: Named,
  commits: readonly { author: CommitIdentity; message: string }[],
  author: CommitIdentity,
): string {
  const subjects = commits.map(({ message }) => `* ${oneLine(message.trimStart().split('\n')[0] ?? '')}`);
  const body =
    commits.length < 2
      ? (commits[0]?.message.trim().split('\n').slice(1).join('\n').trim() ?? '')
      : subjects.slice(0, MOST_SUBJECTS).join('\n');
  const others = new Map(
    commits
      .filter((commit) => commit.author.email.toLowerCase() !== author.email.toLowerCase())
      .map((commit) => [commit.author.email.toLowerCase(), commit.author]),
  );
  const together = [...others.values()]
    .slice(0, MOST_AUTHORS)
    .map(({ name, email }) => `Co-authored-by: ${oneLine(name)} <${oneLine(email)}>`);
  const text = `${oneLine(title)} (#${number})${body === '' ? '' : `\n\n${body}`}`;
  return withTrailers(text, [...together, numbered(number)]);
}

export const rebasedMessage = (message: string, { number }: Named): string =>
  withTrailers(message.trim() === '' ? 'No message' : message, [numbered(number)]);

export const refreshMessage = ({ base, branch, number }: Named): string =>
  withTrailers(`Merge ${base} into ${branch}`, [numbered(number)]);
