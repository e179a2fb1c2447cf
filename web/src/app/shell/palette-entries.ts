/** What the palette offers: pages, pipelines, nodes, environments and actions, as far as the user's role allows. */
import { useMantineColorScheme } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import type { IconName } from '../../ui/primitives/icons.tsx';
import { paths } from '../paths.ts';
import { usePlace } from '../scope.tsx';
import { isOffered, SETTINGS_PARTS } from '../settings-sections.ts';
import { PALETTE_ACTIONS } from './palette-actions.ts';
import { PAGES } from './rail.tsx';
import { useSignOut } from './sign-out.ts';

export interface PaletteEntry {
  id: string;
  group: string;
  icon: IconName;
  word: string;
  run: () => void;
}

export function usePaletteEntries(openShortcuts: () => void): PaletteEntry[] {
  const { environment, environments, team } = usePlace();
  const navigate = useNavigate();
  const pipelines = useQuery(queries.pipelines(environment.id));
  const nodes = useQuery(queries.nodes(environment.id));
  const sync = useMutation({
    mutationFn: () => api.gitSync.syncNow.mutate({ environmentId: environment.id }),
  });
  const isSuperAdmin = useQuery(queries.me()).data?.isSuperAdmin ?? false;
  const { setColorScheme } = useMantineColorScheme();
  const leave = useSignOut();
  const go = (to: string) => () => void navigate(to);

  const entries: PaletteEntry[] = PAGES.map(({ word, icon, to }) => ({
    id: `page-${word}`,
    group: 'Page',
    icon,
    word,
    run: go(to(environment.id)),
  }));
  entries.push({ id: 'page-api', group: 'Page', icon: 'link', word: 'API', run: go(paths.apiDocs()) });
  if (team.role !== 'VIEWER') {
    entries.push({
      id: 'do-sync',
      group: 'Action',
      icon: 'sync',
      word: `Sync ${environment.name} with git now`,
      run: () => {
        sync.mutate();
        void navigate(paths.git(environment.id));
      },
    });
  }
  for (const { id, icon, word, to, roles } of PALETTE_ACTIONS) {
    if (roles.includes(team.role)) {
      entries.push({ id, group: 'Action', icon, word: word(environment.name), run: go(to(environment.id)) });
    }
  }
  for (const part of SETTINGS_PARTS) {
    if (!isOffered(part, { team, environment, isSuperAdmin })) continue;
    const tab = part.tab === 'you' ? undefined : part.tab;
    entries.push({
      id: `settings-${part.tab}`,
      group: 'Settings',
      icon: part.icon,
      word: part.called({ team: team.name, environment: environment.name }),
      run: go(paths.settings(environment.id, { tab })),
    });
  }
  entries.push(
    { id: 'do-light', group: 'Action', icon: 'sun', word: 'Light theme', run: () => setColorScheme('light') },
    { id: 'do-dark', group: 'Action', icon: 'moon', word: 'Dark theme', run: () => setColorScheme('dark') },
    { id: 'do-keys', group: 'Action', icon: 'keyboard', word: 'Keyboard shortcuts', run: openShortcuts },
    { id: 'do-leave', group: 'Action', icon: 'leave', word: 'Sign out', run: () => void leave() },
  );
  for (const each of environments) {
    if (each.id === environment.id) continue;
    entries.push({
      id: `env-${each.id}`,
      group: 'Environment',
      icon: 'shield',
      word: each.name,
      run: go(paths.overview(each.id)),
    });
  }
  for (const { id, name } of pipelines.data ?? []) {
    entries.push({
      id: `pipe-${id}`,
      group: 'Pipeline',
      icon: 'pipelines',
      word: name,
      run: go(paths.pipeline(environment.id, id)),
    });
  }
  for (const { id, name, isDraft } of pipelines.data ?? []) {
    if (isDraft) continue;
    entries.push({
      id: `events-${id}`,
      group: 'Action',
      icon: 'source',
      word: `Events of ${name}`,
      run: go(paths.pipeline(environment.id, id, { tab: 'events' })),
    });
  }
  for (const { id, name, managedBy } of pipelines.data ?? []) {
    if (managedBy !== 'ui' || team.role === 'VIEWER') continue;
    entries.push({
      id: `deploy-${id}`,
      group: 'Action',
      icon: 'deploy',
      word: `Deploy ${name}`,
      run: go(paths.pipeline(environment.id, id, { deploy: '1' })),
    });
  }
  for (const { id, name } of pipelines.data ?? []) {
    if (team.role === 'VIEWER' || environments.length < 2) break;
    entries.push({
      id: `promote-${id}`,
      group: 'Action',
      icon: 'promotions',
      word: `Promote ${name}`,
      run: go(paths.pipeline(environment.id, id, { promote: '1' })),
    });
  }
  for (const { id, name } of nodes.data ?? []) {
    entries.push({
      id: `node-${id}`,
      group: 'Node',
      icon: 'fleet',
      word: name,
      run: go(paths.node(environment.id, id)),
    });
  }
  for (const { id, name, maintenance } of nodes.data ?? []) {
    if (team.role === 'VIEWER') break;
    entries.push({
      id: `maintain-${id}`,
      group: 'Action',
      icon: maintenance ? 'moving' : 'held',
      word: maintenance ? `End the maintenance of ${name}` : `Put ${name} into maintenance`,
      run: go(paths.node(environment.id, id, { do: 'maintenance' })),
    });
  }
  return entries;
}
