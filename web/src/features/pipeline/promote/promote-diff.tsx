import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { PromotionDiffs } from '../../../../../schemas/api/delivery/promotions.ts';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import { queries } from '../../../api/queries/index.ts';
import { Hunks } from '../../../ui/code/diff-hunks.tsx';
import { DiffLayout } from '../../../ui/code/lazy-code.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { fieldWord } from './promote-text.ts';

interface Props {
  pipelineId: string;
  target: EnvironmentSummary;
  name: string;
  isNew: boolean;
  /** A blocker is shown already: the comparison that fails for the same reason does not repeat it. */
  isBlocked: boolean;
  /** Number of the pull request that waits already: it is what would change. */
  waiting: number | undefined;
}

type Changed = PromotionDiffs['targets'][number];

/** What changes in the target: its manifest, and the config that engines get. */
export const PromoteDiff = ({ pipelineId, target, name, isNew, isBlocked, waiting }: Props) => {
  const diffs = useQuery({
    ...queries.promotionDiff(pipelineId, target.id, name),
    staleTime: 0,
    placeholderData: (before) => before,
  });
  if (diffs.isError && isBlocked) return null;
  return (
    <Loaded
      query={diffs}
      what={`What changes in ${target.name}`}
      skeleton={<SkeletonBlock height={isNew ? 340 : 240} label="Comparing the environments" />}
    >
      {({ targets }) => {
        const changed = targets.find(({ targetEnvironmentId }) => targetEnvironmentId === target.id);
        return changed ? <Changes changed={changed} waiting={waiting} /> : null;
      }}
    </Loaded>
  );
};

const SHOWN = [
  { value: 'manifest', word: 'Manifest' },
  { value: 'engine', word: 'Engine config' },
] as const;

export const Changes = ({ changed, waiting }: { changed: Changed } & Pick<Props, 'waiting'>) => {
  const { diff, engineDiff, conflicts, kept, targetEnvironmentName: where, targetName } = changed;
  const [wanted, setShown] = useState<'manifest' | 'engine'>('manifest');
  const shown = engineDiff === null ? 'manifest' : wanted;
  if (diff === '' && !engineDiff) {
    return (
      <Notice icon="check" tone="calm">
        {waiting === undefined
          ? `${targetName} is the same in ${where}: there is nothing to promote.`
          : `Pull request #${waiting} has it as it is: there is nothing new to promote.`}
      </Notice>
    );
  }
  return (
    <section className="deploy-part" aria-label={`What changes in ${where}`}>
      <header className="deploy-part-head">
        <h3>{changed.targetPipelineId ? `What changes in ${where}` : `${targetName} is new in ${where}`}</h3>
        <span className="cell-line">
          {engineDiff !== null && (
            <SegmentedControl label="What is compared" value={shown} options={SHOWN} onChange={setShown} />
          )}
          {changed.targetPipelineId && <DiffLayout />}
        </span>
      </header>
      <Merge conflicts={conflicts} kept={kept} where={where} />
      <div className="deploy-diff">
        {shown === 'engine' ? (
          <Hunks
            diff={engineDiff ?? ''}
            beforeLabel={`Engine config in ${where} now`}
            afterLabel={`Engine config in ${where} after the promotion`}
          />
        ) : diff === '' ? (
          <p className="section-body muted">The manifest stays as it is.</p>
        ) : (
          <Hunks
            diff={diff}
            beforeLabel={`Manifest in ${where} now`}
            afterLabel={`Manifest in ${where} after the promotion`}
          />
        )}
      </div>
    </section>
  );
};

const LIST = new Intl.ListFormat('en');

/** Who wins where both sides changed, and what does not travel. */
const Merge = ({ conflicts, kept, where }: Pick<Changed, 'conflicts' | 'kept'> & { where: string }) => (
  <>
    {conflicts.length > 0 && (
      <Notice icon="warning" tone="held">
        Changed here and in {where} since the last promotion, and the value of here wins:{' '}
        <span className="mono">{LIST.format(conflicts.map(fieldWord))}</span>. Read these lines with care.
      </Notice>
    )}
    {kept.length > 0 && (
      <p className="muted">
        Stays as {where} has it: <span className="mono">{LIST.format(kept.map(fieldWord))}</span>.
      </p>
    )}
  </>
);
