/** Merges of pull requests that are kept here, against what git itself makes of the same branches. */
import { expect } from 'chai';
import fc from 'fast-check';
import { mergeResult } from '../../../reconcilers/merge/merge-result.ts';
import { refreshPull } from '../../../reconcilers/pull-requests/merge/refresh-branch.ts';
import type { MergeMethod } from '../../../schemas/api/pull-requests.ts';
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
  let bench: PullWorkspace;
  const signal = new AbortController().signal;
  const log = (format: string, ref = 'main') => bench.git('log', '-1', `--format=${format}`, ref);
  const look = (base: string, head: string) => mergeResult(bench.gitdir, { base, head }, signal);

  beforeEach(() => {
    bench = new PullWorkspace();
    bench.commit('main', { 'a.yaml': text(), 'b.yaml': text() }, { message: 'first' });
    bench.branch('topic');
    bench.commit('topic', { 'a.yaml': text([1, 'TWO']) }, { message: 'second line\n\nWhy it is so.\n' });
    bench.commit('topic', { 'c.yaml': 'new\n' }, { message: 'a new file' });
  });
  afterEach(() => bench.remove());

  it('by "merge" makes a commit of both, in the name of who merged', async () => {
    const base = bench.commit('main', { 'a.yaml': text([6, 'SEVEN']) });
    const head = bench.head('topic');
    const merged = await bench.merge('topic', 'merge');
    expect(merged).to.deep.equal({ mergeSha: bench.head(), baseSha: base, method: 'merge' });
    expect(log('%P')).to.equal(`${base} ${head}`);
    expect(log('%an <%ae> / %cn')).to.equal(`${GRACE.name} <${GRACE.email}> / Headgate`);
    expect(log('%B')).to.equal(
      'Merge pull request #7 from topic\n\nFaster orders\n\nHeadgate-Pull-Request: #7',
    );
    expect(bench.git('cat-file', 'blob', 'main:a.yaml')).to.equal(text([1, 'TWO'], [6, 'SEVEN']).trim());
    expect(bench.git('fsck', '--strict')).not.to.match(/error/);
  });

  it('by "squash" makes one commit with the title, the number and the authors', async () => {
    const base = bench.head();
    await bench.merge('topic', 'squash');
    expect(log('%P')).to.equal(base);
    expect(log('%an')).to.equal(GRACE.name);
    expect(log('%B')).to.equal(
      'Faster orders (#7)\n\n* second line\n* a new file\n\nCo-authored-by: Ada Example <ada@example.org>\nHeadgate-Pull-Request: #7',
    );
    expect(log('%T')).to.equal(log('%T', 'topic'));
  });

  it('by "rebase" makes each commit again, with its author, date and message', async () => {
    const base = bench.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const dates = bench.git('log', '--format=%ad', 'topic', '-2');
    await bench.merge('topic', 'rebase');
    expect(bench.git('rev-parse', 'main~2')).to.equal(base);
    expect(bench.git('log', '--format=%ad', 'main', '-2')).to.equal(dates);
    expect(bench.git('log', '--format=%an/%cn', 'main', '-2')).to.equal(
      'Ada Example/Headgate\nAda Example/Headgate',
    );
    expect(log('%B', 'main~1')).to.equal('second line\n\nWhy it is so.\n\nHeadgate-Pull-Request: #7');
  });

  it('by "rebase" leaves out what the base has by a cherry-pick', async () => {
    bench.commit('main', { 'a.yaml': text([1, 'TWO']) }, { message: 'picked' });
    bench.commit('main', { 'a.yaml': text([1, 'TWO'], [7, 'EIGHT']) });
    await bench.merge('topic', 'rebase');
    expect(bench.git('log', '--format=%s', 'main')).to.equal('a new file\nchange main\npicked\nfirst');
  });

  it('by "rebase" is refused for a merge commit, and for a commit that conflicts, with what to do instead', async () => {
    bench.branch('other');
    bench.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const tree = new WorkTree(bench.gitdir);
    tree.git('checkout', '--quiet', 'topic');
    expect(tree.git('merge', '--quiet', '-m', 'main into topic', 'origin/main')).not.to.equal(null);
    tree.git('push', '--quiet', 'origin', 'topic');
    tree.remove();
    expect(await refusal(bench.merge('topic', 'rebase'))).to.match(/merge commit.*"merge" or "squash"/);
    // Back and forth: the whole merges well, and the first step alone does not.
    bench.commit('other', { 'b.yaml': text([0, 'uno']) }, { message: 'forth' });
    bench.commit('other', { 'b.yaml': text([0, 'ONE']) }, { message: 'back' });
    bench.commit('other', { 'd.yaml': 'd\n' });
    expect(await refusal(bench.merge('other', 'rebase'))).to.match(
      /^The commit [0-9a-f]{7} "forth" conflicts in b\.yaml; merge by/,
    );
    expect((await bench.merge('other', 'squash')).method).to.equal('squash');
  });

  it('is refused where both changed a line, naming the files, and changes nothing', async () => {
    const base = bench.commit('main', { 'a.yaml': text([1, 'zwei']) });
    for (const method of METHODS)
      expect(await refusal(bench.merge('topic', method))).to.match(/^It conflicts with main in a\.yaml;/);
    expect(bench.head()).to.equal(base);
    expect(await look(base, bench.head('topic'))).to.include({ commit: null, isIn: false });
  });

  it('is refused where the branch has moved since somebody looked at it', async () => {
    const headSha = bench.head('topic');
    bench.commit('topic', { 'x.yaml': 'x\n' });
    expect(await refusal(bench.merge('topic', 'merge', { headSha }))).to.match(
      /stands at [0-9a-f]{7} by now/,
    );
    bench.git('update-ref', '-d', 'refs/heads/topic');
    expect(await refusal(bench.merge('topic', 'merge', { headSha }))).to.match(/stands at no commit by now/);
  });

  it('begins again where the base moved between looking and pushing', async () => {
    let moves = 0;
    const { handle } = bench;
    const slow: typeof handle = {
      ...handle,
      push: async (...args) => {
        moves += 1;
        if (moves <= 3) bench.commit('main', { [`moved-${moves}.yaml`]: 'm\n' });
        return handle.push(...args);
      },
    };
    const merged = await bench.merge('topic', 'squash', { handle: slow });
    expect(moves).to.equal(4);
    expect(log('%P')).to.equal(merged.baseSha);
    expect(bench.git('ls-tree', '--name-only', 'main').split('\n')).to.deep.equal([
      ...['a.yaml', 'b.yaml', 'c.yaml', 'moved-1.yaml', 'moved-2.yaml', 'moved-3.yaml'],
    ]);
  });

  it('goes well twenty times at once on one base, and none is lost', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `pull-${n}`);
    for (const name of names) {
      bench.branch(name);
      bench.commit(name, { [`${name}.yaml`]: 'x\n' });
    }
    await Promise.all(names.map((name, n) => bench.merge(name, METHODS[n % 3] as MergeMethod)));
    const files = bench.git('ls-tree', '--name-only', 'main').split('\n');
    expect(files).to.include.members(names.map((name) => `${name}.yaml`));
    expect(bench.git('rev-list', '--first-parent', '--count', 'main')).to.equal('21');
  }).timeout(30_000);

  it('says that it is in already where it is, as after a push that nobody could write down', async () => {
    const { mergeSha } = await bench.merge('topic', 'squash');
    expect(await bench.merge('topic', 'squash')).to.deep.equal({
      ...{ mergeSha, baseSha: mergeSha, method: null },
    });
  });

  it('is refused where it changes nothing, or has another beginning', async () => {
    bench.commit('topic', { 'a.yaml': text(), 'c.yaml': null });
    expect(await refusal(bench.merge('topic', 'merge'))).to.match(/changes no file/);
    expect(await look(bench.head(), bench.head('topic'))).to.include({ isIn: false });
    bench.commit('alien', { 'z.yaml': 'z\n' }, { orphan: true });
    expect(await refusal(bench.merge('alien', 'merge'))).to.match(/no history in common/);
    expect(await look(bench.head(), bench.head('alien'))).to.include({
      mergeBase: null,
      commit: null,
      isIn: false,
    });
  });

  it('keeps modes, links, odd names and bytes, and puts nothing into the repository by looking twice', async () => {
    const odd = 'a "quoted" nämé\twith\ttabs.yaml';
    bench.commit('topic', { [odd]: Buffer.from([0, 1, 2, 255]) }, { links: { link: 'a.yaml' } });
    bench.commit('main', { 'b.yaml': text([3, 'FOUR']) });
    const first = await look(bench.head(), bench.head('topic'));
    const objects = bench.git('count-objects');
    expect(await look(bench.head(), bench.head('topic'))).to.deep.equal(first);
    expect(bench.git('count-objects')).to.equal(objects);
    await bench.merge('topic', 'rebase');
    const before = bench.git('ls-tree', 'topic', odd, 'link');
    expect(bench.git('ls-tree', 'main', odd, 'link')).to.equal(before);
    expect(before).to.match(/^100644.*\n120000/);
  });
});

