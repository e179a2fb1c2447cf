/** A value as JSON that folds, coloured, with what was hidden marked as such. */
import { Fragment, useState } from 'react';
import { Icon } from '../primitives/icons.tsx';
import { plural } from './format.ts';

/** What the controller writes in the place of a value that is to be hidden, and of parts of a text. */
const HIDDEN = '[redacted]';
const HIDDEN_TIP = 'Hidden by the controller. Which keys are hidden is set under Settings, Environment.';

const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 40;
const FIRST_ENTRIES = 100;
const FIRST_CHARS = 1_000;

interface Props {
  value: unknown;
  /** Of the property, where it is one. */
  name?: string;
  depth?: number;
}

export const JsonTree = ({ value }: { value: unknown }) => (
  <div className="json mono">
    <JsonValue value={value} />
  </div>
);

const JsonValue = ({ value, name, depth = 0 }: Props) => {
  if (typeof value === 'object' && value !== null) return <Branch value={value} name={name} depth={depth} />;
  return (
    <div className="json-line">
      <Name name={name} />
      {typeof value === 'string' ? (
        <JsonString text={value} />
      ) : (
        <span className="json-plain">{JSON.stringify(value) ?? 'null'}</span>
      )}
    </div>
  );
};

const Name = ({ name }: { name: string | undefined }) =>
  name === undefined ? null : (
    <>
      <span className="json-key">{JSON.stringify(name)}</span>
      {': '}
    </>
  );

const Branch = ({ value, name, depth }: { value: object; name: string | undefined; depth: number }) => {
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES);
  const [all, setAll] = useState(false);
  const [opening, closing] = isList ? '[]' : '{}';
  if (entries.length === 0) {
    return (
      <div className="json-line">
        <Name name={name} />
        {opening}
        {closing}
      </div>
    );
  }
  const shown = all ? entries : entries.slice(0, FIRST_ENTRIES);
  const count = isList ? plural(entries.length, 'item') : plural(entries.length, 'field');
  return (
    <>
      <div className="json-line">
        <button
          type="button"
          className="json-fold"
          aria-expanded={open}
          aria-label={`${name ?? 'Event'}, ${count}`}
          onClick={() => setOpen((before) => !before)}
        >
          <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
        </button>
        <Name name={name} />
        {opening}
        {!open && (
          <>
            <span className="muted"> {count} </span>
            {closing}
          </>
        )}
      </div>
      {open && (
        <>
          <div className="json-inner">
            {shown.map(([key, item]) => (
              <JsonValue key={key} value={item} name={isList ? undefined : key} depth={depth + 1} />
            ))}
            {shown.length < entries.length && (
              <button type="button" className="option-more" onClick={() => setAll(true)}>
                {(entries.length - shown.length).toLocaleString('en')} more
              </button>
            )}
          </div>
          <div className="json-line">{closing}</div>
        </>
      )}
    </>
  );
};

const JsonString = ({ text }: { text: string }) => {
  const [all, setAll] = useState(false);
  if (text === HIDDEN) return <Hidden />;
  const isCut = !all && text.length > FIRST_CHARS;
  const written = JSON.stringify(isCut ? text.slice(0, FIRST_CHARS) : text);
  return (
    <span className="json-string">
      <WithHidden text={written} />
      {isCut && (
        <button type="button" className="option-more" onClick={() => setAll(true)}>
          … {(text.length - FIRST_CHARS).toLocaleString('en')} more characters
        </button>
      )}
    </span>
  );
};

/** Words of an event, in which hidden values look as such. */
export const WithHidden = ({ text }: { text: string }) =>
  text.split(HIDDEN).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no identity but their place.
    <Fragment key={index}>
      {index > 0 && <Hidden />}
      {part}
    </Fragment>
  ));

const Hidden = () => (
  <span className="json-hidden" data-tip={HIDDEN_TIP}>
    {HIDDEN}
  </span>
);
