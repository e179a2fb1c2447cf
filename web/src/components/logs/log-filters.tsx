import { useEffect, useRef, useState } from 'react';
import type { LogLevel } from '../../../../schemas/api/logs.ts';
import { Icon } from '../icons.tsx';
import { Segmented } from '../segmented.tsx';
import { LEVEL_TONE, LOG_LEVELS } from './log-levels.ts';
import { type LogFilters, SINCES } from './use-log-feed.ts';

/** Where the letters of a filter are waited for, in milliseconds. */
const TYPING_MS = 300;
const MAX_TEXT = 200;

export interface Choice {
  id: string;
  name: string;
}

interface Props {
  filters: LogFilters;
  change: (change: Partial<LogFilters>) => void;
  /** `node` or `pipeline`: what the choices are. */
  noun: string;
  choices: readonly Choice[];
}

export const LogFilterBar = ({ filters, change, noun, choices }: Props) => (
  <>
    <LevelChips levels={filters.levels} onChange={(levels) => change({ levels })} />
    <TextFilter text={filters.text} onChange={(text) => change({ text })} />
    <span className="toolbar">
      <select
        aria-label={`Lines of which ${noun}`}
        value={filters.only}
        onChange={(event) => change({ only: event.target.value })}
      >
        <option value="">All {noun}s</option>
        {filters.only && !choices.some(({ id }) => id === filters.only) && (
          <option value={filters.only}>{filters.only}</option>
        )}
        {choices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </span>
    <Segmented
      label="Received since"
      value={filters.since}
      options={SINCES}
      onChange={(since) => change({ since })}
    />
  </>
);

/** Those pressed are shown; none pressed shows all. */
const LevelChips = ({
  levels,
  onChange,
}: {
  levels: readonly LogLevel[];
  onChange: (levels: LogLevel[]) => void;
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend; the label is enough.
  <div className="chips" role="group" aria-label="Levels: those pressed are shown, none pressed shows all">
    {LOG_LEVELS.map((level) => {
      const pressed = levels.includes(level);
      return (
        <button
          key={level}
          type="button"
          className="chip mono"
          data-tone={LEVEL_TONE[level]}
          aria-pressed={pressed}
          onClick={() =>
            onChange(LOG_LEVELS.filter((each) => (each === level ? !pressed : levels.includes(each))))
          }
        >
          {level}
        </button>
      );
    })}
  </div>
);

/** The address follows a moment after the last letter: each change asks the server. */
const TextFilter = ({ text, onChange }: { text: string; onChange: (text: string) => void }) => {
  const [typed, setTyped] = useState(text);
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (document.activeElement !== box.current) setTyped(text);
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label className="filter">
      <span className="sr-only">Only lines with this text</span>
      <Icon name="search" size={14} />
      <input
        ref={box}
        type="search"
        value={typed}
        maxLength={MAX_TEXT}
        placeholder="Text in the line"
        onChange={(event) => {
          const { value } = event.target;
          setTyped(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onChange(value), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
};
