/** Open events of the environment, those that need somebody first. */
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'react-router';
import type { AlertEvent, AlertRule } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries, LISTED_OPEN } from '../../../api/queries/alerts.ts';
import { queries } from '../../../api/queries/index.ts';
import { useHotkeys } from '../../../app/hotkeys.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { NoRules } from '../rules/no-rules.tsx';
import { watchedText } from '../rules/watched-text.ts';
import type { EventAction } from './event-actions.tsx';
import { EventList } from './event-list.tsx';
import { EVENT_STATES, groupOpen } from './event-text.ts';

interface Props {
  act: (action: EventAction) => void;
}

export const FiringTab = ({ act }: Props) => {
  const { environment } = usePlace();
  const open = useQuery(alertQueries.open(environment.id));
  return (
    <Loaded query={open} what="Alerts" skeleton={<SkeletonRows rows={8} label="Loading alerts" />}>
      {({ events, nextCursor }) =>
        events.length === 0 ? (
          <NothingFires env={environment.id} />
        ) : (
          <OpenEvents events={events} isCut={nextCursor !== null} act={act} />
        )
      }
    </Loaded>
  );
};

interface OpenProps extends Props {
  events: readonly AlertEvent[];
  isCut: boolean;
}

const OpenEvents = ({ events, isCut, act }: OpenProps) => {
  const { environment } = usePlace();
  const frame = useRef<HTMLDivElement>(null);
  const walk = (step: number): void => {
    const links = [...(frame.current?.querySelectorAll<HTMLElement>('.alert-event-link') ?? [])];
    const from = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
    const to = from === -1 ? 0 : from + step;
    links[Math.min(Math.max(to, 0), links.length - 1)]?.focus();
  };
  useHotkeys({ j: () => walk(1), k: () => walk(-1) });
  return (
    <Stack gap="md" ref={frame}>
      {isCut && (
        <Notice icon="alerts">
          These are the newest {LISTED_OPEN}.{' '}
          <Link to={paths.alerts(environment.id, { tab: 'history', status: 'open' })}>History</Link> has all.
        </Notice>
      )}
      {groupOpen(events).map((group) => {
        const { word } = EVENT_STATES[group.state];
        return (
          <Section
            key={group.state}
            title={word}
            beside={<span className="muted">{plural(group.events.length, 'alert')}</span>}
          >
            <EventList label={`${word} alerts`} events={group.events} act={act} />
          </Section>
        );
      })}
    </Stack>
  );
};

/** How far the calm can be trusted. */
const NothingFires = ({ env }: { env: string }) => {
  const rules = useQuery(queries.alertRules(env));
  return (
    <Loaded query={rules} what="Alert rules" skeleton={<SkeletonRows rows={8} label="Loading alert rules" />}>
      {(list) => (list.length === 0 ? <NoRules /> : <Calm env={env} rules={list} />)}
    </Loaded>
  );
};

const Calm = ({ env, rules }: { env: string; rules: readonly AlertRule[] }) => {
  const { watching, unable } = watchedText(rules);
  return (
    <EmptyState icon={unable === '' ? 'check' : 'alerts'} title="Nothing is firing">
      <p>{watching}</p>
      {unable !== '' && (
        <p>
          <Link to={paths.alerts(env, { tab: 'rules' })}>{unable}</Link>
        </p>
      )}
    </EmptyState>
  );
};
