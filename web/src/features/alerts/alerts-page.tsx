/** What fires, what has fired, the rules, what is silenced, and where alerts are sent to. */
import './alerts.css';
import { type ReactNode, useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { type AlertsTab, paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { EndpointsTab } from '../notifications/endpoints-tab.tsx';
import { AcknowledgeDialog } from './events/acknowledge-dialog.tsx';
import type { EventAction } from './events/event-actions.tsx';
import { matchersOf } from './events/event-text.ts';
import { EventView } from './events/event-view.tsx';
import { FiringTab } from './events/firing-tab.tsx';
import { HistoryTab } from './events/history-tab.tsx';
import { DeleteRuleDialog, type RuleAction, RuleDialog } from './rule-dialogs.tsx';
import { RulesTab } from './rules/rules-tab.tsx';
import { EndSilenceDialog, type SilenceAction, SilenceDialog } from './silences/silence-dialogs.tsx';
import { SilencesTab } from './silences/silences-tab.tsx';

export type AlertsAction = EventAction | RuleAction | SilenceAction;

interface TabProps {
  act: (action: AlertsAction) => void;
}

const TABS: readonly { value: AlertsTab; word: string; Part: (props: TabProps) => ReactNode }[] = [
  { value: 'firing', word: 'Firing', Part: FiringTab },
  { value: 'history', word: 'History', Part: HistoryTab },
  { value: 'rules', word: 'Rules', Part: RulesTab },
  { value: 'silences', word: 'Silences', Part: SilencesTab },
  { value: 'endpoints', word: 'Endpoints', Part: EndpointsTab },
];

export const AlertsPage = () => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const navigate = useNavigate();
  const [wanted] = useAddressParam('tab');
  const [eventId] = useAddressParam('event');
  const [isNew, setNew] = useAddressParam('new', { replace: true });
  const [chosen, setChosen] = useState<AlertsAction | null>(null);
  const listHref = useListHref();
  const mayNot = whyNot(team.role, 'EDITOR');
  const tab = TABS.find(({ value }) => value === wanted)?.value ?? 'firing';
  const standard: AlertsAction =
    tab === 'silences' ? { kind: 'new-silence', matchers: {} } : { kind: 'create' };
  const action = chosen ?? (isNew && !mayNot ? standard : null);
  const close = (): void => {
    setChosen(null);
    if (isNew) setNew('');
  };
  return (
    <>
      {eventId ? (
        <EventView id={eventId} back={listHref} act={setChosen} />
      ) : (
        <Page title="Alerts" actions={<NewButton tab={tab} mayNot={mayNot} act={setChosen} />}>
          <PageTabs
            label="Parts of the alerts page"
            value={tab}
            onChange={(next) =>
              void navigate(paths.alerts(env, { tab: next === 'firing' ? undefined : next }), {
                preventScrollReset: true,
              })
            }
            tabs={TABS.map(({ value, word, Part }) => ({
              value,
              word,
              // What stands in filters is of one environment.
              render: () => <Part key={env} act={setChosen} />,
            }))}
          />
        </Page>
      )}
      <Dialogs action={action} close={close} />
    </>
  );
};

/** The list that an event was opened from, as it was filtered; where a link led to the event, what fires. */
function useListHref(): string {
  const { environment } = usePlace();
  const { pathname, search } = useLocation();
  const [list, setList] = useState('');
  const isEvent = new URLSearchParams(search).has('event');
  useEffect(() => {
    if (!isEvent) setList(pathname + search);
  }, [isEvent, pathname, search]);
  const firing = paths.alerts(environment.id);
  return list.startsWith(firing) ? list : firing;
}

interface NewProps extends TabProps {
  tab: AlertsTab;
  mayNot: string | null;
}

const NewButton = ({ tab, mayNot, act }: NewProps) => {
  const common = {
    icon: 'plus',
    kind: 'primary',
    disabled: mayNot !== null,
    tip: mayNot ?? undefined,
  } as const;
  if (tab === 'rules')
    return (
      <Button {...common} onClick={() => act({ kind: 'create' })}>
        New alert rule
      </Button>
    );
  if (tab === 'silences')
    return (
      <Button {...common} onClick={() => act({ kind: 'new-silence', matchers: {} })}>
        New silence
      </Button>
    );
  return null;
};

const Dialogs = ({ action, close }: { action: AlertsAction | null; close: () => void }) => {
  const rule =
    action?.kind === 'create' || action?.kind === 'edit' || action?.kind === 'delete' ? action : null;
  const silence: SilenceAction | null =
    action?.kind === 'silence'
      ? { kind: 'new-silence', matchers: matchersOf(action.event) }
      : action?.kind === 'new-silence' || action?.kind === 'end-silence'
        ? action
        : null;
  return (
    <>
      <RuleDialog action={rule} close={close} />
      <DeleteRuleDialog action={rule} close={close} />
      <AcknowledgeDialog event={action?.kind === 'acknowledge' ? action.event : null} close={close} />
      <SilenceDialog action={silence} close={close} />
      <EndSilenceDialog action={silence} close={close} />
    </>
  );
};
