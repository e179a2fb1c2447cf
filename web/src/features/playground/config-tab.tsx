import { Checkbox } from '@mantine/core';
import { useRef, useState } from 'react';
import { readDraft, writeDraft } from '../../app/draft-storage.ts';
import { usePlace } from '../../app/scope.tsx';
import type { CodeHandle } from '../../ui/code/code-editor.tsx';
import { CodeField } from '../../ui/code/lazy-code.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { ConfigProblems, useConfigCheck } from '../engine-reports/config-check.tsx';

const FIRST = `sources:
  demo:
    type: demo_logs
    format: json
    interval: 1
transforms:
  tidy:
    type: remap
    inputs: [demo]
    source: |
      . = object!(parse_json!(.message))
sinks:
  out:
    type: console
    inputs: [tidy]
    encoding:
      codec: json
`;

/** An engine config by itself: structure, references, VRL, and the engine's own word. */
export const ConfigTab = () => {
  const { environment } = usePlace();
  const [text, setText] = useState(() => readDraft('config') ?? FIRST);
  const [ours, setOurs] = useState(true);
  const editor = useRef<CodeHandle>(null);
  const check = useConfigCheck(text, ours ? environment.id : undefined);
  const isValid = check.levels.length > 0 && check.errors.length === 0;
  return (
    <div className="bench bench-single">
      <section className="bench-part" aria-label="Engine config">
        <header className="bench-head">
          <h2>Engine config</h2>
          <span className="toolbar">
            <Checkbox
              checked={ours}
              onChange={(event) => setOurs(event.target.checked)}
              label={<>Check its secrets against {environment.name}</>}
            />
            {check.isBehind ? (
              <Badge tone="moving">checking</Badge>
            ) : isValid ? (
              <Badge tone="ok">sound</Badge>
            ) : check.errors.length > 0 ? (
              <Badge tone="failed">
                {check.errors.length === 1 ? '1 problem' : `${check.errors.length} problems`}
              </Badge>
            ) : null}
          </span>
        </header>
        <CodeField
          label="Engine config in YAML"
          language="yaml"
          value={text}
          onChange={(value) => {
            setText(value);
            writeDraft('config', value);
          }}
          problems={check.errors.map(({ message, line = 1, column = 1 }) => ({
            severity: 'error',
            message,
            line,
            column,
          }))}
          handle={editor}
        />
        <div className="bench-note">
          <ConfigProblems check={check} show={(line, column) => editor.current?.show(line, column)} />
        </div>
      </section>
    </div>
  );
};