describe('bringing the base into a branch', () => {
  let bench: PullWorkspace;
  beforeEach(() => {
    bench = new PullWorkspace();
    bench.commit('main', { 'a.yaml': text(), 'b.yaml': text() });
    bench.branch('topic');
    bench.commit('topic', { 'a.yaml': text([1, 'TWO']), 'd/e.yaml': 'e\n' });
    bench.commit('main', { 'a.yaml': text([1, 'zwei']), 'b.yaml': text([0, 'ONE']) });
  });
  afterEach(() => bench.remove());

  it('goes by whoever knows how a file goes together, where lines do not', async () => {
    const [head, main] = [bench.head('topic'), bench.head()];
    const asked: unknown[] = [];
    const { headSha } = await refreshPull(bench.bench(), pullOf('topic'), (path, sides) => {
      asked.push([path, sides]);
      return text([1, 'both']);
    });
    expect(asked).to.deep.equal([
      ['a.yaml', { base: text(), ours: text([1, 'TWO']), theirs: text([1, 'zwei']) }],
    ]);
    expect(bench.git('log', '-1', '--format=%H %P', 'topic')).to.equal(`${headSha} ${head} ${main}`);
    const read = (path: string) => bench.git('cat-file', 'blob', `topic:${path}`);
    expect([read('a.yaml'), read('b.yaml'), read('d/e.yaml')]).to.deep.equal([
      ...[text([1, 'both']).trim(), text([0, 'ONE']).trim(), 'e'],
    ]);
    expect(bench.git('fsck', '--strict', '--no-dangling')).to.equal('');
  });

  it('is refused where nobody knows, and leaves the branch as it was', async () => {
    const head = bench.head('topic');
    for (const resolve of [null, () => null])
      expect(await refusal(refreshPull(bench.bench(), pullOf('topic'), resolve))).to.match(
        /^It conflicts with main in a\.yaml; merge main into the branch/,
      );
    expect(bench.head('topic')).to.equal(head);
  });

  it('begins again on top of what people push meanwhile', async () => {
    bench.git('update-ref', 'refs/heads/main', 'refs/heads/main~1');
    bench.commit('main', { 'b.yaml': text([0, 'ONE']) });
    const { handle } = bench;
    let theirs = '';
    const slow: typeof handle = {
      ...handle,
      push: async (...args) => {
        if (theirs === '') theirs = bench.commit('topic', { 'review.md': 'x\n' });
        return handle.push(...args);
      },
    };
    const { headSha } = await refreshPull(bench.bench({ handle: slow }), pullOf('topic'), null);
    expect(bench.git('rev-parse', `${headSha}^1`)).to.equal(theirs);
    expect(bench.head('topic')).to.equal(headSha);
  });
});

