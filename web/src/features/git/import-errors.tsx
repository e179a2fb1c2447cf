import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { queries } from '../../api/queries/index.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit, Copyable } from '../../ui/primitives/copyable.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { sentence } from '../../ui/text/format.ts';
import { forgeLink } from './forge-link.ts';

/** What git holds and Headgate refused: where, why, and what to do. Nothing is shown when all is well. */
export const ImportErrors = ({ status }: { status: GitSyncStatus }) => {
  const [params] = useSearchParams();
  const focus = params.get('focus');
  const focused = useRef<HTMLLIElement>(null);
  const errors = useQuery(queries.importErrors(status.environmentId));
  const list = errors.data ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row exists once the list has come.
  useEffect(() => {
    focused.current?.scrollIntoView({ block: 'center' });
  }, [focus, list.length]);
  if (list.length === 0) return null;
  return (
    <Section title={`Import errors · ${list.length}`}>
      <ul id="import-errors" className="errors" aria-label="Import errors">
        {list.map((error) => {
          const place = [error.path, error.line, error.column].filter((part) => part !== null).join(':');
          const inFocus = error.path === focus;
          const at = { sha: error.commit, path: error.path, line: error.line ?? 1 };
          const href = forgeLink(status.repositoryUrl, at);
          return (
            <li key={error.id} ref={inFocus ? focused : undefined} data-focus={inFocus || undefined}>
              <span className="error-place">
                <Copyable value={place} label="place" />
                {href && (
                  <a href={href} target="_blank" rel="noreferrer">
                    open
                    <span className="sr-only"> {place} on the git server</span>
                  </a>
                )}
                <Badge tone="failed">{error.stage}</Badge>
                {error.kind && (
                  <span className="muted">
                    {error.kind} {error.name}
                  </span>
                )}
                <span className="muted">
                  in <Commit sha={error.commit} /> · <Time at={error.createdAt} />
                </span>
              </span>
              <span className="error-message">
                <CodeText text={error.message} />
              </span>
              <span className="muted">
                <CodeText text={sentence(error.hint)} /> What was applied before keeps running.
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
};
