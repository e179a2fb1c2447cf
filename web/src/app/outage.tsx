import { type Away, useReach } from '../api/reach.ts';
import { Banner } from '../components/banner.tsx';
import { Time } from '../components/bits.tsx';

const WORDS: Record<Away, { title: string; means: string }> = {
  controller: {
    title: 'The controller does not answer',
    means: 'Engines and agents run on without it.',
  },
  answer: {
    title: 'The controller takes too long to answer',
    means: 'It is busy, or waits for its database. Engines and agents run on without it.',
  },
  database: {
    title: 'The controller cannot reach its database',
    means:
      'Engines run on, and what agents report is kept and written later. Nothing can be changed meanwhile.',
  },
};

/** Pages keep what they have while nothing answers; this says since when it is old. */
export const OutageBanner = () => {
  const reach = useReach();
  if (reach.kind === 'ok') return null;
  const { title, means } = WORDS[reach.what];
  return (
    <div className="outage">
      <Banner tone="failed" title={title}>
        <p>
          What you see was read <Time at={new Date(reach.since)} />. {means} The page catches up by itself;
          there is no need to reload it.
        </p>
      </Banner>
    </div>
  );
};
