import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RefObject } from 'react';
import { SCIM_ALL } from '../../../../schemas/api/insight/audit.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { SearchInput } from '../../ui/form/search-input.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { actionText, capital, spaced } from './event-text.ts';
import { type Filters, isFiltered, OTHER_ACTORS, TYPE } from './filters.ts';

interface Props {
  filters: Filters;
  change: (change: Partial<Filters>) => void;
  clear: () => void;
  searchBox: RefObject<HTMLInputElement | null>;
}

/** The words that occur are asked for once; one that stands in the address is offered in any case. */
export const FilterBar = ({ filters, change, clear, searchBox }: Props) => {
  const { environments, team } = usePlace();
  const people = useQuery(queries.auditUsers()).data ?? [];
  const actions = useQuery(queries.auditActions()).data ?? [];
  const types = useQuery(queries.auditEntityTypes()).data ?? [];
  return (
    <search className="table-bar audit-filters" aria-label="Filter the audit log">
      <SearchInput
        label="Search the audit log"
        value={filters.q}
        box={searchBox}
        delayMs={TYPING_MS}
        maxLength={MAX_TEXT}
        shortcut="/"
        onChange={(q) => change({ q })}
      />
      <Choice
        label="Who"
        all="Anybody"
        value={filters.who}
        onChange={(who) => change({ who })}
        options={[
          ...OTHER_ACTORS.map(({ type, word }) => ({ value: TYPE + type, word })),
          ...people.map(({ id, name, email }) => ({ value: id, word: personText(name, email) ?? id })),
        ]}
      />
      <Choice
        label="Action"
        all="Any action"
        value={filters.action}
        onChange={(action) => change({ action })}
        options={actions.map((value) => ({ value, word: actionText(value) }))}
        wordOf={actionText}
      />
      <Choice
        label="What it was done to"
        all="Anything"
        value={filters.what}
        onChange={(what) => change({ what })}
        options={types.map((value) => ({ value, word: typeText(value) }))}
        wordOf={typeText}
      />
      <Choice
        label="Where"
        all="Everything that you see"
        value={filters.in}
        onChange={(where) => change({ in: where })}
        options={[
          { value: 'team', word: `Team ${team.name}` },
          ...environments.map(({ id, name }) => ({ value: id, word: name })),
        ]}
      />
      <span className="toolbar audit-days">
        <TextInput
          className="label-beside"
          label="From"
          type="date"
          value={filters.from}
          onChange={({ target }) => change({ from: target.value })}
        />
        <TextInput
          className="label-beside"
          label="to"
          type="date"
          value={filters.to}
          onChange={({ target }) => change({ to: target.value })}
        />
        <span className="muted">UTC</span>
      </span>
      {isFiltered(filters) && (
        <Button icon="cross" size="small" onClick={clear}>
          Clear the filters
        </Button>
      )}
    </search>
  );
};

const personText = (name: string | null, email: string | null): string | null =>
  name && email ? `${name} (${email})` : (email ?? name);

export const typeText = (type: string): string => (type === SCIM_ALL ? 'SCIM (All)' : capital(spaced(type)));

interface ChoiceProps {
  label: string;
  /** The word for no choice. */
  all: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; word: string }[];
  wordOf?: (value: string) => string;
}

const Choice = ({ label, all, value, onChange, options, wordOf = (word) => word }: ChoiceProps) => (
  <NativeSelect aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
    <option value="">{all}</option>
    {value && !options.some((option) => option.value === value) && (
      <option value={value}>{wordOf(value)}</option>
    )}
    {options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.word}
      </option>
    ))}
  </NativeSelect>
);

/** Where the letters of a search are waited for, in milliseconds: each change asks the server. */
const TYPING_MS = 300;
const MAX_TEXT = 200;
