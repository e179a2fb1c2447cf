/** Cron expressions in words, for those that people commonly write; null for any other. */
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

const two = (text: string): string => text.padStart(2, '0');

export function cronWords(expression: string): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = expression
    .trim()
    .split(/\s+/);
  if (more.length > 0 || month !== '*' || !/^\d{1,2}$/.test(minute)) return null;
  if (hour === '*' && day === '*' && weekday === '*') return `Every hour at minute ${two(minute)}`;
  const [, hours] = /^\*\/(\d{1,2})$/.exec(hour) ?? [];
  if (hours && day === '*' && weekday === '*') return `Every ${hours} hours at minute ${two(minute)}`;
  if (!/^\d{1,2}$/.test(hour)) return null;
  const time = `at ${two(hour)}:${two(minute)} UTC`;
  if (day === '*' && weekday === '*') return `Every day ${time}`;
  if (day === '*' && /^[0-6]$/.test(weekday)) return `Every ${DAYS[Number(weekday)]} ${time}`;
  if (day === '*' && weekday === '1-5') return `Monday to Friday ${time}`;
  if (/^\d{1,2}$/.test(day) && weekday === '*') return `On day ${day} of every month ${time}`;
  return null;
}
