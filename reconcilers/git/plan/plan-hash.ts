/** The actions of a plan as texts that can be stored and compared: for its hash, and for approvals. */
import { createHash } from 'node:crypto';
import { KINDS } from '../../kinds/index.ts';
import { identityOf } from '../read/identity.ts';
import type { OperatorInput } from '../read/overrides.ts';
import { acts, applies, type Change } from './change.ts';
import { metaOf } from './meta.ts';

const NO_OBJECT = '-';

/** Equal texts do the same to the same object. Null for a change without an action. */
function actionText(change: Change): string | null {
  if (!acts(change)) return null;
  if (applies(change)) {
    const object = change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? NO_OBJECT);
    return manifestAction(change, change.action, object);
  }
  const { previous } = change;
  if (!previous) return null;
  return `${change.action} ${identityOf(previous)} ${previous.appliedHash} ${previous.objectId ?? NO_OBJECT}`;
}

type OfManifest = Extract<Change, { manifest: object }>;

const manifestAction = ({ manifest }: OfManifest, action: string, object: string): string =>
  `${action} ${identityOf(manifest)} ${manifest.hash} ${metaOf(manifest)} ${object}`;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Equal hashes stand for the same actions in the same order. */
export const hashOf = (changes: readonly Change[]): string =>
  digestOf(changes.flatMap((change) => actionText(change) ?? []).join('\n'));

/** Digests of the actions, to be stored with an approval. */
export const actionsOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => {
    const text = actionText(change);
    return text === null ? [] : [digestOf(text)];
  });

/**
 * The hash under which an ADMIN has approved these changes; null where nobody has. An approval covers exactly one plan, or
 * what is left of it after a pass that was killed while it carried the plan out: then each change must be an approved one.
 */
export function approvalOf(
  { approved, begun }: Pick<OperatorInput, 'approved' | 'begun'>,
  changes: readonly Change[],
  hash: string,
): string | null {
  if (approved.has(hash)) return hash;
  const rest = begun.find(({ actions }) => changes.every((change) => isApproved(actions, change)));
  return rest?.hash ?? null;
}

function isApproved(actions: ReadonlySet<string>, change: Change): boolean {
  const text = actionText(change);
  if (text === null || actions.has(digestOf(text))) return true;
  if (change.action !== 'update' || !isUnrecorded(change)) return false;
  const earlier = [
    manifestAction(change, 'create', NO_OBJECT),
    manifestAction(change, 'adopt', change.previous.objectId ?? NO_OBJECT),
  ];
  return earlier.some((one) => actions.has(digestOf(one)));
}

/** The killed pass has written the object without recording it. */
const isUnrecorded = ({ manifest, previous }: Extract<Change, { action: 'update' }>): boolean =>
  previous.appliedHash === null &&
  previous.objectName === manifest.name &&
  previous.objectHash === manifest.hash &&
  previous.objectDeployed === KINDS.get(manifest.kind)?.deployed(manifest);
