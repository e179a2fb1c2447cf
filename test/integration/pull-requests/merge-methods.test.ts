/** Merges of pull requests that are kept here, compared with what git itself makes of the same branches. */
import { expect } from 'chai';
import fc from 'fast-check';
import { mergeResult } from '../../../reconcilers/merge/merge-result.ts';
import { refreshBranch } from '../../../reconcilers/pull-requests/merge/refresh-branch.ts';
import type { MergeMethod } from '../../../schemas/api/delivery/pull-requests.ts';
import { longProperty } from '../../support/harness/long-property.ts';
import { refusal } from '../../support/scenes/mirrors.ts';
import { GRACE, PullWorkspace, pullOf, WorkTree } from '../../support/scenes/pull-workspace.ts';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const text = (...changes: [number, string][]) =>
  LINES.map((line, at) => changes.find(([where]) => where === at)?.[1] ?? line)
    .map((line) => `${line}\n`)
    .join('');
const METHODS: MergeMethod[] = ['merge', 'squash', 'rebase'];

describe('merging a pull request', () => {
  let repo: PullWorkspace;
  const signal = new AbortController().signal;
  const log = (format: string, ref = 'main') => repo.git('log', '-1', `--format=${format}`, ref);
  const result = (base: string, head: string) => mergeResult(repo.gitdir, { base, head }, signal);

  beforeEach(() => {
    repo = new PullWorkspace();
    repo.commit('main', { 'a.yaml': text(), 'b.yaml': text() }, { message: 'first' });
    repo.branch('topic');
    repo.commit('topic', { 'a.yaml': text([1, 'TWO']) }, { message: 'second line\n\nWhy it is so.\n' });
    repo.commit('topic', { 'c.yaml': 'new\n' }, { message: 'a new file' });
  });
  afterEach(() => repo.remove());

  it('by "merge" makes a commit of both, by the user who merged', async () => {
    const base = repo.commit('main', { 'a.yaml': text([6, 'SEVEN']) });
    const head = repo.head('topic');
    const merged = await repo.merge('topic', 'merge');
    expect(merged).to.deep.equal({ mergeSha: repo.head(), baseSha: base, method: 'merge' });
    expect(log('%P')).to.equal(`${base} ${head}`);
    expect(log('%an <%ae> / %cn')).to.equal(`${GRACE.name} <${GRACE.email}> / Headgate`);
    expect(log('%B')).to.equal(
      'Merge pull request #7 from topic\n\nFaster orders\n\nHeadgate-Pull-Request: #7',
    );
    expect(repo.git('cat-file', 'blob', 'main:a.yaml')).to.equal(text([1, 'TWO'], [6, 'SEVEN']).trim());
    expect(repo.git('fsck', '--strict')).not.to.match(/error/);
  });

  it('by "squash" makes one commit with the title, the number and the authors', async () => {
    const base = repo.head();
    await repo.merge('topic', 'squash');
    expect(log('%P')).to.equal(base);
    expect(log('%an')).to.equal(GRACE.name);
    expect(log('%B')).to.equal(
      'Faster orders (#7)\n\n* second line\n* a new file\n\nCo-authored-by: Ada Example <ada@example.org>\nHeadgate-Pull-Request: #7',
    );
    expect(log('%T')).to.equal(log('%T', 'topic'));
  });

  it('by "rebase" repeats each commit with its author, date and message', async () => {
    const base = repo.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const dates = repo.git('log', '--format=%ad', 'topic', '-2');
    await repo.merge('topic', 'rebase');
    expect(repo.git('rev-parse', 'main~2')).to.equal(base);
    expect(repo.git('log', '--format=%ad', 'main', '-2')).to.equal(dates);
    expect(repo.git('log', '--format=%an/%cn', 'main', '-2')).to.equal(
      'Ada Example/Headgate\nAda Example/Headgate',
    );
    expect(log('%B', 'main~1')).to.equal('second line\n\nWhy it is so.\n\nHeadgate-Pull-Request: #7');
  });

  it('by "rebase" leaves out what the base has by a cherry-pick', async () => {
    repo.commit('main', { 'a.yaml': text([1, 'TWO']) }, { message: 'picked' });
    repo.commit('main', { 'a.yaml': text([1, 'TWO'], [7, 'EIGHT']) });
    await repo.merge('topic', 'rebase');
    expect(repo.git('log', '--format=%s', 'main')).to.equal('a new file\nchange main\npicked\nfirst');
  });

  it('by "rebase" is rejected for a merge commit and for a commit that conflicts', async () => {
    repo.branch('other');
    repo.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const tree = new WorkTree(repo.gitdir);
    tree.git('checkout', '--quiet', 'topic');
    expect(tree.git('merge', '--quiet', '-m', 'main into topic', 'origin/main')).not.to.equal(null);
    tree.git('push', '--quiet', 'origin', 'topic');
    tree.remove();
    expect(await refusal(repo.merge('topic', 'rebase'))).to.match(/merge commit.*"merge" or "squash"/);
    // Back and forth: the whole merges well, and the first step alone does not.
    repo.commit('other', { 'b.yaml': text([0, 'uno']) }, { message: 'forth' });
    repo.commit('other', { 'b.yaml': text([0, 'ONE']) }, { message: 'back' });
    repo.commit('other', { 'd.yaml': 'd\n' });
    expect(await refusal(repo.merge('other', 'rebase'))).to.match(
      /^The commit [0-9a-f]{7} "forth" conflicts in b\.yaml; merge by/,
    );
    expect((await repo.merge('other', 'squash')).method).to.equal('squash');
  });

  it('is rejected where both changed a line, with the files, and changes nothing', async () => {
    const base = repo.commit('main', { 'a.yaml': text([1, 'zwei']) });
    for (const method of METHODS)
      expect(await refusal(repo.merge('topic', method))).to.match(/^It conflicts with main in a\.yaml;/);
    expect(repo.head()).to.equal(base);
    expect(await result(base, repo.head('topic'))).to.include({ commit: null, isIn: false });
  });

  it('is rejected where the branch has moved since it was reviewed', async () => {
    const headSha = repo.head('topic');
    repo.commit('topic', { 'x.yaml': 'x\n' });
    expect(await refusal(repo.merge('topic', 'merge', { headSha }))).to.match(/is at [0-9a-f]{7} now/);
    repo.git('update-ref', '-d', 'refs/heads/topic');
    expect(await refusal(repo.merge('topic', 'merge', { headSha }))).to.match(/is at no commit now/);
  });

  it('starts over where the base moves before its push', async () => {
    let moves = 0;
    const { handle } = repo;
    const slow: typeof handle = {
      ...handle,
      push: async (...args) => {
        moves += 1;
        if (moves <= 3) repo.commit('main', { [`moved-${moves}.yaml`]: 'm\n' });
        return handle.push(...args);
      },
    };
    const merged = await repo.merge('topic', 'squash', { handle: slow });
    expect(moves).to.equal(4);
    expect(log('%P')).to.equal(merged.baseSha);
    expect(repo.git('ls-tree', '--name-only', 'main').split('\n')).to.deep.equal([
      ...['a.yaml', 'b.yaml', 'c.yaml', 'moved-1.yaml', 'moved-2.yaml', 'moved-3.yaml'],
    ]);
  });

  it('loses none of nine merges at once on one base', async () => {
    const names = Array.from({ length: 9 }, (_, n) => `pull-${n}`);
    for (const name of names) {
      repo.branch(name);
      repo.commit(name, { [`${name}.yaml`]: 'x\n' });
    }
    await Promise.all(names.map((name, n) => repo.merge(name, METHODS[n % 3] as MergeMethod)));
    const files = repo.git('ls-tree', '--name-only', 'main').split('\n');
    expect(files).to.include.members(names.map((name) => `${name}.yaml`));
    expect(repo.git('rev-list', '--first-parent', '--count', 'main')).to.equal('10');
  });

  it('finds itself merged already, as after a push that was never recorded', async () => {
    const { mergeSha } = await repo.merge('topic', 'squash');
    expect(await repo.merge('topic', 'squash')).to.deep.equal({
      ...{ mergeSha, baseSha: mergeSha, method: null },
    });
  });

  it('is rejected where it changes nothing or has no common history', async () => {
    repo.commit('topic', { 'a.yaml': text(), 'c.yaml': null });
    expect(await refusal(repo.merge('topic', 'merge'))).to.match(/changes no file/);
    expect(await result(repo.head(), repo.head('topic'))).to.include({ isIn: false });
    repo.commit('alien', { 'z.yaml': 'z\n' }, { orphan: true });
    expect(await refusal(repo.merge('alien', 'merge'))).to.match(/no history in common/);
    expect(await result(repo.head(), repo.head('alien'))).to.include({
      mergeBase: null,
      commit: null,
      isIn: false,
    });
  });

  it('keeps modes, links, odd names and bytes, and a second look writes no object', async () => {
    const odd = 'a "quoted" nämé\twith\ttabs.yaml';
    repo.commit('topic', { [odd]: Buffer.from([0, 1, 2, 255]) }, { links: { link: 'a.yaml' } });
    repo.commit('main', { 'b.yaml': text([3, 'FOUR']) });
    const first = await result(repo.head(), repo.head('topic'));
    const objects = repo.git('count-objects');
    expect(await result(repo.head(), repo.head('topic'))).to.deep.equal(first);
    expect(repo.git('count-objects')).to.equal(objects);
    await repo.merge('topic', 'rebase');
    const before = repo.git('ls-tree', 'topic', odd, 'link');
    expect(repo.git('ls-tree', 'main', odd, 'link')).to.equal(before);
    expect(before).to.match(/^100644.*\n120000/);
  });
});

