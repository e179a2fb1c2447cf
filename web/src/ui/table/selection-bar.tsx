import type { ReactNode } from 'react';
import { Button } from '../primitives/button.tsx';
import { plural } from '../text/format.ts';
import type { Selection } from './column.ts';

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
