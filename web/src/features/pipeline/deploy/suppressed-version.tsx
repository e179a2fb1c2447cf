import { Link } from 'react-router';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { type GitTab, paths } from '../../../app/paths.ts';
import { Banner } from '../../../ui/feedback/banner.tsx';
import { sentence } from '../../../ui/text/format.ts';

/** Reasons of the condition Applied, each with where the matter is settled. */
const REASONS: Record<string, { title: string; tab: GitTab; word: string }> = {
  Held: { title: 'Git’s version is held', tab: 'holds', word: 'Look at the hold' },
  Suspended: { title: 'Git leaves it alone', tab: 'holds', word: 'Look at the suspension' },
  Guarded: { title: 'What git has waits for an ADMIN', tab: 'plan', word: 'Look at the plan' },
  Drifted: { title: 'It was changed past git', tab: 'drift', word: 'Look at the drift' },
  PruneWaits: { title: 'Its manifest left git', tab: 'holds', word: 'Look at what waits' },
  HistoryRewritten: { title: 'Its manifest left git', tab: 'holds', word: 'Look at what waits' },
};

/** Why what runs is not what git has, where somebody or something keeps git back. */
export const KeptBack = ({ pipeline }: { pipeline: Pipeline }) => {
  const applied = pipeline.git?.conditions.find(({ type }) => type === 'Applied');
  const reason = applied && REASONS[applied.reason];
  if (!applied || !reason) return null;
  const to = paths.git(pipeline.environmentId, {
    tab: reason.tab,
    focus: `Pipeline/${pipeline.name}`,
  });
  return (
    <Banner tone="held" title={reason.title}>
      <p>
        {sentence(applied.message)} <Link to={to}>{reason.word}</Link>
      </p>
    </Banner>
  );
};
