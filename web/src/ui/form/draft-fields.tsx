/** Fields of a form whose texts are kept together in one draft. */
import type { ComponentProps } from 'react';
import { Field, TextAreaField } from './field.tsx';

export interface DraftOf<D extends object> {
  draft: D;
  set: (change: Partial<D>) => void;
}

/** Those of a draft that are texts. */
export type TextName<D extends object> = {
  [K in keyof D]: string extends D[K] ? K : never;
}[keyof D] &
  string;

/** The value of one text of the draft, and how it is changed. */
export function bound<D extends object>(
  { draft, set }: DraftOf<D>,
  name: TextName<D>,
): { value: string; onChange: (value: string) => void } {
  const value: unknown = draft[name];
  return {
    value: typeof value === 'string' ? value : '',
    onChange: (text) => {
      const change: Partial<D> = {};
      set(Object.assign(change, { [name]: text }));
    },
  };
}

type Unbound<P> = Omit<P, 'value' | 'onChange'>;

interface Named<D extends object> {
  of: DraftOf<D>;
  name: TextName<D>;
}

/** In the script of code, which addresses, names and keys are; `mono={false}` for words. */
export const DraftField = <D extends object>({
  of,
  name,
  ...rest
}: Named<D> & Unbound<ComponentProps<typeof Field>>) => <Field mono {...rest} {...bound(of, name)} />;

export const DraftText = <D extends object>({
  of,
  name,
  ...rest
}: Named<D> & Unbound<ComponentProps<typeof TextAreaField>>) => (
  <TextAreaField mono {...rest} {...bound(of, name)} />
);
