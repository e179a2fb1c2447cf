/** What stands around every field: name, what it is for, what is wrong with it. */
import { type ReactNode, useId, useState } from 'react';
import { CodeText } from '../text/code-text.tsx';
import { useProblems } from './form-context.ts';
import type { FormSchema } from './schema.ts';
import { inOneLine } from './value.ts';

export interface FieldProps {
  name: string;
  schema: FormSchema;
  value: unknown;
  /** Undefined takes the option out. */
  onChange: (next: unknown) => void;
  pointer: string;
  required: boolean;
}

interface NameProps {
  name: string;
  schema: FormSchema;
  required: boolean;
}

const FIRST_PART = 220;

export const OptionName = ({ name, schema, required }: NameProps) => (
  <>
    <span className="option-name">{name}</span>
    {schema.title && schema.title !== name && <span className="muted">{schema.title}</span>}
    {required && <span className="option-mark">required</span>}
    {schema['x-unit'] && <span className="option-mark">{schema['x-unit']}</span>}
    {schema.deprecated && <span className="option-mark">deprecated</span>}
  </>
);

/** The first part of what the schema says; the rest for the asking. */
export const About = ({ id, schema }: { id: string; schema: FormSchema }) => {
  const [whole, setWhole] = useState(false);
  const { description = '', examples } = schema;
  const first = firstPart(description);
  const example = examples?.[0];
  if (description === '' && example === undefined) return null;
  return (
    <div className="field-hint">
      <p id={id} className="option-about">
        <CodeText text={whole ? description : first} />{' '}
        {example !== undefined && (
          <>
            For example <code>{inOneLine(example).slice(0, 160)}</code>
          </>
        )}
      </p>
      {first !== description && (
        <button
          type="button"
          className="option-more"
          aria-expanded={whole}
          onClick={() => setWhole((shown) => !shown)}
        >
          {whole ? 'Less' : 'More'}
        </button>
      )}
    </div>
  );
};

function firstPart(text: string): string {
  const [paragraph = ''] = text.split(/\n\s*\n/);
  if (paragraph.length <= FIRST_PART) return paragraph;
  const cut = paragraph.slice(0, FIRST_PART);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))}…`;
}

export const ProblemLines = ({ id, own, pointer }: { id: string; own?: string; pointer: string }) => {
  const problems = useProblems(pointer);
  const messages = [...(own ? [own] : []), ...problems.map(({ message }) => message)];
  if (messages.length === 0) return null;
  return (
    <div id={id} className="field-problem">
      {messages.map((message) => (
        <p key={message}>
          <CodeText text={message} />
        </p>
      ))}
    </div>
  );
};

interface FrameProps extends NameProps {
  pointer: string;
  /** Of the field itself, beside what the checks say. */
  problem?: string;
  /** The field takes no label of its own but is named by one. */
  unlabelled?: boolean;
  beside?: ReactNode;
  children: (ids: { id: string; describedBy: string; invalid: boolean }) => ReactNode;
}

export const FieldFrame = ({
  name,
  schema,
  required,
  pointer,
  problem,
  unlabelled,
  beside,
  children,
}: FrameProps) => {
  const id = useId();
  const invalid = useProblems(pointer).length > 0 || Boolean(problem);
  return (
    <div className="field option" data-option={pointer} data-invalid={invalid || undefined}>
      <span className="option-head">
        {unlabelled ? (
          <span className="option-label">
            <OptionName name={name} schema={schema} required={required} />
          </span>
        ) : (
          <label htmlFor={id} className="option-label">
            <OptionName name={name} schema={schema} required={required} />
          </label>
        )}
        {beside}
      </span>
      {children({ id, describedBy: `${id}-about ${id}-problem`, invalid })}
      <ProblemLines id={`${id}-problem`} own={problem} pointer={pointer} />
      <About id={`${id}-about`} schema={schema} />
    </div>
  );
};
