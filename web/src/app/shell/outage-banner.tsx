import { type Away, useReach } from '../../api/reachability.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Time } from '../../ui/primitives/time.tsx';

const WORDS: Record<Away, { title: string; means: string; reads?: true }> = {
  controller: {
    title: 'The controller does not answer',
    means: 'Engines and agents run on without it.',
  },
  answer: {
    title: 'The controller takes too long to answer',
    means: 'The controller is busy, or waits for its database. Engines and agents run on without it.',
  },
  database: {
    title: 'The controller cannot reach its database',
    means:
      'Engines run on, and what agents report is kept and written later. Nothing can be changed meanwhile.',
  },
  disk: {
    title: 'The disk of the controller’s database is full',
    means:
      'Free some space in its data directory. Until then pushes and changes may be refused; engines run on, and nothing that was accepted is lost.',
    reads: true,
  },
};

/** Pages keep what they have while nothing answers; this says since when it is old. On a full disk they read on. */
export const OutageBanner = () => {
  const reach = useReach();
  if (reach.kind === 'ok') return null;
  const { title, means, reads } = WORDS[reach.what];
  return (
    <div className="outage">
      <Banner tone="failed" title={title}>
        <p>
          {!reads && (
            <>
              What you see was read <Time at={new Date(reach.since)} />.{' '}
            </>
          )}
          {means} The page catches up by itself; there is no need to reload it.
        </p>
      </Banner>
    </div>
  );
};
