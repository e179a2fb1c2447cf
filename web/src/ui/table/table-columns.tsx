/** Which columns of a table are shown; the choice is remembered, and follows the person. */
import { Menu } from '@mantine/core';
import { useMemo } from 'react';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { IconButton } from '../primitives/button.tsx';

export function useHiddenColumns(name: string | undefined): ReadonlySet<string> {
  const kept = usePreference(`columns.${name ?? ''}`);
  return useMemo(() => new Set(name && kept ? kept.split(',') : []), [name, kept]);
}

interface Props {
  name: string;
  columns: readonly { key: string; title: string }[];
  hidden: ReadonlySet<string>;
}

/** All but the first may be hidden. */
export const ColumnMenu = ({ name, columns, hidden }: Props) => {
  const toggle = (key: string): void => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    writePreference(`columns.${name}`, [...next].join(','));
  };
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <IconButton icon="columns" label="Columns" tip="Columns" />
      </Menu.Target>
      <Menu.Dropdown>
        {columns.slice(1).map(({ key, title }) => (
          <Menu.CheckboxItem key={key} checked={!hidden.has(key)} onChange={() => toggle(key)}>
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};
