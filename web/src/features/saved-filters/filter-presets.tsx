/**
 * Filters that the people of an environment keep for one another. A preset is a set of parameters of the page's address;
 * choosing one writes them there, so that a link carries what is seen.
 */
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FilterPreset, PresetScope } from '../../../../schemas/api/insight/preferences.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddress } from '../../app/search-params.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { ManagePresetsDialog, SavePresetDialog } from './filter-preset-dialogs.tsx';

/** In the address: the default preset was put aside on purpose. */
const PARAM = 'preset';
const NONE = 'none';

interface Props {
  scope: PresetScope;
  /** Parameters of the address that a preset holds, for example `['q', 'status', 'group']`. */
  params: readonly string[];
}

/** A menu to choose, keep and manage presets. Opened without any of `params`, the page begins with the default one. */
export const FilterPresets = ({ scope, params }: Props) => {
  const { environment, team } = usePlace();
  const [search, changeAddress] = useAddress();
  const presets = useQuery(queries.filterPresets(environment.id, scope));
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const list = presets.data ?? [];
  const present = filtersIn(search, params);
  const chosen = list.find(({ filters }) => sameFilters(textFilters(filters, params), present));

  const apply = (filters: Record<string, string>, replace = false): void =>
    changeAddress((next) => putFilters(next, params, filters), { replace });

  // Once for each opening of the page: filters that are taken away afterwards stay away.
  const decided = useRef('');
  const bare = Object.keys(present).length === 0 && search.get(PARAM) !== NONE;
  // biome-ignore lint/correctness/useExhaustiveDependencies: decided when the presets come, by the address of that moment.
  useEffect(() => {
    if (!presets.data || decided.current === environment.id) return;
    decided.current = environment.id;
    const standard = presets.data.find(({ isDefault }) => isDefault);
    if (standard && bare) apply(textFilters(standard.filters, params), true);
  }, [presets.data, environment.id]);

  return (
    <>
      <Menu position="bottom-start" width={260} shadow="md">
        <Menu.Target>
          <Button icon="filter" aria-label={`Saved filters${nameOf(chosen)}`}>
            <span className="preset-name">{chosen ? chosen.name : 'Saved filters'}</span>
            <Icon name="chevronDown" size={14} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {list.length === 0 && (
            <Menu.Label>
              {presets.isError ? 'They could not be read' : presets.data ? 'None is kept yet' : 'Loading'}
            </Menu.Label>
          )}
          {list.map((preset) => (
            <Menu.Item
              key={preset.id}
              aria-current={preset === chosen ? 'true' : undefined}
              rightSection={preset === chosen ? <Icon name="check" size={14} /> : null}
              onClick={() => apply(textFilters(preset.filters, params))}
            >
              {preset.name}
              {preset.isDefault && <span className="menu-note">the page begins with it</span>}
            </Menu.Item>
          ))}
          {Object.keys(present).length > 0 && <Menu.Item onClick={() => apply({})}>No filters</Menu.Item>}
          {mayEdit && (
            <>
              <Menu.Divider />
              <Menu.Item
                leftSection={<Icon name="plus" size={14} />}
                disabled={Object.keys(present).length === 0}
                onClick={() => setDialog('save')}
              >
                Save these filters
              </Menu.Item>
              {list.length > 0 && (
                <Menu.Item
                  leftSection={<Icon name="settings" size={14} />}
                  onClick={() => setDialog('manage')}
                >
                  Manage saved filters
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <SavePresetDialog
        scope={scope}
        filters={present}
        opened={dialog === 'save'}
        close={() => setDialog(null)}
      />
      <ManagePresetsDialog
        scope={scope}
        presets={list}
        filters={present}
        opened={dialog === 'manage'}
        close={() => setDialog(null)}
      />
    </>
  );
};

const nameOf = (preset: FilterPreset | undefined): string => (preset ? `: ${preset.name}` : '');

function filtersIn(search: URLSearchParams, params: readonly string[]): Record<string, string> {
  const filters: Record<string, string> = {};
  for (const param of params) {
    const value = search.get(param);
    if (value) filters[param] = value;
  }
  return filters;
}

/** What others wrote through the API may hold other things than texts; an address takes texts. */
function textFilters(filters: FilterPreset['filters'], params: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    params.flatMap((param) => {
      const value = filters[param];
      return value === undefined || value === '' ? [] : [[param, String(value)]];
    }),
  );
}

const sameFilters = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length > 0 && Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

function putFilters(next: URLSearchParams, params: readonly string[], filters: Record<string, string>): void {
  for (const param of params) next.delete(param);
  for (const [param, value] of Object.entries(filters)) next.set(param, value);
  if (Object.keys(filters).length === 0) next.set(PARAM, NONE);
  else next.delete(PARAM);
}
