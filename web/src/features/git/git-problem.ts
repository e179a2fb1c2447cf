/** What is wrong between git and the environment now, by the harm that it does. */
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { paths } from '../../app/paths.ts';
import { plural, sentence } from '../../ui/text/format.ts';
import { type GitObject, isOwnable } from './git-object.ts';

/** The one thing to do about it. */
export type WrongAction =
  | { kind: 'sync' | 'resume' }
  | { kind: 'adopt'; object: GitObject }
  | { kind: 'look'; word: string; to: string };

export interface Wrong {
  key: string;
  tone: 'failed' | 'held';
  title: string;
  note: string;
  action: WrongAction;
}

/** What became of the manifest as a whole, in the word that machines have for it. */
export const appliedReason = ({ conditions }: Pick<ManifestStatus, 'conditions'>): string =>
  conditions.find(({ type }) => type === 'Applied')?.reason ?? '';

/** Reasons for which somebody or something is waited for, and the word for each. Nothing is wrong with the manifest itself. */
const WAITS: Record<string, string> = {
  Held: 'Held',
  Suspended: 'Suspended',
  Conflict: 'Conflict',
  Guarded: 'Waits',
  Blocked: 'Blocked',
  Observing: 'Observed',
  Drifted: 'Drifted',
  PruneWaits: 'Leaving',
  PruneRefused: 'Kept',
  HistoryRewritten: 'Leaving',
};

/** A word for what is kept back; null where nothing keeps it. */
export const keptBackWord = (manifest: Pick<ManifestStatus, 'conditions'>): string | null =>
  WAITS[appliedReason(manifest)] ?? null;

/** The same word for a reason of a plan. */
export const reasonWord = (reason: string): string => WAITS[reason] ?? reason;

/** By its own manifest, where it is resumed too. */
export const isSuspendedInGit = ({ conditions }: Pick<ManifestStatus, 'conditions'>): boolean =>
  conditions.some(
    ({ type, reason, message }) =>
      type === 'Applied' && reason === 'Suspended' && message.startsWith('spec.suspend'),
  );

/** Manifests of kinds that git does not own here. */
export const isOnlyRead = (manifest: Pick<ManifestStatus, 'conditions'>): boolean =>
  appliedReason(manifest) === 'NotOwned';

/** Kept although its manifest left git. */
export const waitsForDeletion = (manifest: ManifestStatus): boolean =>
  ['PruneWaits', 'HistoryRewritten'].includes(appliedReason(manifest));

const MAX_NAMED = 3;

function named(manifests: readonly ManifestStatus[]): string {
  const names = manifests.slice(0, MAX_NAMED).map(({ name }) => name);
  const rest = manifests.length - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ');
}

/** The worst first. Unreadable files have a text of their own. */
export function whatIsWrong(status: GitSyncStatus): Wrong[] {
  const env = status.environmentId;
  const by = (...reasons: string[]): ManifestStatus[] =>
    status.manifests.filter((manifest) => reasons.includes(appliedReason(manifest)));
  const found: Wrong[] = [];
  const add = (wrong: Wrong): void => void found.push(wrong);
  const look = (word: string, to: string): WrongAction => ({ kind: 'look', word, to });

  const plan = status.waitingPlan;
  if (plan) {
    const why = plan.guards.filter(({ exceeded }) => exceeded).map(({ message }) => message);
    add({
      key: 'plan',
      tone: 'held',
      title: status.waitsForFirstPlan ? 'The first plan waits for an ADMIN' : 'A plan waits for an ADMIN',
      note:
        why.length > 0
          ? sentence(`It ${why.join('; it ')}`)
          : 'Nothing of it is applied before somebody approves it.',
      action: look('Look at the plan', paths.git(env, { tab: 'plan' })),
    });
  }
  if (status.importErrorCount > 0) {
    add({
      key: 'refused',
      tone: 'failed',
      title: `${plural(status.importErrorCount, 'problem')} in manifests`,
      note: 'What they describe keeps its last good state, and nothing is deleted meanwhile.',
      action: look('See where', `${paths.git(env)}#import-errors`),
    });
  }
  const failed = by('ApplyFailed', 'Blocked');
  if (failed.length > 0) {
    add({
      key: 'failed',
      tone: 'failed',
      title: `${plural(failed.length, 'manifest')} could not be applied`,
      note: named(failed),
      action: look('See why', paths.git(env, { focus: failed[0]?.path })),
    });
  }
  const conflicts = by('Conflict');
  const [conflict] = conflicts;
  if (conflict) {
    const alone = conflicts.length === 1 && isOwnable(conflict.kind) ? conflict.kind : null;
    add({
      key: 'conflict',
      tone: 'held',
      title: `${plural(conflicts.length, 'manifest')} ${conflicts.length === 1 ? 'has' : 'have'} the name of something that the UI owns`,
      note: `${named(conflicts)}: left alone until adopted or renamed.`,
      action: alone
        ? { kind: 'adopt', object: { kind: alone, name: conflict.name } }
        : look('See which', paths.git(env, { q: 'Conflict' })),
    });
  }
  const leaving = status.manifests.filter(waitsForDeletion);
  if (leaving.length > 0) {
    add({
      key: 'prune',
      tone: 'held',
      title: `${plural(leaving.length, 'object')} left git and ${leaving.length === 1 ? 'waits' : 'wait'} to be deleted`,
      note: `${named(leaving)}: kept and running.`,
      action: look('See what waits', paths.git(env, { tab: 'holds' })),
    });
  }
  const held = by('Held');
  if (held.length > 0) {
    add({
      key: 'held',
      tone: 'held',
      title: `${plural(held.length, 'object')} ${held.length === 1 ? 'is' : 'are'} held`,
      note: `${named(held)}: what git says of ${held.length === 1 ? 'it' : 'them'} is not applied.`,
      action: look('See the holds', paths.git(env, { tab: 'holds' })),
    });
  }
  if (status.suspension) {
    const { by: who, reason } = status.suspension;
    add({
      key: 'suspended',
      tone: 'held',
      title: `The loop is suspended${who ? ` by ${who}` : ''}`,
      note: `${reason ? sentence(reason) : 'No reason was given.'} Nothing of git is applied before it is resumed.`,
      action: { kind: 'resume' },
    });
  }
  // While all of it is suspended, each of them says so as well.
  const suspended = status.suspension ? [] : by('Suspended');
  if (suspended.length > 0) {
    add({
      key: 'suspended-objects',
      tone: 'held',
      title: `${plural(suspended.length, 'object')} ${suspended.length === 1 ? 'is' : 'are'} suspended`,
      note: `${named(suspended)}: git leaves ${suspended.length === 1 ? 'it' : 'them'} alone.`,
      action: look('See who and why', paths.git(env, { tab: 'holds' })),
    });
  }
  const drifted = by('Drifted');
  if (drifted.length > 0) {
    add({
      key: 'drifted',
      tone: 'held',
      title: `${plural(drifted.length, 'object')} ${drifted.length === 1 ? 'was' : 'were'} changed past git`,
      note: `${named(drifted)}: reported and left so, because selfHeal is off.`,
      action: look('See the drift', paths.git(env, { tab: 'drift' })),
    });
  }
  return found;
}
