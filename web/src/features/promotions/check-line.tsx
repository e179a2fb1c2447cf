import type { PullRequestCheck } from '../../../../schemas/api/delivery/pull-requests.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { CHECKS } from './promotion-text.ts';

type Shown = Pick<PullRequestCheck, 'state' | 'summary'>;

/** What a pull request would do to an environment, in a line. */
export const CheckLine = ({ check }: { check: Shown | null | undefined }) =>
  check ? (
    <span className="check-line">
      <Badge tone={CHECKS[check.state].tone}>{CHECKS[check.state].word}</Badge>
      <span className="check-summary">{check.summary}</span>
    </span>
  ) : (
    <Badge tone="unknown" tip="It was not planned yet">
      Not checked
    </Badge>
  );
