import { useQuery } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useId } from 'react';
import { Link } from 'react-router';
import { queries } from '../api/queries.ts';
import { useAddressParam } from '../app/address.ts';
import { Boundary } from '../app/boundary.tsx';
import { usePlaceIfAny, useTeamIfAny } from '../app/environment.tsx';
import { isOffered, SETTINGS_PARTS, type SettingsPart, type Standing } from '../app/settings-pages.ts';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, SkeletonRows } from '../components/states.tsx';

const BODIES: Record<SettingsPart['tab'], ComponentType> = {
  you: lazy(() => import('./settings/you-tab.tsx').then((module) => ({ default: module.YouTab }))),
  members: lazy(() => import('./settings/members.tsx').then((module) => ({ default: module.MembersTab }))),
  environment: lazy(() =>
    import('./settings/environment-tab.tsx').then((module) => ({ default: module.EnvironmentTab })),
  ),
  access: lazy(() => import('./settings/access-tab.tsx').then((module) => ({ default: module.AccessTab }))),
  users: lazy(() => import('./settings/users.tsx').then((module) => ({ default: module.UsersTab }))),
  teams: lazy(() => import('./settings/teams.tsx').then((module) => ({ default: module.TeamsTab }))),
  sso: lazy(() =>
    import('./settings/single-sign-on.tsx').then((module) => ({ default: module.SingleSignOnTab })),
  ),
  scim: lazy(() => import('./settings/scim.tsx').then((module) => ({ default: module.ScimTab }))),
  server: lazy(() => import('./settings/server.tsx').then((module) => ({ default: module.ServerTab }))),
};

/** Of a person, a team, an environment and the server; `?tab=` says which part. */
export const SettingsPage = () => {
  const team = useTeamIfAny();
  const environment = usePlaceIfAny()?.environment ?? null;
  const me = useQuery(queries.me());
  const [wanted, show] = useAddressParam('tab');
  const part = SETTINGS_PARTS.find(({ tab }) => tab === wanted) ?? SETTINGS_PARTS[0];
  if (!part) return null;
  const standing = { team, environment, isSuperAdmin: me.data?.isSuperAdmin ?? false };
  const offered = SETTINGS_PARTS.filter((each) => isOffered(each, standing));
  const Body = BODIES[part.tab];
  // What stands in the forms is of one environment, or of one team.
  const subject = { you: 'you', server: 'server', team: team?.id, environment: environment?.id }[part.group];
  return (
    <Page title="Settings">
      <div className="settings-frame">
        <SettingsNavigation parts={offered} current={part} standing={standing} show={show} />
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

const titleOf = (group: SettingsPart['group'], { team, environment }: Standing): string | null => {
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
  standing: Standing;
  show: (tab: string) => void;
}

const inAddress = ({ tab }: SettingsPart): string => (tab === 'you' ? '' : tab);

/** Links beside the page; on a phone one list above it. */
const SettingsNavigation = ({ parts, current, standing, show }: NavigationProps) => {
  const id = useId();
  const groups = [...new Set(parts.map(({ group }) => group))].map((group) => ({
    group,
    title: titleOf(group, standing),
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
      <div className="field settings-choice">
        <label htmlFor={`${id}-choice`}>Settings of</label>
        <select
          id={`${id}-choice`}
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
        </select>
      </div>
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
    <Link to={{ search: '' }} className="button">
      Your settings
    </Link>
  </EmptyState>
);
