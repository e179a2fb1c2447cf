import type { ValidationError } from '../../../../schemas/api/pipelines/validation.ts';
import { Badge } from '../primitives/badge.tsx';
import { CodeText } from '../text/code-text.tsx';

/** What the checks of a config found that keeps nobody from deploying it. */
export const WarningList = ({ warnings }: { warnings: readonly ValidationError[] }) =>
  warnings.length === 0 ? null : (
    <ul className="problems" aria-label="Warnings">
      {warnings.map((warning) => (
        <li key={`${warning.path} ${warning.message}`} data-tone="held">
          <Badge tone="held">warning</Badge>
          <span>
            <CodeText text={warning.message} />
          </span>
        </li>
      ))}
    </ul>
  );
