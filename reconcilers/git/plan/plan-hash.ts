/** What a plan would do, in texts that can be kept and compared: for its hash, and for what an approval is about. */
import { createHash } from 'node:crypto';
import { KINDS } from '../../kinds/index.ts';
import { identityOf } from '../read/identity.ts';
import type { OperatorInput } from '../read/overrides.ts';
import { acts, applies, type Change } from './change.ts';
import { metaOf } from './meta.ts';

const NO_OBJECT = '-';

/** Equal deeds do the same to the same object. Null for a change that does nothing. */
function deedOf(change: Change): string | null {
  if (!acts(change)) return null;
  if (applies(change)) {
    const object = change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? NO_OBJECT);
    return deedOn(change, change.action, object);
  }
  const { previous } = change;
  if (!previous) return null;
  return `${change.action} ${identityOf(previous)} ${previous.appliedHash} ${previous.objectId ?? NO_OBJECT}`;
}

type OfManifest = Extract<Change, { manifest: object }>;

const deedOn = ({ manifest }: OfManifest, action: string, object: string): string =>
  `${action} ${identityOf(manifest)} ${manifest.hash} ${metaOf(manifest)} ${object}`;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Names what the changes do: equal hashes do the same, in the same order. */
export const hashOf = (changes: readonly Change[]): string =>
  digestOf(changes.flatMap((change) => deedOf(change) ?? []).join('\n'));

/** One for each change that does something, to be kept with an approval. */
export const actionsOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => {
    const deed = deedOf(change);
    return deed === null ? [] : [digestOf(deed)];
  });

/**
 * The hash under which an ADMIN has approved these changes; null where nobody has. Exactly that plan is approved, or
 * what is left of it where a pass has begun to carry it out and was killed: then each change has to be one of those
 * that were approved.
 */
export function approvalOf(
  { approved, begun }: Pick<OperatorInput, 'approved' | 'begun'>,
  changes: readonly Change[],
  hash: string,
): string | null {
  if (approved.has(hash)) return hash;
  const rest = begun.find(({ deeds }) => changes.every((change) => isAmong(deeds, change)));
  return rest?.hash ?? null;
}

function isAmong(deeds: ReadonlySet<string>, change: Change): boolean {
  const deed = deedOf(change);
  if (deed === null || deeds.has(digestOf(deed))) return true;
  if (change.action !== 'update' || !isUnrecorded(change)) return false;
  const wasDue = [
    deedOn(change, 'create', NO_OBJECT),
    deedOn(change, 'adopt', change.previous.objectId ?? NO_OBJECT),
  ];
  return wasDue.some((one) => deeds.has(digestOf(one)));
}

/** The pass that was killed has made it already, and did not live to record it. */
const isUnrecorded = ({ manifest, previous }: Extract<Change, { action: 'update' }>): boolean =>
  previous.appliedHash === null &&
  previous.objectName === manifest.name &&
  previous.objectHash === manifest.hash &&
  previous.objectDeployed === KINDS.get(manifest.kind)?.deployed(manifest);
