/** What a colour stands for; an icon and a word always go with it. */
export type Tone = 'ok' | 'calm' | 'moving' | 'held' | 'failed' | 'unknown';
