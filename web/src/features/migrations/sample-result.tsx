import { useState } from 'react';
import type { SampleLine, SampleOutput, SampleRun } from '../../../../schemas/api/pipelines/migrations.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { LINE_LOOK, OUTPUT_LOOK } from './migration-text.ts';

interface Props {
  run: SampleRun;
}

const SHOWN = [
  { value: 'all', word: 'All lines' },
  { value: 'rest', word: 'Not equal' },
] as const;

/** What each line became on either side. */
export const SampleResult = ({ run: { blockId, tag, lines, counts } }: Props) => {
  const [shown, setShown] = useState<'all' | 'rest'>('all');
  const numbered = lines.map((line, index) => ({ ...line, number: index + 1 }));
  const visible = shown === 'all' ? numbered : numbered.filter(({ verdict }) => verdict !== 'equal');
  return (
    <Section
      title="Events on either side"
      beside={
        <span className="toolbar">
          <Badge tone="ok">{counts.equal} equal</Badge>
          <Badge tone={counts.different > 0 ? 'failed' : 'unknown'}>{counts.different} different</Badge>
          <Badge tone="unknown">{counts.unknown} unknown</Badge>
          <SegmentedControl label="Lines shown" value={shown} options={SHOWN} onChange={setShown} />
        </span>
      }
    >
      <div className="section-body">
        <p className="muted">
          Read by {blockId}
          {tag && (
            <>
              {' '}
              as <span className="mono">{tag}</span>
            </>
          )}
          .
        </p>
        <ul className="sample-lines" aria-label="Lines and their events">
          {visible.map((line) => (
            <Line key={line.number} line={line} number={line.number} />
          ))}
        </ul>
        {visible.length === 0 && <p className="muted">Every line is equal on both sides.</p>}
      </div>
    </Section>
  );
};

const Line = ({ line, number }: { line: SampleLine; number: number }) => {
  const { tone, word } = LINE_LOOK[line.verdict];
  return (
    <li className="sample-line" aria-label={`Line ${number}`}>
      <p className="sample-text">
        <Badge tone={tone}>{word}</Badge>
        <code className="mono">{line.line}</code>
      </p>
      {line.unknown.map(({ side, at, reason }) => (
        <p key={`${side} ${at} ${reason}`} className="muted">
          {side === 'original' ? 'Fluentd' : 'Vector'}, <span className="mono">{at}</span>: not run here:{' '}
          {reason}.
        </p>
      ))}
      {line.outputs.length === 0 && line.verdict === 'equal' && (
        <p className="muted">No output gets it, on either side.</p>
      )}
      {line.outputs.map((output, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: outputs of a line have no identity and do not move.
        <Output key={index} output={output} place={`line ${number}, output ${index + 1}`} />
      ))}
    </li>
  );
};

const Output = ({
  output: { blockId, original, translated, verdict, differences },
  place,
}: {
  output: SampleOutput;
  place: string;
}) => {
  const { tone, word } = OUTPUT_LOOK[verdict];
  return (
    <div className="sample-output">
      <p className="sample-text">
        <Badge tone={tone}>{word}</Badge>
        <span className="mono">
          {blockId}
          {original ? ` ${original.output}` : ''}
          {translated ? ` → ${translated.output}` : ''}
        </span>
      </p>
      {differences.length > 0 && (
        <table className="sample-differences">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Fluentd</th>
              <th scope="col">Vector</th>
            </tr>
          </thead>
          <tbody>
            {differences.map((difference) => (
              <tr key={difference.field}>
                <th scope="row" className="mono">
                  {difference.field}
                </th>
                <td className="mono">{difference.original ?? 'not there'}</td>
                <td className="mono">{difference.translated ?? 'not there'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className="sample-sides">
        <Side word="Fluentd" place={place} event={original?.event ?? null} />
        <Side word="Vector" place={place} event={translated?.event ?? null} />
      </div>
    </div>
  );
};

const Side = ({
  word,
  place,
  event,
}: {
  word: string;
  place: string;
  event: Record<string, unknown> | null;
}) => (
  <figure className="sample-side">
    <figcaption className="muted">{word}</figcaption>
    {event ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
      <section className="sample-json" tabIndex={0} aria-label={`Event of ${word}, ${place}`}>
        <pre className="mono">{JSON.stringify(sorted(event), null, 2)}</pre>
      </section>
    ) : (
      <p className="muted">No event</p>
    )}
  </figure>
);

/** Both sides in one order, so that the eye finds the difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
