import { useState } from 'react';
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { type GitObject, isOwnable } from './git-object.ts';
import { appliedReason, isSuspendedInGit, waitsForDeletion } from './git-problem.ts';
import { AdoptDialog, ConfirmPruneDialog, HoldDialog, SuspendDialog } from './overrides/override-dialogs.tsx';
import { useResume } from './overrides/override-mutations.ts';
import { PlaceLink } from './source-link.tsx';

type Word = 'adopt' | 'hold' | 'prune' | 'suspend';

interface Props {
  status: GitSyncStatus;
  manifest: ManifestStatus;
}

/** What may be said of one object. Only what changes something as it stands now is offered. */
export const ManifestActions = ({ status, manifest }: Props) => {
  const { team } = usePlace();
  const [word, setWord] = useState<Word | null>(null);
  const resume = useResume(status.environmentId);
  const { kind, name } = manifest;
  if (!isOwnable(kind)) return null;
  const object: GitObject = { kind, name };
  const reason = appliedReason(manifest);
  const leaves = waitsForDeletion(manifest);
  // What the manifest itself suspends is resumed in git, and all of it at once above.
  const isSuspendedHere = reason === 'Suspended' && !status.suspended && !isSuspendedInGit(manifest);
  // Git has no spec of it that could be held.
  const isBroken = manifest.conditions.some(
    ({ type, status: holds }) => (type === 'Parsed' || type === 'Validated') && holds === 'False',
  );
  const close = (): void => setWord(null);
  const button = (label: string, act: () => void, needs: 'EDITOR' | 'ADMIN' = 'EDITOR') => {
    const mayNot = whyNot(team.role, needs);
    return (
      <Button size="small" disabled={mayNot !== null} tip={mayNot ?? undefined} onClick={act}>
        {label}
        <span className="sr-only"> {name}</span>
      </Button>
    );
  };
  const props = { env: status.environmentId, object, close };
  return (
    <div className="manifest-actions">
      <span className="manifest-place">
        <PlaceLink status={status} path={manifest.path} line={manifest.line} commit={manifest.seenCommit} />
      </span>
      {reason === 'Conflict' && button('Adopt…', () => setWord('adopt'))}
      {leaves && button('Delete…', () => setWord('prune'), 'ADMIN')}
      {!leaves &&
        !isBroken &&
        !['Conflict', 'Held'].includes(reason) &&
        button('Hold…', () => setWord('hold'))}
      {isSuspendedHere
        ? button('Resume', () => resume.mutate(object))
        : !leaves && reason !== 'Suspended' && button('Suspend…', () => setWord('suspend'))}
      {word === 'adopt' && <AdoptDialog {...props} />}
      {word === 'hold' && <HoldDialog {...props} />}
      {word === 'prune' && <ConfirmPruneDialog {...props} />}
      {word === 'suspend' && (
        <SuspendDialog env={status.environmentId} manifests={[manifest]} isAllSuspended close={close} />
      )}
    </div>
  );
};
