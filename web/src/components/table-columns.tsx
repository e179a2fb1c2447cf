/** Which columns of a table are shown; the choice is remembered, and follows the person. */
import { Menu } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { usePreference, writePreference } from '../app/preferences.ts';
import { Icon } from './icons.tsx';

interface ColumnName {
  key: string;
  title: string;
}

/** All but the first may be hidden. Without a name nothing is remembered, and there is no menu. */
export function useShownColumns<C extends ColumnName>(
  name: string | undefined,
  columns: readonly C[],
): { shown: readonly C[]; menu: ReactNode } {
  const kept = usePreference(`columns.${name ?? ''}`);
  const hidden = useMemo(() => new Set(name && kept ? kept.split(',') : []), [name, kept]);
  const shown = useMemo(
    () => (hidden.size === 0 ? columns : columns.filter(({ key }, place) => place === 0 || !hidden.has(key))),
    [columns, hidden],
  );
  if (!name) return { shown, menu: null };
  const toggle = (key: string): void => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    writePreference(`columns.${name}`, [...next].join(','));
  };
  return {
    shown,
    menu: (
      <Menu position="bottom-end" width={200} shadow="md">
        <Menu.Target>
          <button type="button" className="icon-button" aria-label="Columns" data-tip="Columns">
            <Icon name="columns" size={14} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {columns.slice(1).map(({ key, title }) => (
            <Menu.CheckboxItem key={key} checked={!hidden.has(key)} onChange={() => toggle(key)}>
              {title}
            </Menu.CheckboxItem>
          ))}
        </Menu.Dropdown>
      </Menu>
    ),
  };
}