describe('bringing the base into a branch', () => {
  let repo: PullWorkspace;
  beforeEach(() => {
    repo = new PullWorkspace();
    repo.commit('main', { 'a.yaml': text(), 'b.yaml': text() });
    repo.branch('topic');
    repo.commit('topic', { 'a.yaml': text([1, 'TWO']), 'd/e.yaml': 'e\n' });
    repo.commit('main', { 'a.yaml': text([1, 'zwei']), 'b.yaml': text([0, 'ONE']) });
  });
  afterEach(() => repo.remove());

  it('merges a file by the resolver where lines conflict', async () => {
    const [head, main] = [repo.head('topic'), repo.head()];
    const asked: unknown[] = [];
    const { headSha } = await refreshBranch(repo.workspace(), pullOf('topic'), (path, sides) => {
      asked.push([path, sides]);
      return text([1, 'both']);
    });
    expect(asked).to.deep.equal([
      ['a.yaml', { base: text(), ours: text([1, 'TWO']), theirs: text([1, 'zwei']) }],
    ]);
    expect(repo.git('log', '-1', '--format=%H %P', 'topic')).to.equal(`${headSha} ${head} ${main}`);
    const read = (path: string) => repo.git('cat-file', 'blob', `topic:${path}`);
    expect([read('a.yaml'), read('b.yaml'), read('d/e.yaml')]).to.deep.equal([
      ...[text([1, 'both']).trim(), text([0, 'ONE']).trim(), 'e'],
    ]);
    expect(repo.git('fsck', '--strict', '--no-dangling')).to.equal('');
  });

  it('is rejected without a resolution, and leaves the branch as it was', async () => {
    const head = repo.head('topic');
    for (const resolve of [null, () => null])
      expect(await refusal(refreshBranch(repo.workspace(), pullOf('topic'), resolve))).to.match(
        /^It conflicts with main in a\.yaml; merge main into the branch/,
      );
    expect(repo.head('topic')).to.equal(head);
  });

  it('starts over on top of what is pushed meanwhile', async () => {
    repo.git('update-ref', 'refs/heads/main', 'refs/heads/main~1');
    repo.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const { handle } = repo;
    let theirs = '';
    const slow: typeof handle = {
      ...handle,
      push: async (...args) => {
        if (theirs === '') theirs = repo.commit('topic', { 'review.md': 'x\n' });
        return handle.push(...args);
      },
    };
    const { headSha } = await refreshBranch(repo.workspace({ handle: slow }), pullOf('topic'), null);
    expect(repo.git('rev-parse', `${headSha}^1`)).to.equal(theirs);
    expect(repo.head('topic')).to.equal(headSha);
  });
});

