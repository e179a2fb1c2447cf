import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { InlineError } from '../../../ui/primitives/page-states.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useEditor } from '../editor-context.ts';
import { byLevel, levelWord, messageOf, type Problem } from '../model/problems.ts';
import type { Rendered } from '../yaml/rendered-yaml.ts';

const TONES: Record<'passed' | 'failed' | 'skipped', Tone> = {
  passed: 'ok',
  failed: 'failed',
  skipped: 'unknown',
};

interface Props {
  rendered: Rendered & { retry: () => void };
  show: (problem: Problem) => void;
}

export const ProblemList = ({ rendered, show }: Props) => {
  const { graph, problems } = useEditor();
  const known = new Set(graph.nodes.map(({ componentKey }) => componentKey));
  const { result, pending, error } = rendered;
  return (
    <section className="editor-problems" aria-label="Problems" aria-busy={pending}>
      <div className="editor-problems-head">
        <h2 aria-live="polite">
          {pending
            ? 'Checking…'
            : error
              ? 'Not checked'
              : problems.length === 0
                ? 'No problems'
                : plural(problems.length, 'problem')}
        </h2>
        {result && (
          <ul className="levels" aria-label="Levels of validation">
            {result.levels.map(({ level, status, detail }) => (
              <li key={level} className="level" data-tip={detail || undefined}>
                <Badge tone={TONES[status]}>{status}</Badge> {levelWord(level)}
              </li>
            ))}
          </ul>
        )}
      </div>
      {error !== null && (
        <div className="editor-problems-error">
          <InlineError error={error} />
          <Button icon="sync" size="small" onClick={rendered.retry}>
            Check again
          </Button>
        </div>
      )}
      {byLevel(problems).map(({ level, problems: list }) => (
        <ul key={level} className="editor-problem-list" aria-label={levelWord(level)}>
          {list.map((problem) => (
            <li key={`${problem.path} ${problem.line} ${problem.message}`}>
              {problem.componentKey !== undefined && known.has(problem.componentKey) ? (
                <button type="button" className="editor-problem" onClick={() => show(problem)}>
                  <ProblemText problem={problem} />
                </button>
              ) : (
                <span className="editor-problem">
                  <ProblemText problem={problem} />
                </span>
              )}
            </li>
          ))}
        </ul>
      ))}
    </section>
  );
};

const ProblemText = ({ problem }: { problem: Problem }) => {
  const { componentKey, level, line, column } = problem;
  return (
    <>
      <Icon name="warning" size={14} />
      <span className="mono editor-problem-place">
        {componentKey ?? levelWord(level)}
        {line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`}
      </span>
      <span>
        <CodeText text={messageOf(problem)} />
      </span>
    </>
  );
};
