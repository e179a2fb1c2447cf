/** Repositories of a context in which the one of a bound environment stands for all, and nothing is fetched. */
import type { Services } from '../../../controller/platform/operation/context.ts';

export const localRepositories = (gitdir: string): Services['repositories'] => ({
  of: () => ({
    ...{ gitdir, kind: 'embedded' as const },
    fetch: async () => ({ moved: false }),
    push: async () => 'ok' as const,
    remove: async () => 'ok' as const,
    heads: async () => new Map(),
    meet: async () => new Map(),
    redirectedTo: () => null,
    distrust: () => {},
    serialize: (_branch, write) => write(),
  }),
  sweep: async () => {},
});
