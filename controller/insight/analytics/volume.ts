/** What bytes cost and what was saved. Pure. */
import type { Volume } from '../../../schemas/api/insight/analytics.ts';

export interface Amounts {
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
}

const GB = 1e9;

export const costOf = (bytes: number, pricePerGb: number | null): number | null =>
  pricePerGb === null ? null : (bytes / GB) * pricePerGb;

export function volumeOf(
  { eventsIn, eventsOut, bytesIn, bytesOut }: Amounts,
  pricePerGb: number | null,
): Volume {
  const bytesSaved = Math.max(0, bytesIn - bytesOut);
  return {
    ...{ eventsIn, eventsOut, bytesIn, bytesOut, bytesSaved },
    reductionPercent: bytesIn > 0 ? (100 * bytesSaved) / bytesIn : null,
    cost: costOf(bytesOut, pricePerGb),
    costSaved: costOf(bytesSaved, pricePerGb),
  };
}

/** Of several environments, each with a price of its own; there is a cost where any of them has a price. */
export function sumVolumes(volumes: readonly Volume[]): Volume {
  const sum = (pick: (volume: Volume) => number) => volumes.reduce((total, one) => total + pick(one), 0);
  const price = (pick: (volume: Volume) => number | null) =>
    volumes.some((one) => pick(one) !== null) ? sum((one) => pick(one) ?? 0) : null;
  const [bytesIn, bytesSaved] = [sum((one) => one.bytesIn), sum((one) => one.bytesSaved)];
  return {
    eventsIn: sum((one) => one.eventsIn),
    eventsOut: sum((one) => one.eventsOut),
    ...{ bytesIn, bytesSaved },
    bytesOut: sum((one) => one.bytesOut),
    reductionPercent: bytesIn > 0 ? (100 * bytesSaved) / bytesIn : null,
    cost: price((one) => one.cost),
    costSaved: price((one) => one.costSaved),
  };
}