const FILES = ['a', 'b', 'c', 'd/e'];
const FILES_EVER = FILES.flatMap((path) => [path, ...[0, 1, 2, 3].map((to) => `${path}-renamed-${to}`)]);
interface Edit {
  kind: 'line' | 'delete' | 'rename';
  file: number;
  at: number;
  to: number;
}
/** More changes of lines than deletions and renames. */
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('line', 'line', 'line', 'line', 'line', 'delete', 'rename'),
  ...{ file: fc.nat(3), at: fc.nat(7), to: fc.nat(3) },
});

/** The files of a commit with the edit; null deletes one. */
function apply(files: Map<string, string[]>, { kind, file, at, to }: Edit): Record<string, string | null> {
  const path = FILES[file] as string;
  const lines = files.get(path);
  if (kind === 'line') {
    const next = [...(lines ?? LINES)];
    next[at] = `value ${to}`;
    files.set(path, next);
    return { [path]: next.map((line) => `${line}\n`).join('') };
  }
  if (!lines) return {};
  files.delete(path);
  if (kind === 'delete') return { [path]: null };
  const target = `${path}-renamed-${to}`;
  files.set(target, lines);
  return { [path]: null, [target]: lines.map((line) => `${line}\n`).join('') };
}

describe('any two branches', () => {
  it('merge as git merges them, and are merged afterwards and not before', async function () {
    this.timeout(300_000);
    const commits = fc.array(edit, { minLength: 0, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(commits, fc.array(edit, { minLength: 1, maxLength: 4 }), async (ours, theirs) => {
        const repo = new PullWorkspace();
        const trees: WorkTree[] = [];
        const clone = () => {
          const made = new WorkTree(repo.gitdir);
          trees.push(made);
          return made;
        };
        try {
          const start = () => new Map(FILES.map((path) => [path, LINES]));
          const text = LINES.map((line) => `${line}\n`).join('');
          const first = repo.commit('main', Object.fromEntries(FILES.map((path) => [path, text])));
          repo.branch('topic');
          const [main, topic] = [start(), start()];
          for (const one of ours) repo.commit('main', apply(main, one));
          for (const one of theirs) repo.commit('topic', apply(topic, one));
          const [base, head] = [repo.head(), repo.head('topic')];
          const treeOf = (ref: string) => repo.git('rev-parse', `${ref}^{tree}`);

          const real = clone();
          const isMerged = real.git('merge', '--quiet', '--no-ff', '-m', 'x', 'origin/topic') !== null;
          const merged = isMerged ? real.git('rev-parse', 'HEAD^{tree}') : null;
          const { signal } = new AbortController();
          const seen = await mergeResult(repo.gitdir, { base, head }, signal);
          if (!seen.isIn)
            expect(seen.commit === null, 'conflicts where git has conflicts').to.equal(!isMerged);
          if (seen.commit && isMerged) expect(treeOf(seen.commit)).to.equal(merged);
          const changes = treeOf(head) !== treeOf(first);
          // Git may take similar files for each other where some were renamed; a comparison by path cannot.
          const isThere = FILES_EVER.every((path) => {
            const [then, mine, others] = [start(), main, topic].map((files) => files.get(path));
            if (String(then) === String(others)) return true;
            if (!then || !mine || !others) return String(mine) === String(others);
            return others.every((line, at) => line === then[at] || line === mine[at]);
          });
          if (changes && merged === treeOf(base)) expect(seen.isIn).to.equal(true);
          if (seen.isIn) expect(changes && (merged === treeOf(base) || isThere)).to.equal(true);
          if (!isMerged || !changes || seen.isIn) return;

          const other = clone();
          other.git('checkout', '--quiet', 'topic');
          const isRebased = other.git('rebase', '--quiet', 'origin/main') !== null;
          const rebased = isRebased ? other.git('rev-parse', 'HEAD^{tree}') : null;
          for (const method of METHODS) {
            repo.git('update-ref', 'refs/heads/main', base);
            const outcome = await repo.merge('topic', method).catch((error: unknown) => error);
            if (method === 'rebase' && !isRebased) {
              expect(outcome).to.be.instanceOf(Error);
              continue;
            }
            expect(outcome, method).to.deep.include({ method });
            expect(treeOf('main'), method).to.equal(method === 'rebase' ? rebased : merged);
            const after = await mergeResult(repo.gitdir, { base: repo.head(), head }, signal);
            expect(after.isIn, `${method}: in afterwards`).to.equal(true);
          }
        } finally {
          for (const tree of trees) tree.remove();
          repo.remove();
        }
      }),
      {
        ...longProperty(6),
        // A file that is renamed and changed, while the other side deletes its twin.
        examples: [
          [
            [
              { kind: 'rename', file: 0, at: 0, to: 0 },
              { kind: 'line', file: 0, at: 0, to: 0 },
            ],
            [{ kind: 'delete', file: 1, at: 0, to: 0 }],
          ],
        ],
      },
    );
  });
});
