import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ComponentType, Suspense, useId } from 'react';
import { Link } from 'react-router';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { Boundary } from '../../app/error-boundary.tsx';
import { usePlaceIfAny, useTeamIfAny } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import {
  isOffered,
  SETTINGS_PARTS,
  type SettingsPart,
  type SettingsScope,
} from '../../app/settings-sections.ts';
import { EmptyState, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { ButtonLink } from '../../ui/primitives/button.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Page } from '../../ui/primitives/page.tsx';

const BODIES: Record<SettingsPart['tab'], ComponentType> = {
  you: lazyPart(() => import('./you-tab.tsx'), 'YouTab'),
  members: lazyPart(() => import('./members/members-tab.tsx'), 'MembersTab'),
  assistant: lazyPart(() => import('./assistant/assistant-tab.tsx'), 'AssistantTab'),
  environment: lazyPart(() => import('./environment/environment-tab.tsx'), 'EnvironmentTab'),
  access: lazyPart(() => import('./access/access-tab.tsx'), 'AccessTab'),
  users: lazyPart(() => import('./users/users-tab.tsx'), 'UsersTab'),
  teams: lazyPart(() => import('./teams/teams-tab.tsx'), 'TeamsTab'),
  sso: lazyPart(() => import('./single-sign-on/single-sign-on-tab.tsx'), 'SingleSignOnTab'),
  scim: lazyPart(() => import('./scim/scim-tab.tsx'), 'ScimTab'),
  streams: lazyPart(() => import('./streams/streams-tab.tsx'), 'StreamsTab'),
  backups: lazyPart(() => import('./backups/backups-tab.tsx'), 'BackupsTab'),
  server: lazyPart(() => import('./server/server-tab.tsx'), 'ServerTab'),
};

/** Of a person, a team, an environment and the server; `?tab=` says which part. */
export const SettingsPage = () => {
  const team = useTeamIfAny();
  const environment = usePlaceIfAny()?.environment ?? null;
  const me = useQuery(queries.me());
  const [wanted, show] = useAddressParam('tab');
  const part = SETTINGS_PARTS.find(({ tab }) => tab === wanted) ?? SETTINGS_PARTS[0];
  if (!part) return null;
  const scope = { team, environment, isSuperAdmin: me.data?.isSuperAdmin ?? false };
  const offered = SETTINGS_PARTS.filter((each) => isOffered(each, scope));
  const Body = BODIES[part.tab];
  // What stands in the forms is of one environment, or of one team.
  const subject = { you: 'you', server: 'server', team: team?.id, environment: environment?.id }[part.group];
  return (
    <Page title="Settings">
      <div className="settings-frame">
        <SettingsNavigation parts={offered} current={part} scope={scope} show={show} />
        <div className="settings-body" data-wide={part.wide}>
          {offered.includes(part) ? (
            <Boundary key={`${part.tab}-${subject}`}>
              <Suspense fallback={<SkeletonRows rows={10} label={`Loading ${part.word}`} />}>
                <Body />
              </Suspense>
            </Boundary>
          ) : me.isPending ? (
            <SkeletonRows rows={10} label={`Loading ${part.word}`} />
          ) : (
            <NotOffered part={part} />
          )}
        </div>
      </div>
    </Page>
  );
};

const titleOf = (group: SettingsPart['group'], { team, environment }: SettingsScope): string | null => {
  switch (group) {
    case 'you':
      return null;
    case 'team':
      return `Team ${team?.name ?? ''}`;
    case 'environment':
      return `Environment ${environment?.name ?? ''}`;
    case 'server':
      return 'Server';
  }
};

interface NavigationProps {
  parts: readonly SettingsPart[];
  current: SettingsPart;
  scope: SettingsScope;
  show: (tab: string) => void;
}

const inAddress = ({ tab }: SettingsPart): string => (tab === 'you' ? '' : tab);

/** Links beside the page; on a phone one list above it. */
const SettingsNavigation = ({ parts, current, scope, show }: NavigationProps) => {
  const id = useId();
  const groups = [...new Set(parts.map(({ group }) => group))].map((group) => ({
    group,
    title: titleOf(group, scope),
    parts: parts.filter((each) => each.group === group),
  }));
  return (
    <>
      <nav className="settings-nav" aria-label="Settings">
        {groups.map(({ group, title, parts: own }) => (
          <div key={group} className="settings-group">
            {title && <h2 id={`${id}-${group}`}>{title}</h2>}
            <ul aria-labelledby={title ? `${id}-${group}` : undefined}>
              {own.map((part) => (
                <li key={part.tab}>
                  <Link
                    to={{ search: inAddress(part) && `?tab=${inAddress(part)}` }}
                    aria-current={part === current ? 'page' : undefined}
                    className="settings-link"
                  >
                    <Icon name={part.icon} size={14} />
                    {part.word}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <NativeSelect
        className="settings-choice"
        label="Settings of"
        value={parts.includes(current) ? current.tab : ''}
        onChange={({ target }) => show(target.value === 'you' ? '' : target.value)}
      >
        {!parts.includes(current) && <option value="">{current.word}</option>}
        {groups.map(({ group, title, parts: own }) =>
          title ? (
            <optgroup key={group} label={title}>
              {own.map(({ tab, word }) => (
                <option key={tab} value={tab}>
                  {word}
                </option>
              ))}
            </optgroup>
          ) : (
            own.map(({ tab, word }) => (
              <option key={tab} value={tab}>
                {word}
              </option>
            ))
          ),
        )}
      </NativeSelect>
    </>
  );
};

/** An address of somebody else's settings: says what it leads to, and who may. */
const NotOffered = ({ part }: { part: SettingsPart }) => (
  <EmptyState icon={part.icon} title={`“${part.word}” is not for you to see`}>
    {part.group === 'server' ? (
      <p>Only a super admin runs the server. Ask one, or go on with your own settings.</p>
    ) : (
      <p>You are in no {part.group === 'team' ? 'team' : 'environment'} that this could be about.</p>
    )}
    <ButtonLink to={{ search: '' }}>Your settings</ButtonLink>
  </EmptyState>
);
