/** Shared by the `converge` operations of all kinds: they make rows match the manifests of one commit. */
import Type, { type Static } from 'typebox';
import type { MutationContext } from '../../platform/operation/context.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { type ColumnTypes, lockClaimed, type OwnedRow, type OwnedTable, writeOwned } from './store.ts';

export const Commit = Type.Object({
  sha: Type.String(),
  author: Type.String(),
  subject: Type.String(),
  message: Type.String(),
});

/** One manifest. Its `Spec` was checked by its own schema before. */
export const convergeInput = <Spec>() =>
  Type.Object({
    environmentId: Type.String(),
    commit: Commit,
    items: Type.Array(
      Type.Object({
        /** The row of this identity; null when git has not applied it before. */
        objectId: Type.Union([Type.String(), Type.Null()]),
        name: Type.String(),
        uid: Type.Union([Type.String(), Type.Null()]),
        labels: Type.Unsafe<Record<string, string>>({ type: 'object' }),
        spec: Type.Unsafe<Spec>({ type: 'object' }),
        specHash: Type.String(),
        path: Type.String(),
      }),
    ),
  });

export const OUTCOMES = ['created', 'changed', 'restored'] as const;

/** In the order of the items. */
export const Converged = Type.Array(
  Type.Object({
    objectId: Type.String(),
    outcome: Type.Enum([...OUTCOMES]),
    /** The newest version; null for kinds without versions. */
    version: Type.Union([Type.Integer(), Type.Null()]),
    /** Whether that version goes to some nodes first; absent for kinds without rollouts. */
    canary: Type.Optional(Type.Boolean()),
  }),
);
export type Converged = Static<typeof Converged>;

export const outcomeOf = (row: { tombstonedAt: Date | null } | null): (typeof OUTCOMES)[number] =>
  row === null ? 'created' : row.tombstonedAt === null ? 'changed' : 'restored';

/** For kinds whose objects are one row, without versions. */
export function convergeOperation<Spec>(of: {
  /** The operation's name, for example `alert.converge`. */
  name: string;
  /** The prefix of the audit actions: `alertRule` makes `alertRule.created`. */
  noun: string;
  entityType: string;
  table: OwnedTable;
  types: ColumnTypes;
  /** The columns of the kind, in the order of the specs. `rows` are the objects as they are; null for one that is created. */
  columns(
    ctx: MutationContext,
    environmentId: string,
    specs: readonly Spec[],
    rows: readonly (OwnedRow | null)[],
  ): Promise<Record<string, unknown>[]> | Record<string, unknown>[];
  changed(ctx: MutationContext, environmentId: string): Promise<void>;
}) {
  return mutation({
    name: of.name,
    summary: `Make each ${of.entityType} what its manifest says`,
    role: 'EDITOR',
    audit: `${of.noun}.converged`,
    input: convergeInput<Spec>(),
    output: Converged,
    scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
    async run(ctx, { environmentId, items }) {
      const rows = await lockClaimed(ctx.db, of.table, environmentId, items);
      const columns = await of.columns(
        ctx,
        environmentId,
        items.map(({ spec }) => spec),
        rows,
      );
      const writes = items.map(({ name, uid, labels, specHash }, index) => ({
        row: rows[index] ?? null,
        newId: newId(),
        name,
        uid,
        labels,
        specHash,
        columns: columns[index] ?? {},
      }));
      await writeOwned(ctx.db, of.table, environmentId, of.types, writes);
      await of.changed(ctx, environmentId);
      return writes.map(({ row, newId, name }, index) => {
        const outcome = outcomeOf(row);
        const objectId = row?.id ?? newId;
        ctx.audit({
          action: `${of.noun}.${outcome}`,
          entityType: of.entityType,
          entityId: objectId,
          environmentId,
          ...(row && row.name !== name ? { diff: { name: [row.name, name] } } : {}),
          metadata: { path: items[index]?.path, name },
        });
        return { objectId, outcome, version: null };
      });
    },
  });
}
