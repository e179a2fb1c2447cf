/** Go to anything, do anything: pages, pipelines, nodes, environments and a few actions. Ctrl-K, or Cmd-K. */
import { Combobox, Group, Modal, TextInput, useCombobox } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { Icon } from '../../ui/primitives/icons.tsx';
import { type PaletteEntry, usePaletteEntries } from './palette-entries.ts';

const MAX_SHOWN = 40;

interface Props {
  close: () => void;
  openShortcuts: () => void;
}

export const Palette = (props: Props & { opened: boolean }) => (
  <Modal.Root opened={props.opened} onClose={props.close} size="lg" yOffset="12vh">
    <Modal.Overlay backgroundOpacity={0.45} />
    <Modal.Content aria-label="Go to anything">
      {props.opened && <PaletteBody close={props.close} openShortcuts={props.openShortcuts} />}
    </Modal.Content>
  </Modal.Root>
);

const PaletteBody = ({ close, openShortcuts }: Props) => {
  const entries = usePaletteEntries(openShortcuts);
  const [query, setQuery] = useState('');
  const found = useMemo(() => matching(entries, query).slice(0, MAX_SHOWN), [entries, query]);
  const list = useCombobox({ opened: true, onDropdownClose: close });
  // biome-ignore lint/correctness/useExhaustiveDependencies: Enter takes the first of what was found last.
  useEffect(() => {
    list.selectFirstOption();
  }, [found]);
  return (
    <Combobox
      store={list}
      onOptionSubmit={(id) => {
        close();
        entries.find((entry) => entry.id === id)?.run();
      }}
    >
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          data-autofocus
          variant="unstyled"
          px="md"
          py="xs"
          aria-label="Go to anything"
          placeholder="A page, a pipeline, a node, an action"
          leftSection={<Icon name="search" />}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </Combobox.EventsTarget>
      <Combobox.Options aria-label="Results" className="palette-list">
        {found.map(({ id, group, icon, word }) => (
          <Combobox.Option key={id} value={id}>
            <Group gap="sm" wrap="nowrap">
              <Icon name={icon} size={14} />
              {word}
              <span className="muted palette-group">{group}</span>
            </Group>
          </Combobox.Option>
        ))}
        {found.length === 0 && <Combobox.Empty>Nothing has the name “{query}”.</Combobox.Empty>}
      </Combobox.Options>
    </Combobox>
  );
};

/** Every word must occur; names that begin with the text come first. */
function matching(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ word, group }) => {
    const whole = `${word} ${group}`.toLowerCase();
    return words.every((each) => whole.includes(each));
  });
  const begins = ({ word }: PaletteEntry): number => (word.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return found.sort((a, b) => begins(a) - begins(b));
}
