/** Go to anything, do anything: pages, pipelines, nodes, environments and a few actions. */
import { Modal, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { Icon, type IconName } from '../components/icons.tsx';
import { usePlace } from './environment.tsx';
import { paths } from './paths.ts';
import { PAGES } from './rail.tsx';
import { useSignOut } from './top-bar.tsx';

interface Entry {
  id: string;
  group: string;
  icon: IconName;
  word: string;
  run: () => void;
}

const MAX_SHOWN = 40;

interface Props {
  opened: boolean;
  close: () => void;
  openShortcuts: () => void;
}

export const Palette = ({ opened, close, openShortcuts }: Props) => (
  <Modal.Root opened={opened} onClose={close} size="lg" yOffset="12vh" transitionProps={{ duration: 100 }}>
    <Modal.Overlay backgroundOpacity={0.45} />
    <Modal.Content radius={6} aria-label="Go to anything">
      {opened && <PaletteBody close={close} openShortcuts={openShortcuts} />}
    </Modal.Content>
  </Modal.Root>
);

const PaletteBody = ({ close, openShortcuts }: Omit<Props, 'opened'>) => {
  const entries = useEntries(openShortcuts);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => matching(entries, text).slice(0, MAX_SHOWN), [entries, text]);
  const current = found[Math.min(active, found.length - 1)];

  useEffect(() => {
    if (current) document.getElementById(current.id)?.scrollIntoView({ block: 'nearest' });
  }, [current]);

  const choose = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') choose(current);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || found.length === 0) return;
    event.preventDefault();
    setActive((Math.min(active, found.length - 1) + step + found.length) % found.length);
  };

  return (
    <div className="palette">
      <div className="palette-input">
        <Icon name="search" />
        <input
          data-autofocus
          role="combobox"
          aria-label="Go to anything"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={current?.id}
          placeholder="A page, a pipeline, a node, an action"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div ref={list} id="palette-list" className="palette-list" role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above takes the keys for the whole list.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active one.
          <div
            key={entry.id}
            id={entry.id}
            role="option"
            aria-selected={entry === current}
            className="palette-entry"
            onMouseMove={() => setActive(index)}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} size={14} />
            <span className="palette-word">{entry.word}</span>
            <span className="palette-group">{entry.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="palette-none muted">Nothing is called “{text}”.</p>}
    </div>
  );
};

function useEntries(openShortcuts: () => void): Entry[] {
  const { environment, environments, team } = usePlace();
  const navigate = useNavigate();
  const pipelines = useQuery(queries.pipelines(environment.id));
  const nodes = useQuery(queries.nodes(environment.id));
  const sync = useMutation({
    mutationFn: () => api.gitSync.syncNow.mutate({ environmentId: environment.id }),
  });
  const { setColorScheme } = useMantineColorScheme();
  const leave = useSignOut();
  const go = (to: string) => () => void navigate(to);

  const entries: Entry[] = PAGES.map(({ word, icon, to }) => ({
    id: `page-${word}`,
    group: 'Page',
    icon,
    word,
    run: go(to(environment.id)),
  }));
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
  for (const { id, name } of nodes.data ?? []) {
    entries.push({
      id: `node-${id}`,
      group: 'Node',
      icon: 'fleet',
      word: name,
      run: go(paths.node(environment.id, id)),
    });
  }
  return entries;
}

/** Every word must occur; names that begin with the text come first. */
function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = entries.filter(({ word, group }) => {
    const whole = `${word} ${group}`.toLowerCase();
    return words.every((each) => whole.includes(each));
  });
  const begins = ({ word }: Entry): number => (word.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return kept.sort((a, b) => begins(a) - begins(b));
}
