import type { PullRequestSummary } from '../../../../schemas/api/delivery/pull-requests.ts';
import { Icon } from '../../ui/primitives/icons.tsx';
import { FORGE_LABELS } from './promotion-text.ts';

/** Only what a browser may open: the address came from a forge. */
export const safeUrl = (url: string | null): string | null =>
  url !== null && URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol) ? url : null;

/** Where a pull request of a forge is read and merged; nothing for one that is kept here. */
export const ForgeOut = ({
  pull: { forge, url, number },
}: {
  pull: Pick<PullRequestSummary, 'forge' | 'url' | 'number'>;
}) => {
  const href = safeUrl(url);
  if (forge === 'headgate') return <span className="muted">here</span>;
  const word = `${FORGE_LABELS[forge]} #${number}`;
  return href ? (
    <a href={href} target="_blank" rel="noreferrer" className="forge-out">
      {word} <Icon name="leave" size={12} />
      <span className="sr-only">, in another tab</span>
    </a>
  ) : (
    <span>{word}</span>
  );
};
