/** Kinds whose objects are one row each, and whose manifests need few checks beside schema and references. */
import type { Converged } from '../../controller/delivery/ownership/index.ts';
import type { Operation } from '../../controller/platform/operation/operation.ts';
import type { DesiredManifest } from '../source/index.ts';
import { type CheckContext, type CheckResult, type Kind, type Reference, toCommit, toItem } from './kind.ts';

export function flatKind(of: {
  kind: Kind['kind'];
  table: Kind['table'];
  order: number;
  references?: (manifest: DesiredManifest) => readonly Reference[];
  /** The result of applying, for the report. */
  describe(manifest: DesiredManifest): string;
  /** What neither the schema nor references can say. */
  check?: (manifest: DesiredManifest, check: CheckContext) => Pick<CheckResult, 'problems' | 'notes'>;
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
    check: async (_ctx, manifest, check) => ({
      ...{ detail: 'checked: schema, references', unknown: [], tests: [] },
      ...(of.check?.(manifest, check) ?? { problems: [], notes: [] }),
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
