import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../../users/person.ts';
import type { Rows } from './row.ts';

/** Nothing listens there. */
const URL = 'http://127.0.0.1:9/in';

const input = (n: number) => ({
  ...{ name: `stream ${n}`, source: 'audit', kind: 'webhook', url: URL, enabled: false },
  headers: { authorization: 'a secret of the receiver' },
});
async function fresh(n: number, root: TestUser): Promise<string> {
  const { stream } = await root.mutate<{ stream: { id: string } }>('stream.create', input(n));
  return stream.id;
}
/** There may be few of them. */
const remove = ({ db }: Side) => db('event_streams').delete();

export const STREAMS: Rows = {
  'stream.list': { names: 'own', input: () => NOTHING },
  'stream.create': { names: 'own', input: (_, n) => input(n), undo: remove },
  'stream.update': {
    names: 'own',
    input: async (side, n, root) => {
      await remove(side);
      return { id: await fresh(n, root), name: `renamed ${n}` };
    },
    undo: remove,
  },
  'stream.delete': {
    names: 'own',
    input: async (side, n, root) => {
      await remove(side);
      return { id: await fresh(n, root) };
    },
  },
  'stream.test': {
    names: 'own',
    input: async (side, n, root) => {
      await remove(side);
      return { id: await fresh(n, root) };
    },
    undo: remove,
  },
};
