import { Diff } from './lazy-code.tsx';
import { hunksOf } from './unified-diff.ts';

interface Props {
  /** Unified, as the server tells it. */
  diff: string;
  /** What the texts are, for those who do not see them. */
  beforeLabel: string;
  afterLabel: string;
}

/** The hunks of a unified diff, one under the other, with the numbers of their lines. */
export const Hunks = ({ diff, beforeLabel, afterLabel }: Props) =>
  hunksOf(diff).map((hunk) => (
    <Diff
      key={`${hunk.beforeLine} ${hunk.afterLine}`}
      beforeLabel={beforeLabel}
      afterLabel={afterLabel}
      {...hunk}
    />
  ));
