/** A time in which alerts that carry some labels are muted. */
import Type, { type Static } from 'typebox';
import { manifest, PrintableName, Strict } from './common.ts';

/** From now until its end. A rule that is to be quiet for longer is disabled. */
export const SILENCE_MAX_DAYS = 366;

/** RFC 3339 with upper case letters. YAML 1.2 reads it as a text, quoted or not. No leap second: `Date` has none. */
const TIME = '^[12]\\d{3}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})$';
const time = (description: string) =>
  Type.String({
    description: `${description} A time with its offset, such as "2026-12-24T18:00:00Z".`,
    pattern: TIME,
    format: 'date-time',
    maxLength: 40,
  });

/** One line that is not empty. */
const REASON = '^\\s*[^\\s\\p{C}][^\\p{C}]*$';

export const SilenceSpecSchema = Strict('Which alerts are muted, until when, and why.', {
  matchers: Type.Record(
    Type.String({ pattern: '^.{1,128}$' }),
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The value of the label; * at its end stands for any further text.',
    }),
    {
      description:
        'An alert is muted when it carries every one of these labels: those of its node, and rule, metric, node and pipeline.',
      minProperties: 1,
      maxProperties: 16,
      additionalProperties: false,
    },
  ),
  reason: Type.String({
    description: 'Why, on one line of 1 to 500 characters.',
    minLength: 1,
    maxLength: 500,
    pattern: REASON,
  }),
  startsAt: Type.Optional(time('When it begins. Absent: once it is applied.')),
  endsAt: time('When it ends, after startsAt and within 366 days.'),
});

export const SilenceManifest = manifest(
  'Silence',
  'Mutes the alerts that carry some labels, for a time.',
  PrintableName,
  SilenceSpecSchema,
);
export type SilenceSpec = Static<typeof SilenceSpecSchema>;
