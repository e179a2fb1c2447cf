import { SkeletonBlock } from '../../ui/feedback/page-states.tsx';

/** In the places of the charts, so that nothing moves when they come. */
export const ChartsSkeleton = ({ charts }: { charts: number }) => (
  <div className="charts">
    {Array.from({ length: charts }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the blocks have no identity.
      <SkeletonBlock key={index} height={208} label="Loading a chart" />
    ))}
  </div>
);
