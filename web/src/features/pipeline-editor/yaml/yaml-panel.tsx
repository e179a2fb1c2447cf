/** The engine config of what is drawn, beside it. It can be changed, and applied to the drawing. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api, describeFailure } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { type CodeHandle, CodeInput, type CodeProblem } from '../../../ui/code/code-editor.tsx';
import { InlineError, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { problemsOf } from '../../pipeline/deploy/deploy-checks.tsx';
import { placeNew } from '../canvas/layout.ts';
import { newId, useEditor } from '../editor-context.ts';
import { editorGraph } from '../model/graph.ts';
import type { Rendered } from './rendered-yaml.ts';
import { placeProblems } from './yaml-position.ts';

interface Props {
  rendered: Rendered;
  /** Kept while another panel is shown; null follows the drawing. */
  draft: string | null;
  setDraft: (text: string | null) => void;
}

const inGutter = (problems: readonly { message: string; line?: number; column?: number }[]): CodeProblem[] =>
  problems.map(({ message, line = 1, column = 1 }) => ({ severity: 'error', message, line, column }));

export const YamlPanel = ({ rendered, draft, setDraft }: Props) => {
  const editor = useEditor();
  const { pipelineId, graph, readOnly, change } = editor;
  const handle = useRef<CodeHandle>(null);
  const isEmpty = graph.nodes.length === 0 && Object.keys(graph.globalConfig).length === 0;
  const followed = isEmpty ? '' : (rendered.result?.configYaml ?? '');
  const text = draft ?? followed;

  const apply = useMutation({
    mutationFn: (configYaml: string) =>
      api.pipeline.readYaml.mutate({
        pipelineId,
        configYaml,
        graph: { nodes: [...graph.nodes], edges: [...graph.edges] },
      }),
    onSuccess: (read, sent) => {
      // It was discarded, or goes on being written.
      if (draft !== sent) return;
      const known = new Set(graph.nodes.map(({ id }) => id));
      const next = placeNew(editorGraph(read, newId), known);
      change({ word: 'Apply YAML', change: () => next });
      setDraft(null);
    },
  });
  const refused = useMemo(() => problemsOf(apply.error), [apply.error]);
  const first = refused[0];
  useEffect(() => {
    if (apply.isError && first?.line) handle.current?.show(first.line, first.column ?? 1);
  }, [apply.isError, first]);

  const marks = useMemo(() => {
    if (draft !== null) return inGutter(refused);
    return inGutter(placeProblems(followed, rendered.result?.validationErrors ?? []));
  }, [draft, followed, rendered.result, refused]);

  if (rendered.result === null && draft === null && !isEmpty) {
    return rendered.error ? (
      <InlineError error={rendered.error} />
    ) : (
      <SkeletonBlock height={320} label="Loading the YAML" />
    );
  }
  const begin = (): void => {
    if (draft !== null && draft.trim() !== '') apply.mutate(draft);
  };
  return (
    <div className="yaml-panel">
      <div className="yaml-panel-bar">
        <span className="muted" role="status">
          {draft !== null
            ? 'Edited here, not drawn yet'
            : rendered.pending
              ? 'Follows the drawing…'
              : isEmpty
                ? 'Nothing is drawn: paste an engine config'
                : 'Follows the drawing'}
        </span>
        <span className="page-actions">
          {text !== '' && <CopyText text={text} />}
          {draft !== null && (
            <>
              <Button
                size="small"
                onClick={() => {
                  apply.reset();
                  setDraft(null);
                }}
              >
                Discard
              </Button>
              <Button
                icon="check"
                size="small"
                kind="primary"
                disabled={apply.isPending || draft.trim() === ''}
                onClick={begin}
              >
                {apply.isPending ? 'Applying…' : 'Apply to the drawing'}
              </Button>
            </>
          )}
        </span>
      </div>
      {apply.isError && draft !== null && (
        <div className="inline-error" role="alert">
          <Icon name="warning" size={14} />
          <ul>
            {refused.length === 0 && <li>{describeFailure(apply.error).message}</li>}
            {refused.slice(0, 5).map(({ message, line, column }) => (
              <li key={`${line} ${column} ${message}`}>
                {line !== undefined && (
                  <button
                    type="button"
                    className="link-button mono"
                    onClick={() => handle.current?.show(line, column ?? 1)}
                  >
                    line {line}
                    {column === undefined ? '' : `, column ${column}`}
                  </button>
                )}{' '}
                {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <CodeInput
        label="Engine config as YAML"
        language="yaml"
        value={text}
        readOnly={readOnly}
        onChange={(next) => {
          if (next === text) return;
          apply.reset();
          setDraft(next === followed ? null : next);
        }}
        problems={marks}
        onSubmit={begin}
        handle={handle}
      />
    </div>
  );
};

const CopyText = ({ text }: { text: string }) => {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      icon={copied ? 'check' : 'copy'}
      size="small"
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setCopied(true);
        setTimeout(() => setCopied(false), 1_500);
      }}
    >
      {copied ? 'Copied' : 'Copy'}
    </Button>
  );
};

/** For those who may only look: what a deploy would ship. */
export const YamlOfDeploy = ({ pipelineId }: { pipelineId: string }) => {
  const preview = useQuery(queries.preview(pipelineId));
  return (
    <Loaded
      query={preview}
      what="The YAML"
      skeleton={<SkeletonBlock height={320} label="Loading the YAML" />}
    >
      {({ configYaml }) => (
        <CodeInput
          label="Engine config as YAML"
          language="yaml"
          value={configYaml}
          onChange={() => undefined}
          readOnly
        />
      )}
    </Loaded>
  );
};
