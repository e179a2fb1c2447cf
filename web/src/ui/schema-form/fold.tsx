/** What groups of options have in common: they fold, and their entries can be removed. */
import { type ReactNode, useId, useState } from 'react';
import { IconButton } from '../primitives/button.tsx';
import { Icon } from '../primitives/icons.tsx';
import { About, type FieldProps, OptionName, ProblemLines } from './field-frame.tsx';

interface FoldProps extends Pick<FieldProps, 'name' | 'schema' | 'pointer' | 'required'> {
  open: boolean;
  /** What is in it, while it is folded. */
  summary?: string;
  children: ReactNode;
}

export const Fold = ({ name, schema, pointer, required, open, summary, children }: FoldProps) => {
  const id = useId();
  const [initially] = useState(open);
  return (
    <details className="option option-group" data-option={pointer} open={initially}>
      <summary>
        <Icon name="chevronRight" size={12} />
        <OptionName name={name} schema={schema} required={required} />
        {summary && <span className="muted option-summary">{summary}</span>}
      </summary>
      <div className="option-body">
        <About id={`${id}-about`} schema={schema} />
        <ProblemLines id={`${id}-problem`} pointer={pointer} />
        {children}
      </div>
    </details>
  );
};

export const countWord = (count: number): string => (count === 0 ? 'not set' : String(count));

export const RemoveButton = ({ what, onClick }: { what: string; onClick: () => void }) => (
  <IconButton icon="trash" size={14} label={`Remove ${what}`} onClick={onClick} />
);
