import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import type { PullRequestSummary } from '../../../../schemas/api/delivery/pull-requests.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { pullRequestBadge, statusText } from './promotion-text.ts';

/** What is over, or not begun, is not unknown: a dash instead of the question mark. */
const BadgeWith = ({ tone, word, tip }: { tone: Tone; word: string; tip?: string }) => (
  <Badge tone={tone} icon={tone === 'unknown' ? 'dash' : undefined} tip={tip}>
    {word}
  </Badge>
);

export const PullRequestBadge = ({
  pull,
}: {
  pull: Pick<PullRequestSummary, 'state' | 'isDraft' | 'mergeable'>;
}) => <BadgeWith {...pullRequestBadge(pull)} />;

export const PromotionBadge = ({ promotion }: { promotion: Promotion }) => (
  <BadgeWith {...statusText(promotion)} tip={promotion.note ?? undefined} />
);
