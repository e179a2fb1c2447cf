/** One commit of a repository, as a change looks at it: its manifests, and the files that they stand in. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import { gitEnvironment, runGit } from '../../controller/delivery/repository/index.ts';
import {
  type Desired,
  decodeText,
  fileReferences,
  includePath,
  MAX_FILE_BYTES,
  parseYamlText,
  type Repository,
  readDesired,
  type SnapshotScope,
  type SourceCache,
} from '../source/index.ts';
import { CannotEdit } from './yaml/cannot-edit.ts';

export interface Tip {
  sha: string;
  scope: SnapshotScope;
  desired: Desired;
  /** With its byte order mark, if it has one. @throws CannotEdit */
  text(path: string): Promise<string>;
  /** Places that include the file, in all of the repository: `path` and the number of times. */
  includers(path: string): Promise<{ path: string; times: number }[]>;
}

export interface TipOptions {
  repository: Repository;
  cache: SourceCache;
  binding: Pick<Binding, 'path' | 'sharedPaths'>;
  signal: AbortSignal;
}

const GREP_MS = 20_000;

export async function readTip(sha: string, { repository, cache, binding, signal }: TipOptions): Promise<Tip> {
  const scope = { path: binding.path, sharedPaths: binding.sharedPaths };
  const read = async (path: string): Promise<string> => {
    const found = await blobAt(repository, sha, path);
    if (!found?.data) throw new CannotEdit(`the file ${path} cannot be read`);
    const decoded = decodeText(found.data);
    if (typeof decoded !== 'string')
      throw new CannotEdit(`the file ${path} cannot be read: ${decoded.message}`);
    const mark = found.data.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? '\ufeff' : '';
    return mark + decoded;
  };
  return {
    sha,
    scope,
    desired: await readDesired(repository, sha, scope, cache),
    text: read,
    async includers(wanted) {
      const places: { path: string; times: number }[] = [];
      for (const path of await yamlFilesWith('$file', sha, repository.gitdir, signal)) {
        const text = await read(path).catch(() => null);
        const times = text === null ? 0 : timesIncluded(wanted, path, text);
        if (times > 0) places.push({ path, times });
      }
      return places;
    },
  };
}

async function yamlFilesWith(
  words: string,
  sha: string,
  gitdir: string,
  signal: AbortSignal,
): Promise<string[]> {
  const args = ['grep', '-z', '--name-only', '--fixed-strings', '-e', words, sha, '--', '*.yaml', '*.yml'];
  const { code, stdout } = await runGit(args, {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir, GIT_NO_LAZY_FETCH: '1' },
    signal,
    deadlineMs: GREP_MS,
  });
  // 1: found nowhere.
  if (code !== 0 && code !== 1)
    throw new CannotEdit('the repository could not be searched for other users of the file');
  return stdout.split('\0').flatMap((line) => (line === '' ? [] : [line.slice(sha.length + 1)]));
}

function timesIncluded(wanted: string, path: string, text: string): number {
  const { documents, finding } = parseYamlText(text.replace(/^\ufeff/, ''));
  // What cannot be read may include anything.
  if (finding) return text.includes(wanted.slice(wanted.lastIndexOf('/') + 1)) ? 1 : 0;
  return documents
    .flatMap(({ value }) => fileReferences(value))
    .filter(({ reference }) => includePath(reference, path, { path: '', sharedPaths: [] }) === wanted).length;
}

async function blobAt(repository: Repository, sha: string, path: string) {
  if (/[\n\r\0]/.test(path)) throw new CannotEdit('the name of its file holds a line break');
  const found = await repository.objects.use((reader) => reader.read(`${sha}:${path}`, MAX_FILE_BYTES));
  return found?.type === 'blob' ? found : null;
}

/** Null where there is no such file, or it is no text. */
export async function readBlob(repository: Repository, sha: string, path: string): Promise<string | null> {
  const found = await blobAt(repository, sha, path);
  return found?.data ? found.data.toString('utf8') : null;
}

/** The paths of all files below a folder; `''` is the root. */
export async function listFiles(
  gitdir: string,
  sha: string,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const args = [
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    '--full-tree',
    sha,
    ...(folder === '' ? [] : ['--', `${folder}/`]),
  ];
  const { code, stdout } = await runGit(args, {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir, GIT_LITERAL_PATHSPECS: '1', GIT_NO_LAZY_FETCH: '1' },
    signal,
    deadlineMs: GREP_MS,
  });
  if (code !== 0) throw new CannotEdit('the files of the repository cannot be listed');
  return stdout.split('\0').filter((path) => path !== '');
}
