/** Kinds whose objects are one row each, and whose manifests need no checks but schema and references. */
import type { Converged } from '../../controller/delivery/ownership/index.ts';
import type { Operation } from '../../controller/platform/operation/operation.ts';
import type { DesiredManifest } from '../source/index.ts';
import { type Kind, type Reference, toCommit, toItem } from './kind.ts';

export function flatKind(of: {
  kind: Kind['kind'];
  table: Kind['table'];
  order: number;
  references?: (manifest: DesiredManifest) => readonly Reference[];
  /** The result of applying, for the report. */
  describe(manifest: DesiredManifest): string;
  converge: Operation;
  prune: Operation;
}): Kind {
  return {
    kind: of.kind,
    table: of.table,
    order: of.order,
    references: of.references ?? (() => []),
    suspended: () => false,
    deployed: () => true,
    editorData: () => null,
    check: async () => ({
      problems: [],
      detail: 'checked: schema, references',
      notes: [],
      unknown: [],
      tests: [],
    }),
    async apply({ ctx, execute, environmentId, items, commit }) {
      const done = (await execute(of.converge, ctx, {
        environmentId,
        commit: toCommit(commit),
        items: items.map(toItem),
      })) as Converged;
      return done.map((result, index) => ({ ...result, detail: of.describe(items[index]!.manifest) }));
    },
    async prune({ ctx, execute, environmentId, objectId }) {
      await execute(of.prune, ctx, { environmentId, objectId });
    },
  };
}
