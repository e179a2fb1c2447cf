/** Title and explanation of a recommendation, from what was measured. Pure. */
import type {
  RecommendationFigures,
  RecommendationType,
  RecommendedChange,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { SAMPLE_RATE } from './rules.ts';

export interface Explained {
  type: RecommendationType;
  figures: RecommendationFigures;
  change: RecommendedChange | null;
  savedBytesPerMonth: number | null;
  savedCostPerMonth: number | null;
}

const TITLES: Readonly<Record<RecommendationType, (of: Explained) => string>> = {
  LOW_REDUCTION: ({ figures }) =>
    `Sends ${percent(figures.bytesOut, figures.bytesIn)} of the bytes that come in`,
  HIGH_ERROR_RATE: ({ figures }) =>
    `${percent(figures.errors, figures.eventsIn)} of its events end in errors`,
  STALE_PIPELINE: ({ figures }) => `No events for ${formatDuration(figures.hours)}`,
  HIGH_CARDINALITY: ({ figures }) =>
    `Tags of unlimited values reach the sink ${figures.sink ?? ''}`.trimEnd(),
};

const EXPLANATIONS: Readonly<Record<RecommendationType, (of: Explained) => string[]>> = {
  LOW_REDUCTION: ({ figures, change }) => [
    `In ${formatDuration(figures.hours)}, ${formatBytes(figures.bytesIn)} came in and ${formatBytes(figures.bytesOut)} went out.`,
    ...(figures.sink === null
      ? []
      : [`Its largest sink, ${figures.sink}, sent ${formatBytes(figures.sinkBytes)} of that.`]),
    change
      ? `A sample of 1 in ${SAMPLE_RATE} events in front of it leaves out the others. A filter, or fewer fields, loses less where you know what nobody needs.`
      : 'Filter events or drop fields before the sinks. Metrics, and events that are sampled already, are not sampled by this recommendation.',
  ],
  HIGH_ERROR_RATE: ({ figures }) => [
    `In ${formatDuration(figures.hours)}, ${count(figures.eventsIn)} events came in and ${count(figures.errors)} errors were counted.`,
    'What fails is received and processed, and lost. The saving is that share of the bytes that came in, if such events were dropped at the source or no longer failed.',
    'The errors of each component are on the page of the pipeline.',
  ],
  STALE_PIPELINE: ({ figures }) => [
    `Its nodes reported it all the time, and no event came in for ${formatDuration(figures.hours)}.`,
    'Undeploying it saves the engine on each node, and no bytes. The graph and all versions stay; deploy it again at any time.',
  ],
  HIGH_CARDINALITY: ({ figures }) => [
    `A log_to_metric makes tags of ${figures.fields.length === 1 ? 'the field' : 'the fields'} ${figures.fields.join(', ')}, and nothing limits them before ${figures.sink}.`,
    'Each new value is a series more, which metrics stores charge for. This is read from the graph: how many values a field has is not known here.',
    'tag_cardinality_limit lets 500 values of each tag pass and drops the tag from others.',
  ],
};

export const renderTitle = (of: Explained): string => TITLES[of.type](of);
export const renderExplanation = (of: Explained): string =>
  [...EXPLANATIONS[of.type](of), ...savingOf(of)].join(' ');

function savingOf({ savedBytesPerMonth: bytes, savedCostPerMonth: cost }: Explained): string[] {
  if (bytes === null || bytes <= 0) return [];
  const money = cost === null ? '' : `, ${formatMoney(cost)} at the price of the environment`;
  return [`Estimated saving: ${formatBytes(bytes)} in 30 days${money}.`];
}

/** Title and text of the pull request, in Markdown. */
export function pullRequestTexts(of: Explained, pipelineName: string): { title: string; body: string } {
  const { change, savedBytesPerMonth: bytes } = of;
  const what =
    change?.action === 'insertTransform'
      ? `Put ${change.componentType} before ${change.sink} in the pipeline ${pipelineName}`
      : `Undeploy the pipeline ${pipelineName}`;
  const saves = bytes !== null && bytes > 0 ? ` (saves about ${formatBytes(bytes)} a month)` : '';
  return { title: `${what}${saves}`, body: `**${renderTitle(of)}.** ${renderExplanation(of)}` };
}

const percent = (part: number, whole: number): string =>
  `${whole <= 0 ? 0 : Math.round((100 * part) / whole)} %`;

function formatDuration(hours: number): string {
  const days = Math.round(hours / 24);
  return hours >= 47.5 ? `${days} days` : `${Math.max(1, Math.round(hours))} hours`;
}

const count = (value: number): string => Math.round(value).toLocaleString('en');

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
/** Of 1,000, as the price is per 10^9 bytes. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** step;
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })} ${UNITS[step]}`;
}

/** In the currency of the price, which is not known here. */
const formatMoney = (amount: number): string =>
  amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
