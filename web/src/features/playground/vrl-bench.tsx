/** A program, an event, and what becomes of it: run a moment after each change, on the compiler that the engine has. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useRef } from 'react';
import type { VrlDiagnostic, VrlTestResult } from '../../../../schemas/api/pipelines/engine.ts';
import { api } from '../../api/client.ts';
import type { CodeHandle } from '../../ui/code/code-editor.tsx';
import { CodeField, YamlText } from '../../ui/code/lazy-code.tsx';
import { completePaths } from '../../ui/code/path-completion.ts';
import { type PathOffer, pathsOfEvent } from '../../ui/code/vrl-paths.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { useSettled } from '../../ui/form/debounced-value.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { eventProblem } from './event-problem.ts';

export type Purpose = 'program' | 'condition';

const PURPOSES = [
  { value: 'program', word: 'Program' },
  { value: 'condition', word: 'Condition' },
] as const;

const PAUSE_MS = 600;
const NONE: readonly VrlDiagnostic[] = [];

interface Props {
  source: string;
  setSource: (source: string) => void;
  event: string;
  setEvent: (event: string) => void;
  purpose: Purpose;
  setPurpose: (purpose: Purpose) => void;
  /** Beside the heading of the program: gets a function that writes where the cursor is. */
  tools?: (insert: (text: string) => void) => ReactNode;
  readOnly?: boolean;
}

export const VrlBench = ({
  source,
  setSource,
  event,
  setEvent,
  purpose,
  setPurpose,
  tools,
  readOnly,
}: Props) => {
  const program = useRef<CodeHandle>(null);
  const written = { source, event, purpose };
  const settled = useSettled(JSON.stringify(written), PAUSE_MS);
  const tried: typeof written = JSON.parse(settled);
  const wrongEvent = eventProblem(event);
  const test = useQuery({
    queryKey: ['vrl.test', tried],
    queryFn: () => api.vrl.test.mutate({ source: tried.source, input: tried.event, purpose: tried.purpose }),
    enabled: tried.source.trim() !== '' && eventProblem(tried.event) === null,
    placeholderData: keepPreviousData,
    // Programs and events may hold secrets: they are not kept for longer than they are looked at.
    gcTime: 0,
    retry: false,
  });
  const complete = useMemo(() => completePaths(pathsIn(event)), [event]);
  const isBehind = settled !== JSON.stringify(written) || test.isFetching;
  const result = source.trim() === '' ? undefined : test.data;
  const diagnostics = result?.diagnostics ?? NONE;
  return (
    <div className="bench">
      <section className="bench-part" aria-label="Program">
        <header className="bench-head">
          <h2>{purpose === 'condition' ? 'Condition' : 'Program'}</h2>
          <span className="toolbar">
            <SegmentedControl label="Purpose" value={purpose} options={PURPOSES} onChange={setPurpose} />
            {tools?.((text) => program.current?.insert(text))}
          </span>
        </header>
        <CodeField
          label={purpose === 'condition' ? 'VRL condition' : 'VRL program'}
          language="vrl"
          value={source}
          onChange={setSource}
          problems={diagnostics}
          complete={complete}
          handle={program}
          onSubmit={() => void test.refetch()}
          readOnly={readOnly}
        />
        <Diagnostics diagnostics={diagnostics} show={(line, column) => program.current?.show(line, column)} />
      </section>
      <div className="stack bench-side">
        <section className="bench-part" aria-label="Event">
          <header className="bench-head">
            <h2>Event</h2>
            <span className="muted">one JSON object</span>
          </header>
          <CodeField
            label="Event as JSON"
            language="json"
            value={event}
            onChange={setEvent}
            problems={wrongEvent === null ? undefined : [wrongEvent]}
            onSubmit={() => void test.refetch()}
          />
          {wrongEvent && <p className="bench-note field-problem">{wrongEvent.message}</p>}
        </section>
        <section className="bench-part bench-result" aria-label="Result" aria-busy={isBehind}>
          <header className="bench-head">
            <h2>Result</h2>
            <Verdict result={result} isBehind={isBehind} failed={test.isError} />
          </header>
          {test.isError && !isBehind && <InlineError error={test.error} />}
          {result && <Outcome result={result} />}
          {result && !result.success && result.error === null && (
            <p className="bench-note muted">Mend what the compiler says about the program; then it runs.</p>
          )}
          {!result && !test.isError && (
            <p className="bench-note muted">
              {source.trim() === ''
                ? 'Write a program, for example .level = downcase(string!(.level))'
                : wrongEvent
                  ? 'The event has to be mended first.'
                  : 'Running…'}
            </p>
          )}
        </section>
      </div>
    </div>
  );
};

function pathsIn(event: string): PathOffer[] {
  try {
    return pathsOfEvent(JSON.parse(event));
  } catch {
    return [];
  }
}

interface VerdictProps {
  result: VrlTestResult | undefined;
  isBehind: boolean;
  failed: boolean;
}

const Verdict = ({ result, isBehind, failed }: VerdictProps) => {
  if (isBehind) return <Badge tone="moving">running</Badge>;
  if (failed) return <Badge tone="failed">not run</Badge>;
  if (!result) return null;
  if (!result.success) {
    return <Badge tone="failed">{result.error === null ? 'does not compile' : 'failed'}</Badge>;
  }
  return result.dropped ? <Badge tone="held">event dropped</Badge> : <Badge tone="ok">event leaves</Badge>;
};

const Outcome = ({ result: { output, result, dropReason, error } }: { result: VrlTestResult }) => (
  <>
    {error !== null && (
      <p className="inline-error" role="alert">
        <Icon name="warning" size={14} /> <span>{error}</span>
      </p>
    )}
    {dropReason !== null && (
      <Notice icon="held" tone="held">
        No event leaves: {dropReason}.
      </Notice>
    )}
    {output !== null && (
      <div className="bench-output">
        <h3>The event that leaves</h3>
        <YamlText text={output} label="The event that leaves" />
      </div>
    )}
    {result !== null && (
      <div className="bench-output">
        <h3>The value of the last expression</h3>
        <YamlText text={result} label="The value of the last expression" />
      </div>
    )}
  </>
);

interface DiagnosticsProps {
  diagnostics: readonly VrlDiagnostic[];
  show: (line: number, column: number) => void;
}

const TONE = { error: 'failed', warning: 'held', note: 'moving' } as const;

const Diagnostics = ({ diagnostics, show }: DiagnosticsProps) =>
  diagnostics.length === 0 ? null : (
    <ul className="diagnostics" aria-label="What the compiler says">
      {diagnostics.map(({ severity, code, message, line, column, hint }) => (
        <li key={`${line}:${column} ${message}`} data-tone={TONE[severity]}>
          <button type="button" className="place-link mono" onClick={() => show(line, column)}>
            line {line}:{column}
          </button>
          <span>
            <b>
              {severity}
              {code === null ? '' : ` ${code}`}:
            </b>{' '}
            <CodeText text={message} />
            {hint && (
              <span className="diagnostic-hint">
                <CodeText text={hint} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
