import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { WEBHOOKS } from './forge-draft.ts';

/** Where the git server or the forge calls, and what to tick there. */
export const Webhook = ({ url, forge }: { url: string } & Pick<GitSyncStatus, 'forge'>) => {
  const setUp = forge && forge.name !== 'none' ? WEBHOOKS[forge.name] : null;
  return (
    <Section title="Webhook">
      <div className="section-body stack">
        {setUp ? (
          <p>
            Under {setUp.where}, give this address, and what it tells of is looked at within a second. Without
            a webhook the forge is asked in intervals.
          </p>
        ) : (
          <p>
            Let the git server send its push events here, and they are looked at within a second. What they
            say is not read: they only wake the loop, so they need no secret.
          </p>
        )}
        <CommandBlock label="the webhook’s address" lines={[url]} />
        {setUp && (
          <>
            <div>
              <p>Events to tick:</p>
              <ul className="plain-list" aria-label="Events of the webhook">
                {setUp.events.map((event) => (
                  <li key={event}>{event}</li>
                ))}
              </ul>
            </div>
            {setUp.more && <p className="muted">{setUp.more}</p>}
            <p className="muted">
              {forge?.hasWebhookSecret
                ? `The field “${setUp.secretField}” takes the secret that is set above: calls without it are turned away.`
                : `No secret is set above: leave the field “${setUp.secretField}” empty.`}
            </p>
          </>
        )}
      </div>
    </Section>
  );
};
