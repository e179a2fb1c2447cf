import { NativeSelect } from '@mantine/core';
import type { LogLevel } from '../../../../schemas/api/fleet/logs.ts';
import { SearchInput } from '../form/search-input.tsx';
import { SegmentedControl } from '../primitives/segmented-control.tsx';
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
    <SearchInput
      label="Only lines with this text"
      placeholder="Text in the line"
      value={filters.text}
      delayMs={TYPING_MS}
      maxLength={MAX_TEXT}
      onChange={(text) => change({ text })}
    />
    <NativeSelect
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
    </NativeSelect>
    <SegmentedControl
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
