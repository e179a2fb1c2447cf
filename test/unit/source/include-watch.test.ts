import { expect } from 'chai';
import { IncludeWatch } from '../../../reconcilers/source/scope/include-watch.ts';

/** Answers with the keys at hand and notes what it was asked. */
function reader(keys: Record<string, string>) {
  const asked: string[] = [];
  const key = async (path: string) => {
    asked.push(path);
    return keys[path] ?? 'nothing';
  };
  return { key, asked };
}

describe('The watch over included files', () => {
  const first = { shared: 's1', 'shared/a': '1', 'shared/b': '1' };

  it('looks into changed folders only, and tells what changed there until that is settled', async () => {
    const watch = new IncludeWatch();
    watch.add(['shared/a', 'shared/b'].map((path) => ({ path, key: '1' })));
    (await watch.stale(reader(first))).settle();
    const same = reader(first);
    expect((await watch.stale(same)).paths.size).to.equal(0);
    expect(same.asked).to.deep.equal(['shared']);
    const changed = { ...first, shared: 's2', 'shared/b': '2' };
    for (let round = 0; round < 2; round += 1) {
      expect([...(await watch.stale(reader(changed))).paths]).to.deep.equal(['shared/b']);
    }
  });

  it('forgets a file with its last user', async () => {
    const watch = new IncludeWatch();
    const include = [{ path: 'shared/a', key: '1' }];
    watch.add(include);
    watch.add(include);
    watch.remove(include);
    expect([...(await watch.stale(reader({}))).paths]).to.deep.equal(['shared/a']);
    watch.remove(include);
    const empty = reader({});
    await watch.stale(empty);
    expect(empty.asked).to.deep.equal([]);
  });
});
