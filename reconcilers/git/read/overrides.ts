/** What operators have decided about an environment's objects and plans, by identity: kind and folded name. */
import type { StoredOperatorInput } from '../../../controller/delivery/bindings/index.ts';
import { identityOf } from './identity.ts';

export interface Override {
  reason: string;
  by: string;
  at: Date;
}

export interface Hold extends Override {
  id: string;
  specHash: string;
}

export type OverrideAction = 'adopt' | 'suspend' | 'prune';

export interface OperatorInput {
  overrides: ReadonlyMap<string, Partial<Record<OverrideAction, Override>>>;
  /** By identity, then by the hash of the spec. */
  holds: ReadonlyMap<string, ReadonlyMap<string, Hold>>;
  /** Hashes of the plans that an ADMIN has approved. */
  approved: ReadonlySet<string>;
  /** Approved plans that a pass has begun to carry out, with the actions that were approved (`plan-hash.ts`). */
  begun: readonly { hash: string; actions: ReadonlySet<string> }[];
}

export const NO_OPERATOR_INPUT: OperatorInput = {
  overrides: new Map(),
  holds: new Map(),
  approved: new Set(),
  begun: [],
};

/** A live object that git does not own. */
export interface UiObject {
  kind: string;
  id: string;
  name: string;
  nameKey: string;
  uid: string | null;
}

export function operatorInputOf({ overrides, holds, approvals }: StoredOperatorInput): OperatorInput {
  const byIdentity = new Map<string, Partial<Record<OverrideAction, Override>>>();
  for (const { action, reason, by, at, ...of } of overrides) {
    const key = identityOf(of);
    byIdentity.set(key, { ...byIdentity.get(key), [action]: { reason, by, at } });
  }
  const held = new Map<string, Map<string, Hold>>();
  for (const { id, specHash, reason, by, at, ...of } of holds) {
    const key = identityOf(of);
    const ofOne = held.get(key) ?? new Map<string, Hold>();
    held.set(key, ofOne.set(specHash, { id, specHash, reason, by, at }));
  }
  return {
    overrides: byIdentity,
    holds: held,
    approved: new Set(approvals.map(({ hash }) => hash)),
    begun: approvals.flatMap(({ hash, begunActions }) =>
      begunActions ? [{ hash, actions: new Set(begunActions) }] : [],
    ),
  };
}
