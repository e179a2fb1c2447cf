import { TRPCClientError } from '@trpc/client';
import { Link } from 'react-router';
import type { DeployPreview } from '../../../../../schemas/api/pipelines/deployments.ts';
import type { ValidationError } from '../../../../../schemas/api/pipelines/validation.ts';
import { paths } from '../../../app/paths.ts';
import { LevelList } from '../../../ui/feedback/level-list.tsx';
import { WarningList } from '../../../ui/feedback/warning-list.tsx';
import { CodeText } from '../../../ui/text/code-text.tsx';

/** What the server found when it was asked to do it; empty for any other error. */
export function problemsOf(error: unknown): ValidationError[] {
  if (!(error instanceof TRPCClientError)) return [];
  const data: unknown = error.data;
  if (typeof data !== 'object' || data === null) return [];
  const list: unknown = Reflect.get(data, 'validationErrors');
  return Array.isArray(list) ? list.filter(isProblem) : [];
}

const isProblem = (value: unknown): value is ValidationError =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'message') === 'string';

/** `parse, source, line 3:14`: the component, the option, and the place in its text. */
export function placeOf({ componentKey, path, line, column }: ValidationError): string {
  const option = path?.split('/').slice(3).join('.');
  const place = line === undefined ? '' : `line ${line}${column === undefined ? '' : `:${column}`}`;
  return [componentKey, option, place].filter(Boolean).join(', ') || 'config';
}

interface Props {
  env: string;
  pipelineId: string;
  levels: DeployPreview['levels'];
  errors: readonly ValidationError[];
  warnings: readonly ValidationError[];
}

/** The levels of checking, and every error with a link to its component. */
export const DeployChecks = ({ env, pipelineId, levels, errors, warnings }: Props) => (
  <section className="deploy-part" aria-label="Checks">
    <LevelList levels={levels} />
    <ProblemList env={env} pipelineId={pipelineId} errors={errors} />
    <WarningList warnings={warnings} />
  </section>
);

export const ProblemList = ({ env, pipelineId, errors }: Omit<Props, 'levels' | 'warnings'>) =>
  errors.length === 0 ? null : (
    <ul className="problems" aria-label="Validation errors">
      {errors.map((problem) => (
        <li key={`${problem.componentKey} ${problem.path} ${problem.line} ${problem.message}`}>
          {problem.componentKey ? (
            <Link
              to={paths.pipelineEditor(env, pipelineId, { component: problem.componentKey })}
              className="mono notice-link"
            >
              {placeOf(problem)}
            </Link>
          ) : (
            <span className="mono">{placeOf(problem)}</span>
          )}
          <span>
            <CodeText text={problem.message} />
          </span>
        </li>
      ))}
    </ul>
  );
