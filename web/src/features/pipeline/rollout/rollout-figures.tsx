import { Stack } from '@mantine/core';
import type { RolloutFigures, RolloutSummary } from '../../../../../schemas/api/delivery/rollouts.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatCount, formatPercent, sentence } from '../../../ui/text/format.ts';
import { VERDICTS } from './rollout-text.ts';

const rate = (share: number | null): string => (share === null ? '–' : formatPercent(share));

const ROWS: readonly { title: string; of: (figures: RolloutFigures) => string }[] = [
  { title: 'Nodes', of: ({ nodes }) => nodes.toLocaleString('en') },
  { title: 'Events in', of: ({ eventsIn }) => formatCount(eventsIn) },
  { title: 'Events out', of: ({ eventsOut }) => formatCount(eventsOut) },
  { title: 'Errors', of: ({ errors }) => formatCount(errors) },
  { title: 'Discarded', of: ({ discarded }) => formatCount(discarded) },
  { title: 'Error rate', of: ({ errorRate }) => rate(errorRate) },
  { title: 'Crashes', of: ({ crashes }) => crashes.toLocaleString('en') },
];

/** Canary against the others since the window began, and what the figures say. */
export const Figures = ({ verdict }: Pick<RolloutSummary, 'verdict'>) => {
  if (!verdict) {
    return (
      <p className="muted">
        Figures of the canary and of the others stand here side by side once the window has begun.
      </p>
    );
  }
  const { tone, word } = VERDICTS[verdict.verdict];
  return (
    <Stack gap="md">
      <p className="watch-line">
        <Badge tone={tone}>{word}</Badge> <span>{sentence(verdict.message)}</span>{' '}
        <span className="muted">
          <Time at={verdict.at} />
        </span>
      </p>
      <table className="table figures">
        <caption className="sr-only">Canary against the other nodes, since the window began</caption>
        <thead>
          <tr>
            <th scope="col">In the window</th>
            <th scope="col" data-align="end">
              Canary
            </th>
            <th scope="col" data-align="end">
              Others
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(({ title, of }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td data-align="end" className="mono">
                {of(verdict.canary)}
              </td>
              <td data-align="end" className="mono">
                {of(verdict.control)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Stack>
  );
};
