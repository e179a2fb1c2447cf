/** Line icons on a 16-unit grid. They are always beside a word or inside something labelled. */
const SHAPES = {
  overview: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z',
  pipelines: 'M1.5 4.5h3m7 0h3M1.5 11.5h3m7 0h3M4.5 3h3v3h-3zM8.5 10h3v3h-3zM7.5 4.5h4M4.5 11.5h4',
  library: 'M3 2.5h3v11H3zM6 2.5h3v11H6zM9.5 3.25l2.9-.75 2.6 10.5-2.9.75z',
  playground: 'M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10h2.5',
  fleet: 'M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.75h.01M5 11.25h.01M7.5 4.75h3M7.5 11.25h3',
  git: 'M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 7c0 2.5-3.5 2.5-7 3.5',
  promotions:
    'M4 5.5v5M4 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 10.5V6.5a2 2 0 0 0-2-2H7.5M9.5 2.5l-2 2 2 2',
  alerts:
    'M8 2.25a3.75 3.75 0 0 1 3.75 3.75c0 3 .9 4.2 1.75 5h-11c.85-.8 1.75-2 1.75-5A3.75 3.75 0 0 1 8 2.25zM6.75 13.25a1.4 1.4 0 0 0 2.5 0',
  secrets: 'M5.5 10.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.5 7.5h6M12 7.5v2.5M14.5 7.5v1.5',
  metrics: 'M2.5 2.5v11h11M5 10.5l2.5-3.5 2 2 3.5-4.5',
  audit: 'M4 2h8v12H4zM6 5h4M6 8h4M6 11h2',
  settings:
    'M8 10.25a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5zM8 1.75v2M8 12.25v2M1.75 8h2M12.25 8h2M3.6 3.6l1.4 1.4M11 11l1.4 1.4M3.6 12.4l1.4-1.4M11 5l1.4-1.4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  filter: 'M2 3.5h12L9.5 9v4l-3 1V9z',
  check: 'M3 8.5 6.5 12 13 4.5',
  moving: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  held: 'M5.5 3.5v9M10.5 3.5v9',
  cross: 'M4 4l8 8M12 4l-8 8',
  question: 'M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .8-1 1.7M8 12.75h.01',
  dash: 'M3.5 8h9',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.9h.01',
  chevronDown: 'M4 6l4 4 4-4',
  chevronLeft: 'M10 3.5 5.5 8 10 12.5',
  chevronRight: 'M6 3.5 10.5 8 6 12.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  sync: 'M13.5 8a5.5 5.5 0 0 1-10 3.2M2.5 8a5.5 5.5 0 0 1 10-3.2M12.5 2v3h-3M3.5 14v-3h3',
  user: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.75 13.5c.5-2.5 2.5-3.75 5.25-3.75s4.75 1.25 5.25 3.75',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  screen: 'M2 3h12v8H2zM6 13.5h4',
  more: 'M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z',
  deploy: 'M8 10.5V2.5M4.75 5.5 8 2.25 11.25 5.5M2.5 9.5v4h11v-4',
  download: 'M8 2.25v8M4.75 7.25 8 10.5l3.25-3.25M2.5 10v3.5h11V10',
  stop: 'M4 4h8v8H4z',
  undo: 'M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 8H7',
  redo: 'M10 3l3.5 3.5L10 10M13.5 6.5h-7a4 4 0 0 0 0 8H9',
  arrange: 'M2 3h4v3H2zM2 10h4v3H2zM10 6.5h4v3h-4zM6 4.5h2v7H6M8 8h2',
  fit: 'M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3',
  folder: 'M2 4h4.5l1.5 2h6v7H2z',
  link: 'M6.5 9.5l3-3M7 4.5l1-1a3.2 3.2 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3.2 3.2 0 0 1 3.5 8l1-1',
  plus: 'M8 3v10M3 8h10',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  pencil: 'M3 13l.7-2.7L11 3l2 2-7.3 7.3z',
  leave: 'M6.5 2.5h-4v11h4M6.5 8h7M11 5.5 13.5 8 11 10.5',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.01M6.5 6.5h.01M9 6.5h.01M11.5 6.5h.01M5 9.5h6',
  source: 'M2.5 8h7M6.5 5l3 3-3 3M12.5 3v10',
  transform: 'M2.5 5h11l-3-2.5M13.5 11h-11l3 2.5',
  sink: 'M6.5 8h7M10.5 5l3 3-3 3M3.5 3v10',
  /** A star, as assistants are marked everywhere. */
  assistant: 'M7 2.5 8.6 6.4 12.5 8 8.6 9.6 7 13.5 5.4 9.6 1.5 8l3.9-1.6zM13 1.5v3M11.5 3h3',
  shield: 'M8 1.75 13 3.5v4c0 3.25-2 5.5-5 6.75-3-1.25-5-3.5-5-6.75v-4z',
} as const;

export type IconName = keyof typeof SHAPES;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={SHAPES[name]} />
  </svg>
);

/** The mark: a gate between two posts, with water under it. */
export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="7" fill="#1d6fb8" />
    <path d="M7 7v18M25 7v18" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    <path d="M12 9h8v6h-8z" fill="#fff" />
    <path
      d="M10.5 20c1.4-1.4 2.8-1.4 4.2 0s2.8 1.4 4.2 0 2-1.2 2.8-.7"
      fill="none"
      stroke="#fff"
      strokeWidth="2.2"
      strokeLinecap="round"
    />
  </svg>
);
