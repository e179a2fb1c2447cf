import type { Promotion } from '../../../../schemas/api/promotions.ts';
import type { PullRequestSummary } from '../../../../schemas/api/pull-requests.ts';
import { Badge, type Tone } from '../../components/bits.tsx';
import { standingOf, statusInWords } from './words.ts';

/** What is over, or not begun, is not unknown: a dash instead of the question mark. */
const Standing = ({ tone, word, tip }: { tone: Tone; word: string; tip?: string }) => (
  <Badge tone={tone} icon={tone === 'unknown' ? 'dash' : undefined} tip={tip}>
    {word}
  </Badge>
);

export const StandingBadge = ({
  pull,
}: {
  pull: Pick<PullRequestSummary, 'state' | 'isDraft' | 'mergeable'>;
}) => <Standing {...standingOf(pull)} />;

export const PromotionBadge = ({ promotion }: { promotion: Promotion }) => (
  <Standing {...statusInWords(promotion)} tip={promotion.note ?? undefined} />
);
