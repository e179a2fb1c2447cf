/** What operators have said about an environment's objects, as a plan looks at it. By identity: kind and folded name. */

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

export type OverrideName = 'adopt' | 'suspend' | 'prune';

export interface OperatorInput {
  words: ReadonlyMap<string, Partial<Record<OverrideName, Override>>>;
  /** Within an identity by the hash of the spec. */
  holds: ReadonlyMap<string, ReadonlyMap<string, Hold>>;
  /** Hashes of the plans that an ADMIN has approved. */
  approved: ReadonlySet<string>;
  /** Those of them that a pass has begun to carry out, with all that was approved (`deeds.ts`). */
  begun: readonly { hash: string; deeds: ReadonlySet<string> }[];
}

export const NO_OPERATOR_INPUT: OperatorInput = {
  words: new Map(),
  holds: new Map(),
  approved: new Set(),
  begun: [],
};

/** A living object that git does not own. */
export interface UiObject {
  kind: string;
  id: string;
  name: string;
  nameKey: string;
  uid: string | null;
}

export function operatorInputOf({ words, holds, approvals }: StoredOperatorInput): OperatorInput {
  const byIdentity = new Map<string, Partial<Record<OverrideName, Override>>>();
  for (const { word, reason, by, at, ...of } of words) {
    const key = identityOf(of);
    byIdentity.set(key, { ...byIdentity.get(key), [word]: { reason, by, at } });
  }
  const held = new Map<string, Map<string, Hold>>();
  for (const { id, specHash, reason, by, at, ...of } of holds) {
    const key = identityOf(of);
    const ofOne = held.get(key) ?? new Map<string, Hold>();
    held.set(key, ofOne.set(specHash, { id, specHash, reason, by, at }));
  }
  return {
    words: byIdentity,
    holds: held,
    approved: new Set(approvals.map(({ hash }) => hash)),
    begun: approvals.flatMap(({ hash, begun }) => (begun ? [{ hash, deeds: new Set(begun) }] : [])),
  };
}
