import { Progress, Stack } from '@mantine/core';
import '@mantine/core/styles/Progress.css';
import { useQuery } from '@tanstack/react-query';
import type { AiUsage } from '../../../../../schemas/api/pipelines/assistant.ts';
import { assistantQueries } from '../../../api/queries/assistant.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';

/** What the team has used of its limits, and who used it. */
export const UsageSection = ({ teamId }: { teamId: string }) => {
  const usage = useQuery(assistantQueries.usage(teamId));
  return (
    <Section title="Usage">
      <Loaded query={usage} what="The usage" skeleton={<SkeletonRows rows={4} label="Loading the usage" />}>
        {(data) => (
          <>
            <Stack className="section-body" gap="md">
              <UsageBar label="Tokens of the team today" {...data.day} />
              <UsageBar label="Tokens of the team this month" {...data.month} />
              <UsageBar label="Your questions in the last hour" {...data.requests} />
            </Stack>
            <UsageTable entries={data.entries} />
          </>
        )}
      </Loaded>
    </Section>
  );
};

interface BarProps {
  label: string;
  used: number;
  limit: number | null;
  resetsAt?: Date;
}

/** From this part of a limit on, it is nearly used up. */
const NEAR = 0.8;

const UsageBar = ({ label, used, limit, resetsAt }: BarProps) => {
  const part = limit ? Math.min(1, used / limit) : 0;
  const text =
    limit === null
      ? used.toLocaleString('en')
      : `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`;
  return (
    <div>
      <div className="tab-head">
        <span>{label}</span>
        <span className="mono">
          {text}
          {part >= 1 && ', used up'}
        </span>
      </div>
      <Progress
        value={part * 100}
        color={part >= 1 ? 'failed' : part >= NEAR ? 'held' : 'ok'}
        aria-label={`${label}: ${text}`}
      />
      {resetsAt && part >= NEAR && (
        <p className="muted">
          Free again <Time at={resetsAt} />.
        </p>
      )}
    </div>
  );
};

const UsageTable = ({ entries }: { entries: AiUsage['entries'] }) =>
  entries.length === 0 ? (
    <p className="section-body muted">Nobody has asked anything in the last 31 days.</p>
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it.
    <section className="usage-table" aria-label="Usage by day and user" tabIndex={0}>
      <table className="table table-ruled">
        <caption className="sr-only">Usage by day and user</caption>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">User</th>
            <th scope="col" data-align="end">
              Questions
            </th>
            <th scope="col" data-align="end">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ day, userId, userName, requests, inputTokens, outputTokens }) => (
            <tr key={`${day} ${userId}`}>
              <td className="mono">{day}</td>
              <td>{userName ?? 'A user who was deleted'}</td>
              <td data-align="end">{requests.toLocaleString('en')}</td>
              <td data-align="end">{(inputTokens + outputTokens).toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
