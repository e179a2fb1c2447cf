/** The firings of a week on one line; a longer list beside it says the same in words. */
import type { RulePreview } from '../../../../../schemas/api/insight/alerts.ts';
import { barsOf, midnights } from './preview-text.ts';

const WIDTH = 700;
const HEIGHT = 22;
const LEAST_PX = 3;
/** Behind this share of the strip a day has no room for its name. */
const LAST_LABEL = 0.93;

const dayName = (at: number): string => new Date(at).toLocaleDateString('en-GB', { weekday: 'short' });

export const PreviewStrip = ({ preview }: { preview: RulePreview }) => {
  const start = preview.from.getTime();
  const share = (at: number): number => (at - start) / Math.max(1, preview.to.getTime() - start);
  const days = midnights(preview);
  return (
    <div className="preview-strip" aria-hidden="true">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        width="100%"
        height={HEIGHT}
      >
        <rect className="preview-base" x="0" y="0" width={WIDTH} height={HEIGHT} />
        {days.map((at) => (
          <line
            key={at}
            className="preview-day"
            x1={share(at) * WIDTH}
            x2={share(at) * WIDTH}
            y1="0"
            y2={HEIGHT}
          />
        ))}
        {barsOf(preview, WIDTH, LEAST_PX).map(({ x, width }, index) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: two firings may begin in the same minute.
            key={index}
            className="preview-firing"
            x={x}
            y="3"
            width={width}
            height={HEIGHT - 6}
          />
        ))}
      </svg>
      <div className="preview-days">
        {days
          .filter((at) => share(at) < LAST_LABEL)
          .map((at) => (
            <span key={at} style={{ left: `${share(at) * 100}%` }}>
              {dayName(at)}
            </span>
          ))}
      </div>
    </div>
  );
};
