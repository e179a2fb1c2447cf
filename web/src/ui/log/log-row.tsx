import { memo } from 'react';
import { CopyButton } from '../primitives/copy-button.tsx';
import { Icon } from '../primitives/icons.tsx';
import { formatExact } from '../text/format.ts';
import type { ShownLine } from './log-buffer.ts';
import { LEVEL_TONE } from './log-levels.ts';
import { lineTime, mayBeJson, prettyJson } from './log-text.ts';

interface Props {
  line: ShownLine;
  /** The node's name on a pipeline's page, the pipeline's on a node's. */
  from: string;
  /** Of the column of names, in characters. */
  nameWidth: number;
  unfolded: boolean;
  toggle: (seq: string) => void;
  /** One row's buttons can be reached by Tab; the arrow keys walk from there. */
  reachable: boolean;
}

const PlainLogRow = ({ line, from, nameWidth, unfolded, toggle, reachable }: Props) => {
  const tabIndex = reachable ? 0 : -1;
  const pretty = unfolded ? prettyJson(line.text) : null;
  return (
    <>
      <time className="log-time" dateTime={line.at.toISOString()} data-tip={formatExact(line.at)}>
        {lineTime(line.at, new Date())}
      </time>
      <span className="log-level" data-tone={LEVEL_TONE[line.level]}>
        {line.level}
      </span>
      <span className="log-from" style={{ width: `${nameWidth}ch` }} data-tip={from}>
        {from}
      </span>
      <span className="log-fold">
        {mayBeJson(line.text) && (
          <button
            type="button"
            className="log-button"
            tabIndex={tabIndex}
            aria-expanded={unfolded}
            aria-label="Unfold the JSON"
            onClick={() => toggle(line.seq)}
          >
            <Icon name={unfolded ? 'chevronDown' : 'chevronRight'} size={12} />
          </button>
        )}
      </span>
      <span className="log-text" data-level={line.level}>
        {pretty ?? line.text}
      </span>
      <CopyButton
        text={() => pretty ?? line.text}
        label="Copy the line"
        className="log-button log-copy"
        tabIndex={tabIndex}
      />
    </>
  );
};

export const LogRow = memo(PlainLogRow);
