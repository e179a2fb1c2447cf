/** A proposal of the assistant: what it changes, what the checks say, and the button that applies it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { Link } from 'react-router';
import type { ProgramTrial, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Hunks } from '../../ui/code/diff-hunks.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { shortCommit } from '../../ui/text/format.ts';
import { Markdown } from '../../ui/text/markdown.ts';
import { useBecameGit } from '../ownership/git-edits.tsx';
import type { ApplyTarget } from './messages.tsx';

interface Props {
  suggestion: Suggestion;
  apply?: ApplyTarget;
}

export const SuggestionCard = ({ suggestion, apply }: Props) => {
  const { title, reason, summary, problems, warnings, diff, trial, verdict } = suggestion;
  const id = useId();
  return (
    <article className="suggestion" aria-labelledby={id}>
      <div className="suggestion-head">
        <h3 id={id}>{title}</h3>
        <Verdict suggestion={suggestion} />
      </div>
      {reason && <Markdown text={reason} plainLinks />}
      <ul className="suggestion-list" aria-label="What changes">
        {summary.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Findings label="What the checks found" lines={problems} tone="failed" />
      <Findings label="Warnings" lines={warnings} tone="held" />
      {trial && (verdict === 'valid' || trial.eventFrom !== 'none') && <Trial trial={trial} />}
      {diff && (
        <details>
          <summary>Change of the config</summary>
          <Hunks diff={diff} beforeLabel="Config before" afterLabel="Config after" />
        </details>
      )}
      {verdict === 'valid' && <Apply suggestion={suggestion} apply={apply} />}
    </article>
  );
};

const Verdict = ({ suggestion: { verdict, appliedAt, became } }: { suggestion: Suggestion }) => {
  if (became && 'proposed' in became) return <Badge tone="moving">Proposed</Badge>;
  if (appliedAt) return <Badge tone="ok">{became ? 'Committed' : 'Applied'}</Badge>;
  return verdict === 'valid' ? (
    <Badge tone="ok">Passes the checks</Badge>
  ) : (
    <Badge tone="failed">Fails the checks</Badge>
  );
};

const Findings = ({
  label,
  lines,
  tone,
}: {
  label: string;
  lines: readonly string[];
  tone: 'failed' | 'held';
}) =>
  lines.length === 0 ? null : (
    <ul className="suggestion-list tone-text" data-tone={tone} aria-label={label}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );

const EVENT_FROM = {
  sample: 'the last sample of what comes in',
  given: 'your event',
} as const;

const Trial = ({
  trial: { event, eventFrom, success, output, dropped, error, diagnostics },
}: {
  trial: ProgramTrial;
}) =>
  eventFrom === 'none' ? (
    <p className="muted">Not run: there is no sample of what comes in yet</p>
  ) : (
    <details>
      <summary>
        {success ? 'It runs' : 'It does not run'} on {EVENT_FROM[eventFrom]}
        {dropped && ', and drops it'}
      </summary>
      {event && <Json label="Event" text={event} />}
      {output && <Json label="Result" text={output} />}
      {[...(error ? [error] : []), ...diagnostics].map((line) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it.
        <pre key={line} className="mono" tabIndex={0}>
          {line}
        </pre>
      ))}
    </details>
  );

const Json = ({ label, text }: { label: string; text: string }) => (
  <figure className="suggestion-json">
    <figcaption className="muted">{label}</figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it. */}
    <pre className="mono" tabIndex={0}>
      {text}
    </pre>
  </figure>
);

/** Where git describes the pipeline. */
const Became = ({ became }: Pick<Suggestion, 'became'>) => {
  const { environment } = usePlace();
  if (became === null) return null;
  if ('proposed' in became) {
    const { number } = became.proposed;
    return <Link to={paths.pullRequest(environment.id, number)}>Proposed in #{number}</Link>;
  }
  const commit = shortCommit(became.committed.sha);
  return <Link to={paths.git(environment.id, { tab: 'passes', commit })}>Committed as {commit}</Link>;
};

/** Nothing is applied by itself: the user's click runs the same operation as saving, with the user's rights. */
const Apply = ({ suggestion, apply }: Props) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const becameGit = useBecameGit();
  const here = apply?.pipeline.applyHere?.(suggestion.changes) ?? null;
  const mutation = useMutation({
    mutationFn: async ({ conversationId, messageId, pipeline, topic }: ApplyTarget) => {
      const input = { pipelineId: pipeline.id, conversationId, messageId, suggestionIds: [suggestion.id] };
      if (here) {
        here();
        const mark = topic.kind === 'vrl' ? api.ai.markVrlSuggestionsApplied : api.ai.markSuggestionsApplied;
        await mark.mutate(input);
        notify('It is in the drawing now. Save it to keep it.');
        return;
      }
      if (!becameGit(await api.ai.applySuggestions.mutate(input)))
        notify('Applied and saved. It is not deployed yet.');
    },
    onSettled: (_output, _error, { pipeline }) =>
      Promise.all(
        [
          ['ai.conversation', pipeline.id],
          ['pipeline.get', pipeline.id],
          ['deploy.preview', pipeline.id],
        ].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
      ),
  });
  if (suggestion.appliedAt) return <Became became={suggestion.became} />;
  const blocked =
    whyNot(team.role, 'EDITOR') ??
    (apply === undefined
      ? 'Wait for the end of the answer.'
      : here
        ? null
        : (apply.pipeline.blocked ?? null));
  return (
    <>
      {mutation.isError && <InlineError error={mutation.error} />}
      <Button
        kind="primary"
        size="small"
        icon="check"
        disabled={blocked !== null || mutation.isPending}
        tip={blocked ?? undefined}
        onClick={() => apply && mutation.mutate(apply)}
      >
        {mutation.isPending ? 'Applying…' : 'Apply'}
        <span className="sr-only"> {suggestion.title}</span>
      </Button>
    </>
  );
};