const FILES = ['a', 'b', 'c', 'd/e'];
const FILES_EVER = FILES.flatMap((path) => [path, ...[0, 1, 2, 3].map((to) => `${path}-renamed-${to}`)]);
const edit = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('line' as const),
      file: fc.nat(3),
      at: fc.nat(7),
      to: fc.nat(3),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      file: fc.nat(3),
      at: fc.nat(0),
      to: fc.nat(0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rename' as const),
      file: fc.nat(3),
      at: fc.nat(0),
      to: fc.nat(3),
    }),
  },
);
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

/** The files after an edit; null for those that it takes away. */
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
  it('come together as git itself puts them together, and are in afterwards and not before', async function () {
    this.timeout(300_000);
    const commits = fc.array(edit, { minLength: 0, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(commits, fc.array(edit, { minLength: 1, maxLength: 4 }), async (ours, theirs) => {
        const bench = new PullWorkspace();
        const trees: WorkTree[] = [];
        const clone = () => {
          const made = new WorkTree(bench.gitdir);
          trees.push(made);
          return made;
        };
        try {
          const start = () => new Map(FILES.map((path) => [path, LINES]));
          const text = LINES.map((line) => `${line}\n`).join('');
          const first = bench.commit('main', Object.fromEntries(FILES.map((path) => [path, text])));
          bench.branch('topic');
          const [main, topic] = [start(), start()];
          for (const one of ours) bench.commit('main', apply(main, one));
          for (const one of theirs) bench.commit('topic', apply(topic, one));
          const [base, head] = [bench.head(), bench.head('topic')];
          const treeOf = (ref: string) => bench.git('rev-parse', `${ref}^{tree}`);

          const real = clone();
          const isMerged = real.git('merge', '--quiet', '--no-ff', '-m', 'x', 'origin/topic') !== null;
          const merged = isMerged ? real.git('rev-parse', 'HEAD^{tree}') : null;
          const { signal } = new AbortController();
          const seen = await mergeResult(bench.gitdir, { base, head }, signal);
          if (!seen.isIn)
            expect(seen.commit === null, 'conflicts where git has conflicts').to.equal(!isMerged);
          if (seen.commit && isMerged) expect(treeOf(seen.commit)).to.equal(merged);
          const changes = treeOf(head) !== treeOf(first);
          // Files that are alike may be taken for one another where some were renamed; path by path there is no doubt.
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
            bench.git('update-ref', 'refs/heads/main', base);
            const outcome = await bench.merge('topic', method).catch((error: unknown) => error);
            if (method === 'rebase' && !isRebased) {
              expect(outcome).to.be.instanceOf(Error);
              continue;
            }
            expect(outcome, method).to.deep.include({ method });
            expect(treeOf('main'), method).to.equal(method === 'rebase' ? rebased : merged);
            const after = await mergeResult(bench.gitdir, { base: bench.head(), head }, signal);
            expect(after.isIn, `${method}: in afterwards`).to.equal(true);
          }
        } finally {
          for (const tree of trees) tree.remove();
          bench.remove();
        }
      }),
      {
        ...longProperty(12),
        // One that was renamed and changed, with a twin that the other side deletes.
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
