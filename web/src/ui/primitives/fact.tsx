import type { ReactNode } from 'react';

/** A figure with its name, for the head of a page. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
