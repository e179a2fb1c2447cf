import { Link } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { paths } from '../../app/paths.ts';
import { shortCommit } from '../../ui/text/format.ts';
import { forgeLink } from './forge-link.ts';

interface Props {
  status: Pick<GitSyncStatus, 'environmentId' | 'repositoryUrl'>;
  path: string;
  line: number;
  /** At which the line stands there; null before any was read. */
  commit: string | null;
  className?: string;
}

/** A file and line of a commit: on the git server where its address is known, else the pass that read it. */
export const PlaceLink = ({ status, path, line, commit, className = '' }: Props) => {
  const place = `${path}:${line}`;
  if (!commit) return <span className={`mono ${className}`}>{place}</span>;
  const href = forgeLink(status.repositoryUrl, { sha: commit, path, line });
  const tip = `${place} at ${shortCommit(commit)}`;
  return href ? (
    <a href={href} target="_blank" rel="noreferrer" className={`mono ${className}`} data-tip={tip}>
      {place}
    </a>
  ) : (
    <Link
      to={paths.git(status.environmentId, { tab: 'passes', commit: shortCommit(commit) })}
      className={`mono ${className}`}
      data-tip={`${tip}: the pass that read it`}
    >
      {place}
    </Link>
  );
};
