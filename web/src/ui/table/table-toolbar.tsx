import { TextInput } from '@mantine/core';
import type { ReactNode, RefObject } from 'react';
import { Button } from '../primitives/button.tsx';
import { Icon } from '../primitives/icons.tsx';
import { plural } from '../text/format.ts';
import type { Selection } from './column.ts';

interface FilterProps {
  box: RefObject<HTMLInputElement | null>;
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** `/` focuses it, Escape leaves it. */
export const FilterInput = ({ box, label, value, onChange }: FilterProps) => (
  <TextInput
    ref={box}
    type="search"
    className="filter"
    aria-label={label}
    leftSection={<Icon name="search" size={14} />}
    rightSection={<kbd>/</kbd>}
    value={value}
    placeholder="Filter"
    onChange={(event) => onChange(event.target.value)}
    onKeyDown={(event) => {
      if (event.key === 'Escape') event.currentTarget.blur();
    }}
  />
);

interface SelectionProps<R> {
  rows: readonly R[];
  caption: string;
  noun: string;
  selection: Selection<R>;
  clear: () => void;
}

/** What can be done with the selected rows. */
export const SelectionBar = <R,>({ rows, caption, noun, selection, clear }: SelectionProps<R>): ReactNode => (
  <section className="table-bar chosen-bar" aria-label={`Selected ${caption.toLowerCase()}`}>
    <span className="chosen-count" role="status">
      {plural(rows.length, noun)} selected
    </span>
    {selection.actions(rows)}
    <Button size="small" onClick={clear}>
      Clear selection
    </Button>
  </section>
);
